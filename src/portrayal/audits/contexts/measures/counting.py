"""Counting clusters per picture, on integer codes: millions of tag rows in a second or two.

Strings are looked at once per distinct tag. After that a tag is a number, its clusters are a row of a small table, and
a picture's counts are sums: eight clusters at a time, packed eight bits each into one 64-bit word.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np

PACKED = 8  # clusters in a word
MOST = 255  # more tags than this in a picture would spill into the next cluster
CHUNK = 1 << 18  # rows looked up at a time: they stay in the processor's cache


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
    starts = run_starts(pictures)
    named = pictures[starts]
    apart = np.bincount(named).max() > 1  # a picture's rows lie in several places
    if apart or longest_run(starts, len(tags)) > MOST:
        return _plain(tags, pictures, n_pictures, member)
    counts = np.zeros((n_pictures, member.shape[1]), dtype=np.int64)
    counts[named] = count_runs(tags, starts, member).T
    return counts


def longest_run(starts: np.ndarray, rows: int) -> int:
    """Return how many rows the longest run has, of runs that begin at `starts`."""
    return int(np.diff(starts, append=rows).max(initial=0))


def run_starts(pictures: np.ndarray) -> np.ndarray:
    """Return where each run of equal codes begins."""
    return np.append(0, np.flatnonzero(pictures[1:] != pictures[:-1]) + 1)


def count_runs(tags: np.ndarray, starts: np.ndarray, member: np.ndarray) -> np.ndarray:
    """Count the clusters of every run of rows, on all cores; clusters by runs, 8-bit (at most 255 rows a run)."""
    words = _pack(member)
    found = np.empty((len(words) * PACKED, len(starts)), dtype=np.uint8)
    edges = np.unique(np.append(np.searchsorted(starts, np.arange(0, len(tags), CHUNK)), len(starts)))

    def count(first: int, last: int) -> None:
        low, high = starts[first], starts[last] if last < len(starts) else len(tags)
        rows, begins = tags[low:high].astype(np.intp), starts[first:last] - low
        for at, table in enumerate(words):
            sums = np.add.reduceat(table.take(rows), begins)
            found[at * PACKED : (at + 1) * PACKED, first:last] = sums.view(np.uint8).reshape(-1, PACKED).T

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(count, edges[:-1], edges[1:]))
    return found[: member.shape[1]]


def _pack(member: np.ndarray) -> list[np.ndarray]:
    """One 64-bit word per tag for every eight clusters, a byte each, lowest first in memory."""
    padded = np.zeros((len(member), -(-member.shape[1] // PACKED) * PACKED), dtype=np.uint8)
    padded[:, : member.shape[1]] = member
    return [
        np.ascontiguousarray(padded[:, at : at + PACKED]).view(np.uint64)[:, 0]
        for at in range(0, padded.shape[1], PACKED)
    ]


def _plain(tags: np.ndarray, pictures: np.ndarray, n_pictures: int, member: np.ndarray) -> np.ndarray:
    """Count one cluster at a time; for rows in any order and any number of tags."""
    columns = [
        np.bincount(pictures, weights=member[:, place][tags], minlength=n_pictures)
        for place in range(member.shape[1])
    ]
    return np.stack(columns, axis=1).astype(np.int64)
