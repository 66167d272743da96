"""Pillow's resizing as two matrices, one for each axis: what a device multiplies with gives the pixels that Pillow gives.

Pillow resizes rows, rounds to 8 bits, then resizes columns and rounds again; its weights have 22 bits behind the point.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import floor

import numpy as np

from portrayal.systems.encoders.images.pictures import Preparation, window

BITS = 22


def cutting_matrices(size: tuple[int, int], preparation: Preparation) -> tuple[np.ndarray, np.ndarray]:
    """Return the weights of the columns and of the rows that are cut out of a picture.

    Returns
    -------
    tuple
        Weights of columns (side x width) and of rows (side x height), float32; a line that is filled with black has none.
    """
    wide, tall = zip(size, preparation.target(size), strict=True)
    side, resample, crop = preparation.side, preparation.resample, preparation.crop
    return _cut(*wide, side, resample, crop), _cut(*tall, side, resample, crop)


@lru_cache(maxsize=256)
def _cut(length: int, target: int, side: int, resample: str, crop: str) -> np.ndarray:
    """Return the weights of the lines that stay after the cut."""
    before, start = window(target, side, crop)
    lines = np.zeros((max(target, side), length), np.float32)
    lines[before : before + target] = resizing_weights(length, target, resample)
    return lines[start : start + side]


def resizing_weights(length: int, target: int, resample: str) -> np.ndarray:
    """Return Pillow's weights of one axis (target x length), rounded as it rounds them."""
    reach, curve = FILTERS[resample]
    scale = length / target
    wide = max(scale, 1.0)
    weights = np.zeros((target, length))
    for line in range(target):
        centre = (line + 0.5) * scale
        first = max(0, floor(centre - reach * wide + 0.5))
        last = min(length, floor(centre + reach * wide + 0.5))
        found = curve(np.abs((np.arange(first, last) - centre + 0.5) / wide))
        weights[line, first:last] = found / found.sum()
    whole = weights * 2**BITS
    return np.trunc(whole + np.copysign(0.5, whole)) / 2**BITS


def _bilinear(x: np.ndarray) -> np.ndarray:
    return np.clip(1 - x, 0, None)


def _bicubic(x: np.ndarray, a: float = -0.5) -> np.ndarray:
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = (((x - 5) * x + 8) * x - 4) * a
    return np.where(x < 1, near, np.where(x < 2, far, 0.0))


def _lanczos(x: np.ndarray) -> np.ndarray:
    return np.where(x < 3, np.sinc(x) * np.sinc(x / 3), 0.0)


# How far each reaches, in pixels of the smaller picture, and its curve over the distance.
FILTERS: dict[str, tuple[float, Callable[[np.ndarray], np.ndarray]]] = {
    "bilinear": (1.0, _bilinear),
    "bicubic": (2.0, _bicubic),
    "lanczos": (3.0, _lanczos),
}
