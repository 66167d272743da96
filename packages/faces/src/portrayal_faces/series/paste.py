"""Pasting of an edit into its picture, which outside the mask stays bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np

from portrayal.pictures.faces import Similarity


def paste(picture: Any, edit: np.ndarray, mask: np.ndarray, similarity: Similarity) -> Any:
    """Add a masked edit to a picture.

    Returns
    -------
    PIL.Image.Image
        A new picture, the same wherever `changed_region` is false.
    """
    from PIL import Image

    pixels = np.array(picture.convert("RGB"))
    left, top, right, bottom = _window(similarity, mask.shape[0], picture.size)
    if right <= left or bottom <= top:
        return Image.fromarray(pixels)
    added = _back(edit * mask[:, :, None], similarity, (left, top, right, bottom))
    inside = _back(mask[:, :, None], similarity, (left, top, right, bottom)) > 0
    window = pixels[top:bottom, left:right]
    new = np.clip(np.rint(window + added), 0, 255).astype(np.uint8)
    pixels[top:bottom, left:right] = np.where(inside, new, window)
    return Image.fromarray(pixels)


def changed_region(size: tuple[int, int], mask: np.ndarray, similarity: Similarity) -> np.ndarray:
    """Return where a picture (width, height) may change: a boolean array."""
    region = np.zeros((size[1], size[0]), dtype=bool)
    left, top, right, bottom = _window(similarity, mask.shape[0], size)
    if right > left and bottom > top:
        inside = _back(mask[:, :, None], similarity, (left, top, right, bottom))[:, :, 0] > 0
        region[top:bottom, left:right] = inside
    return region


def _window(similarity: Similarity, side: int, size: tuple[int, int]) -> tuple[int, int, int, int]:
    """Return the picture's window that the aligned face covers."""
    corners = similarity.inverse()(np.array([[0, 0], [side, 0], [0, side], [side, side]], dtype=float))
    low = np.maximum(np.floor(corners.min(axis=0)), 0).astype(int)
    high = np.minimum(np.ceil(corners.max(axis=0)), size).astype(int)
    return int(low[0]), int(low[1]), int(high[0]), int(high[1])


def _back(values: np.ndarray, similarity: Similarity, window: tuple[int, int, int, int]) -> np.ndarray:
    """Sample aligned values at the pixels of a window of the picture, linearly, 0 outside."""
    from PIL import Image

    left, top, right, bottom = window
    shift = similarity.shift + similarity.matrix @ np.array([left, top])
    data = (*similarity.matrix[0], shift[0], *similarity.matrix[1], shift[1])
    size = (right - left, bottom - top)
    layers = []
    for layer in np.moveaxis(values, -1, 0):
        image = Image.fromarray(layer.astype(np.float32))
        layers.append(np.asarray(image.transform(size, Image.Transform.AFFINE, data, Image.Resampling.BILINEAR)))
    return np.stack(layers, axis=-1)
