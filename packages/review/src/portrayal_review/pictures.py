"""Pictures for the browser: only those that systems were shown, without metadata.

A run from somebody else may name any file of this machine as one of its pictures. So only a file whose SHA-256 is the one the
run recorded is shown: who does not have the file cannot name its hash.
"""

from __future__ import annotations

import hashlib
import io
from functools import lru_cache
from pathlib import Path

from portrayal.edges.sizes import LARGEST_PICTURE
from portrayal.errors import PortrayalError
from portrayal.pictures.images import open_image
from portrayal.study.questions import is_picture_of

ABSENT = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 320 120" width="320" height="120"><rect width="320" height="120" fill="#e8e8e8"/>'
    '<g fill="#333" font-family="sans-serif" font-size="14" text-anchor="middle"><text x="160" y="56">The file that was shown is not</text>'
    '<text x="160" y="76">here any more, or is another one now.</text></g></svg>'
)
SIDES = {"small": 320, "large": 1100}  # pixels of the longer side
QUALITY = 88


def picture_key(stimulus: str) -> str:
    """Return the name of a stimulus in an address, which reveals nothing."""
    return hashlib.sha256(stimulus.encode()).hexdigest()[:24]


@lru_cache(maxsize=1024)
def shown_picture(path: str, stimulus: str, known: str, size: str) -> bytes | None:
    """Return a picture as JPEG; None where the file is missing or another."""
    file = Path(path)
    try:
        if not file.is_absolute() or not file.is_file() or file.stat().st_size > LARGEST_PICTURE:
            return None
        if not is_picture_of(file.read_bytes(), stimulus, known):
            return None
        picture = open_image(file).image
    except (OSError, ValueError, PortrayalError):
        return None
    picture.thumbnail((SIDES[size], SIDES[size]))
    flat = picture.convert("RGBA")
    from PIL import Image

    ground = Image.new("RGBA", flat.size, "white")
    ground.alpha_composite(flat)
    written = io.BytesIO()
    ground.convert("RGB").save(written, "JPEG", quality=QUALITY)
    return written.getvalue()
