"""Pictures as a folder of series stores them: what is judged of a picture is judged of the file that others open."""

from __future__ import annotations

import io

import numpy as np

QUALITY = 90


def webp(picture: np.ndarray) -> bytes:
    """Encode a picture as those of a folder are."""
    from PIL import Image

    kept = io.BytesIO()
    Image.fromarray(picture).save(kept, "WEBP", quality=QUALITY, method=4)
    return kept.getvalue()


def as_stored(pictures: np.ndarray) -> np.ndarray:
    """Return pictures as they are seen once they were encoded, n x side x side x 3."""
    from PIL import Image

    return np.stack([np.asarray(Image.open(io.BytesIO(webp(one))).convert("RGB")) for one in pictures])
