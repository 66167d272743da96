"""Counting of clusters per picture on integer codes: millions of tag rows in a second or two.

Every string of a long column is hashed once, on all cores, and the distinct ones are named: a tag is then a number. Two
of v distinct strings share a hash with a chance of about v^2 / 2^65: 3 in a million for ten million. A tag's clusters are
a row of a small table, and a picture's counts are sums of rows: clusters share 64-bit words, each with as many bits as
the longest picture needs.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import TypeVar

import numpy as np
import polars as pl

from portrayal.text.words.vocabulary import Hashes, Ids, Vocabulary

CHUNK = 1 << 17  # rows of strings at a time: their hashes stay in the processor's cache
SEEN_FIRST = 1 << 15
AHEAD = 2  # chunks for each thread that are looked at while earlier ones are taken
WORD = 64  # bits
MOST = 255  # tags of a picture whose counts are packed
BLOCK = 1 << 13  # rows divided at a time: their columns stay in the processor's cache
RUNS = 1 << 18  # rows counted at a time: they stay in the processor's cache

Look = TypeVar("Look")


def coded(column: pl.Series) -> tuple[pl.Series, Ids]:
    """Return the distinct strings in the order they are first met (null among them), and each one's place there.

    Examples
    --------
    >>> names, codes = coded(pl.Series(["nurse", "man", None, "nurse"]))
    >>> names.to_list(), codes.tolist()
    (['nurse', 'man', None], [0, 1, 2, 0])
    """
    vocabulary, codes = Vocabulary(), np.empty(len(column), np.int32)

    def look_up(start: int, end: int) -> tuple[Hashes, Ids]:
        hashes = column[start:end].hash().to_numpy()
        return hashes, vocabulary.find(hashes)

    def spell(start: int, places: np.ndarray) -> list[str]:
        words: list[str] = column[(places + start).astype(np.uint32)].to_list()
        return words

    # Most strings are met among the first rows: those looked up ahead then find them.
    hashes, ids = look_up(0, SEEN_FIRST)
    vocabulary.complete(ids, hashes, partial(spell, 0))
    for start, (hashes, ids) in in_chunks(look_up, len(column)):
        vocabulary.complete(ids, hashes, partial(spell, start))
        codes[start : start + len(ids)] = ids
    return pl.Series(column.name, vocabulary.words, dtype=column.dtype), codes


def in_chunks(look: Callable[[int, int], Look], rows: int) -> Iterator[tuple[int, Look]]:
    """Yield each chunk's first row and what `look` returns of it, in order; threads look ahead."""
    workers = os.cpu_count() or 1
    waiting: deque[tuple[int, Future[Look]]] = deque()
    with ThreadPoolExecutor(workers) as pool:
        for start in range(0, rows, CHUNK):
            waiting.append((start, pool.submit(look, start, min(start + CHUNK, rows))))
            if len(waiting) > AHEAD * workers:
                first, looked = waiting.popleft()
                yield first, looked.result()
        for first, looked in waiting:
            yield first, looked.result()


def count_clusters(tags: np.ndarray, pictures: np.ndarray, n_pictures: int, member: np.ndarray) -> np.ndarray:
    """Return how many of each picture's tags are in each cluster, pictures by clusters."""
    counts = np.zeros((n_pictures, member.shape[1]), dtype=np.int64)
    if not len(tags) or not member.shape[1]:
        return counts
    starts = np.append(0, np.flatnonzero(pictures[1:] != pictures[:-1]) + 1)
    apart = np.bincount(pictures[starts]).max() > 1  # a picture's rows lie in several places
    if not apart and longest_run(starts, len(tags)) <= MOST:
        counts[pictures[starts]] = count_runs(tags, starts, member).T
        return counts
    for place, column in enumerate(member.T):
        counts[:, place] = np.bincount(pictures, weights=column[tags], minlength=n_pictures)
    return counts


def longest_run(starts: np.ndarray, rows: int) -> int:
    """Return how many rows the longest run has, of runs that begin at `starts`."""
    return int(np.diff(starts, append=rows).max(initial=0))


def count_runs(tags: np.ndarray, starts: np.ndarray, member: np.ndarray) -> np.ndarray:
    """Count the clusters of every run of rows, on all cores; clusters by runs, 8-bit (at most 255 rows a run)."""
    from scipy import sparse

    bits = longest_run(starts, len(tags)).bit_length()
    words, ends = _pack(member, bits), np.append(starts[1:], len(tags))
    counts = np.empty((member.shape[1], len(starts)), dtype=np.uint8)
    edges = np.unique(np.append(np.searchsorted(starts, np.arange(0, len(tags), RUNS)), len(starts)))
    ones = np.ones(RUNS + MOST, dtype=np.uint64)

    def count(first: int, last: int) -> None:
        low, high = starts[first], ends[last - 1]
        borders = (np.append(starts[first:last], high) - low).astype(np.int32)
        # A row for each run, with a 1 for each of its tags: times the words, the sums of these. It lets go of the interpreter.
        runs = sparse.csr_array((ones[: high - low], tags[low:high], borders), (last - first, len(member)))
        _unpack((runs @ words).T, bits, counts[:, first:last])

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(count, edges[:-1].tolist(), edges[1:].tolist()))
    return counts


def divided(columns: Sequence[np.ndarray], by: np.ndarray) -> np.ndarray:
    """Divide each column by another, on all cores; rows by columns, NaN where the other is not above 0."""
    quotients = np.empty((len(by), len(columns)))

    def divide(start: int) -> None:
        rows = slice(start, start + BLOCK)
        above = by[rows] > 0
        if not above.all():
            quotients[rows] = np.nan
        for place, column in enumerate(columns):
            np.divide(column[rows], by[rows], out=quotients[rows, place], where=above)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(divide, range(0, len(by), BLOCK)))
    return quotients


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
