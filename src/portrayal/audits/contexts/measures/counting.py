"""Counting of clusters per picture on integer codes, millions of rows a second.

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
BLOCK = 1 << 13  # rows divided at a time: their columns stay in the processor's cache
RUNS = 1 << 18  # rows counted at a time: they stay in the processor's cache

Look = TypeVar("Look")


def coded(column: pl.Series) -> tuple[pl.Series, Ids]:
    """Return the distinct strings in order of appearance, and the number of each.

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
    """Yield each chunk's first row and what `look` returns; threads look ahead."""
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


def count_runs(tags: np.ndarray, starts: np.ndarray, member: np.ndarray) -> np.ndarray:
    """Count the clusters of every run of rows, on all cores; clusters by runs."""
    from scipy import sparse

    longest = int(np.diff(starts, append=len(tags)).max(initial=1))
    bits = longest.bit_length()
    words, ends = _pack(member, bits), np.append(starts[1:], len(tags))
    counts = np.empty((member.shape[1], len(starts)), dtype=np.uint8 if bits <= 8 else np.int64)
    edges = np.unique(np.append(np.searchsorted(starts, np.arange(0, len(tags), RUNS)), len(starts)))
    ones = np.ones(min(RUNS + longest, len(tags)), dtype=np.uint64)

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
    """Divide each column by another on all cores; NaN where it is not positive."""
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
    """Put the clusters of each tag into 64-bit words, so many bits apart."""
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
