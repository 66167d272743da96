"""Counting clusters per picture, on integer codes: millions of tag rows in a second or two.

Strings are looked at once per distinct tag. After that a tag is a number, its clusters are a row of a small table, and
a picture's counts are sums: six clusters at a time, packed eight bits each into one exact floating-point weight.
"""

from __future__ import annotations

import numpy as np

PACKED = 6  # 6 x 8 bits fit the 53 bits a double holds exactly
MOST = 255  # more tags than this in a picture would spill into the next cluster


def count_clusters(tags: np.ndarray, pictures: np.ndarray, n_pictures: int, member: np.ndarray) -> np.ndarray:
    """Return how many of each picture's tags are in each cluster.

    Parameters
    ----------
    tags
        Code of the tag, one per row.
    pictures
        Code of the picture, one per row.
    n_pictures
        How many pictures there are.
    member
        `member[t, c]` says whether tag `t` is in cluster `c`.

    Returns
    -------
    numpy.ndarray
        Integers, pictures by clusters.
    """
    sizes = np.bincount(pictures, minlength=n_pictures)
    if sizes.max(initial=0) > MOST:
        return _plain(tags, pictures, n_pictures, member)
    counts = [
        _packed(tags, pictures, n_pictures, member[:, start : start + PACKED])
        for start in range(0, member.shape[1], PACKED)
    ]
    return np.hstack(counts) if counts else np.zeros((n_pictures, 0), dtype=np.int64)


def _packed(tags: np.ndarray, pictures: np.ndarray, n_pictures: int, member: np.ndarray) -> np.ndarray:
    """Count up to six clusters in one pass over the rows."""
    shifts = np.left_shift(1, 8 * np.arange(member.shape[1]))
    weights = (member @ shifts).astype(float)
    sums = np.bincount(pictures, weights=weights[tags], minlength=n_pictures).astype(np.int64)
    return (sums[:, None] >> (8 * np.arange(member.shape[1]))) & MOST


def _plain(tags: np.ndarray, pictures: np.ndarray, n_pictures: int, member: np.ndarray) -> np.ndarray:
    """Count one cluster at a time; for pictures with more tags than eight bits hold."""
    columns = [
        np.bincount(pictures, weights=member[:, place][tags], minlength=n_pictures)
        for place in range(member.shape[1])
    ]
    return np.stack(columns, axis=1).astype(np.int64)
