"""Pictures of any kind, opened as 8-bit RGB or RGBA or refused with a reason."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from portrayal.edges.parts.table import part_folder
from portrayal.edges.sizes import LARGEST_PICTURE, MOST_PIXELS, check_pixels, check_size
from portrayal.errors import PortrayalError

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

NEUTRAL_GROUND = (200, 200, 200)  # grey, as of a studio: nothing is said by it


class UnreadableImage(PortrayalError):
    """A picture that cannot be used, named with its reason."""


@dataclass(frozen=True)
class Opened:
    """A picture in memory, and what had to be done to it."""

    image: Picture  # mode RGB, or RGBA where the file has transparency
    notes: tuple[str, ...] = ()


def cache_folder(stem: str) -> Path:
    """Return where an audit's made pictures go when its study names no folder."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "portrayal" / stem


def generated_people() -> Iterator[tuple[str, Path, dict[str, str]]]:
    """Yield id, folder of pictures and labels of the ten generated adults of `openpeople`."""
    curated = part_folder("openpeople", "generated people") / "data" / "curated"
    for folder in sorted(curated.iterdir()):
        if (folder / "metadata.json").exists():
            words = json.loads((folder / "metadata.json").read_text(encoding="utf-8"))
            yield folder.name, folder / "assets", words["character_details"]["demographics"]


def open_image(path: Path | str, most_pixels: int = MOST_PIXELS) -> Opened:
    """Read a picture: turned upright as its EXIF says, first frame, 8-bit RGB or RGBA."""
    from PIL import Image, ImageOps

    path = Path(path)
    if not path.is_file():
        raise UnreadableImage(f"no picture at {path}. Check the path.")
    if path.stat().st_size > LARGEST_PICTURE:
        raise UnreadableImage(f"{path.name} has {path.stat().st_size:,} bytes. At most {LARGEST_PICTURE:,} are read.")
    if path.stat().st_size == 0:
        raise UnreadableImage(f"{path.name} is empty (0 bytes). Copy it again.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(path) as file:
                if file.size[0] * file.size[1] > most_pixels:
                    raise UnreadableImage(
                        f"{path.name} has {file.size[0]} x {file.size[1]} pixels. Scale it below {most_pixels:,} pixels in all."
                    )
                notes = _notes(file)
                file.load()
                upright = ImageOps.exif_transpose(file)
                return Opened(to_eight_bits(upright if upright is not None else file.copy()), notes)
    except UnreadableImage:
        raise
    except Image.DecompressionBombError:
        raise UnreadableImage(f"{path.name} is enormous. Scale it below {most_pixels:,} pixels.") from None
    except Exception as error:  # what Pillow raises depends on the format and on where the file breaks off
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UnreadableImage(f"{path.name} cannot be read as a picture: {reason}.") from None


def open_shrunk(path: Path, size: int) -> Any:
    """Open a picture and shrink it to the size of the study."""
    from PIL import Image, ImageOps

    check_size(path, LARGEST_PICTURE)
    with Image.open(path) as opened:
        check_pixels(opened)
        picture = ImageOps.exif_transpose(opened).convert("RGB")
    scale = size / max(picture.size)
    if scale >= 1:
        return picture
    return picture.resize([max(1, round(side * scale)) for side in picture.size], Image.Resampling.LANCZOS)


def open_or_none(path: Path, size: int) -> Any | None:
    """Return a picture as `open_shrunk` does; None for an unreadable file."""
    # What PIL raises depends on the format and on where the file breaks off.
    try:
        return open_shrunk(path, size)
    except Exception:
        return None


@cache
def is_readable(path: Path, _changed: int) -> bool:
    """Return whether a file is a whole picture of readable size, cached until it changes."""
    from PIL import Image

    try:
        check_size(path, LARGEST_PICTURE)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(path) as file:
                check_pixels(file)
                file.draft("RGB", (64, 64))  # of a JPEG: as whole as it is, and a few times faster
                # Checksums of a PNG and lengths in a WebP tell what breaks off; of the others only their pixels do.
                look: Callable[[], object] = file.verify if file.format in ("PNG", "WEBP") else file.load
                look()
        return True
    except Exception:  # what Pillow raises depends on the format and on where the file breaks off
        return False


def on_neutral(image: Picture) -> Picture:
    """Return an RGB picture; what is transparent shows the neutral ground, not black."""
    from PIL import Image

    eight = to_eight_bits(image)
    if eight.mode == "RGB":
        return eight
    ground = Image.new("RGBA", eight.size, (*NEUTRAL_GROUND, 255))
    return Image.alpha_composite(ground, eight).convert("RGB")


def to_eight_bits(image: Picture) -> Picture:
    """Return an RGB or RGBA copy; 16-bit and floating-point greys are scaled, not cut off."""
    from PIL import Image

    if image.mode.startswith("I") or image.mode == "F":
        import numpy as np

        values = np.asarray(image, dtype=float)
        scale = 257.0 if values.max(initial=0) > 255 else 1.0
        return Image.fromarray(np.clip(values / scale, 0, 255).astype("uint8")).convert("RGB")
    transparent = image.mode in ("RGBA", "LA", "PA", "La", "RGBa") or "transparency" in image.info
    return image.convert("RGBA" if transparent else "RGB")


def _notes(file: Picture) -> tuple[str, ...]:
    notes = {
        "animated: first frame used": getattr(file, "n_frames", 1) > 1,
        "CMYK: converted to RGB": file.mode == "CMYK",
        "more than 8 bits: scaled to 8": file.mode.startswith("I") or file.mode == "F",
        "turned upright as its EXIF says": file.getexif().get(0x0112, 1) not in (None, 1),
    }
    return tuple(note for note, holds in notes.items() if holds)
