"""Counting clusters per picture, on integer codes: millions of tag rows in a second or two.

Strings are looked at once per distinct tag. After that a tag is a number, its clusters are a row of a small table, and
a picture's counts are sums: eight clusters at a time, packed eight bits each into one 64-bit word.
"""

from __future__ import annotations

import numpy as np

PACKED = 8  # clusters in a word
MOST = 255  # more tags than this in a picture would spill into the next cluster
CHUNK = 1 << 20  # rows looked up at a time: a few megabytes, which stay in the processor's cache


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
    if not len(tags) or not member.shape[1]:
        return np.zeros((n_pictures, member.shape[1]), dtype=np.int64)
    starts = np.append(0, np.flatnonzero(np.diff(pictures)) + 1)
    named = pictures[starts]
    apart = np.bincount(named).max() > 1  # a picture's rows lie in several places
    if apart or np.diff(np.append(starts, len(tags))).max() > MOST:
        return _plain(tags, pictures, n_pictures, member)
    counts = np.zeros((n_pictures, member.shape[1]), dtype=np.int64)
    for first in range(0, member.shape[1], PACKED):
        part = member[:, first : first + PACKED]
        counts[named, first : first + PACKED] = _packed(tags, starts, part)
    return counts


def _packed(tags: np.ndarray, starts: np.ndarray, member: np.ndarray) -> np.ndarray:
    """Count up to eight clusters in one pass over the rows; `starts` is where each picture's rows begin."""
    places = 8 * np.arange(member.shape[1], dtype=np.uint64)
    words = (member.astype(np.uint64) << places).sum(axis=1, dtype=np.uint64)
    rows = np.empty(len(tags), dtype=np.uint64)
    for at in range(0, len(tags), CHUNK):
        np.take(words, tags[at : at + CHUNK], out=rows[at : at + CHUNK], mode="clip")
    sums = np.add.reduceat(rows, starts)
    return ((sums[:, None] >> places) & np.uint64(MOST)).astype(np.int64)


def _plain(tags: np.ndarray, pictures: np.ndarray, n_pictures: int, member: np.ndarray) -> np.ndarray:
    """Count one cluster at a time; for rows in any order and any number of tags."""
    columns = [
        np.bincount(pictures, weights=member[:, place][tags], minlength=n_pictures)
        for place in range(member.shape[1])
    ]
    return np.stack(columns, axis=1).astype(np.int64)
