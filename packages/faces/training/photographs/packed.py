"""Packed photographs opened again, where they are trained on; `adults.py` packs them."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np

SIDE = 256


def read_pack(path: Path) -> np.ndarray:
    """Return packed faces as uint8, n x 3 x SIDE x SIDE."""
    from PIL import Image

    with np.load(path) as arrays:
        data, ends = arrays["data"].tobytes(), arrays["ends"].tolist()
    pictures = [
        Image.open(io.BytesIO(data[start:end])).convert("RGB").resize((SIDE, SIDE), Image.Resampling.BICUBIC)
        for start, end in zip([0, *ends[:-1]], ends, strict=True)
    ]
    return np.stack([np.asarray(one) for one in pictures]).transpose(0, 3, 1, 2)
