"""Face-only series: a face laid over its centre inside a feathered mask."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

FEATHER = 1 / 32  # of the side: how far inside the parsed region the edit is in full
CLOSED = 1 / 20  # of the side: holes up to twice as wide are closed in what the parser takes for the edited face


def face_only(edited: np.ndarray, centre: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Blend pictures over their centre, which stays bit for bit outside the mask."""
    share = mask[..., None].astype(np.float32)
    mixed = np.rint(centre + share * (edited.astype(np.float32) - centre)).astype(np.uint8)
    return np.where(share > 0, mixed, centre)


def feathered(centre: np.ndarray, edited: np.ndarray) -> np.ndarray:
    """Return the mask of what is face in both pictures: 0 outside, 1 well inside."""
    from scipy import ndimage

    least, most, mean = ndimage.minimum_filter1d, ndimage.maximum_filter1d, ndimage.uniform_filter1d
    reach = round(centre.shape[-1] * CLOSED)
    seen = (edited > 0.5).astype(np.float32)
    closed = _slid(_slid(seen, reach, most), reach, least)
    both = np.minimum((centre > 0.5).astype(np.float32), closed)
    width = max(2, round(both.shape[-1] * FEATHER))
    shrunk = _slid(both, width, least)
    blurred = _slid(_slid(shrunk, width // 2, mean), width - width // 2, mean)
    return np.where(both > 0, np.clip(blurred, 0, 1), 0).astype(np.float32)


def _slid(values: np.ndarray, width: int, one_way: Callable[..., np.ndarray]) -> np.ndarray:
    """Filter every pixel with its neighbours up to `width` away, along both axes."""
    for axis in (-1, -2):
        values = one_way(values, 2 * width + 1, axis=axis, mode="nearest")
    return values
