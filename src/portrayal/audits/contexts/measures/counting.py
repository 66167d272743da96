"""Counting clusters per picture, on integer codes: millions of tag rows in a second or two.

Strings are looked at once per distinct tag. After that a tag is a number, its clusters are a row of a small table, and
a picture's counts are sums of rows: clusters share 64-bit words, each with as many bits as the longest picture needs.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

WORD = 64  # bits
MOST = 255  # tags of a picture whose counts are packed
BLOCK = 1 << 13  # rows divided at a time: their columns stay in the processor's cache
CHUNK = 1 << 18  # rows looked up at a time: they stay in the processor's cache


def count_clusters(tags: np.ndarray, pictures: np.ndarray, n_pictures: int, member: np.ndarray) -> np.ndarray:
    """Return how many of each picture's tags are in each cluster.

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
    from scipy import sparse

    bits = longest_run(starts, len(tags)).bit_length()
    words, ends = _pack(member, bits), np.append(starts[1:], len(tags))
    found = np.empty((member.shape[1], len(starts)), dtype=np.uint8)
    edges = np.unique(np.append(np.searchsorted(starts, np.arange(0, len(tags), CHUNK)), len(starts)))
    ones = np.ones(CHUNK + MOST, dtype=np.uint64)

    def count(first: int, last: int) -> None:
        low, high = starts[first], ends[last - 1]
        borders = (np.append(starts[first:last], high) - low).astype(np.int32)
        # A row for each run, with a 1 for each of its tags: times the words, the sums of these. It lets go of the interpreter.
        runs = sparse.csr_array((ones[: high - low], tags[low:high], borders), (last - first, len(member)))
        _unpack((runs @ words).T, bits, found[:, first:last])

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(count, edges[:-1].tolist(), edges[1:].tolist()))
    return found


def divided(columns: Sequence[np.ndarray], by: np.ndarray) -> np.ndarray:
    """Divide each column by another, on all cores; rows by columns, NaN where the other is not above 0."""
    found = np.empty((len(by), len(columns)))

    def divide(start: int) -> None:
        rows = slice(start, start + BLOCK)
        above = by[rows] > 0
        if not above.all():
            found[rows] = np.nan
        for place, column in enumerate(columns):
            np.divide(column[rows], by[rows], out=found[rows, place], where=above)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(divide, range(0, len(by), BLOCK)))
    return found


def _pack(member: np.ndarray, bits: int) -> np.ndarray:
    """Put the clusters of each tag into 64-bit words, so many bits apart; tags by words."""
    each = WORD // bits
    words = np.zeros((len(member), -(-member.shape[1] // each)), dtype=np.uint64)
    for place, column in enumerate(member.T):
        words[:, place // each] |= column.astype(np.uint64) << np.uint64(place % each * bits)
    return words


def _unpack(sums: np.ndarray, bits: int, out: np.ndarray) -> None:
    """Write the count of each cluster from sums of packed words, words by runs."""
    each, mask = WORD // bits, np.uint64((1 << bits) - 1)
    words = np.ascontiguousarray(sums)
    for place, counts in enumerate(out):
        counts[:] = (words[place // each] >> np.uint64(place % each * bits)) & mask


def _plain(tags: np.ndarray, pictures: np.ndarray, n_pictures: int, member: np.ndarray) -> np.ndarray:
    """Count one cluster at a time; for rows in any order and any number of tags."""
    columns = [
        np.bincount(pictures, weights=member[:, place][tags], minlength=n_pictures) for place in range(member.shape[1])
    ]
    return np.stack(columns, axis=1).astype(np.int64)
