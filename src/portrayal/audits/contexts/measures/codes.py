"""Strings as numbers: every string of a long column is hashed once, on all cores, and the distinct ones are named.

Two of v distinct strings share a hash with a chance of about v^2 / 2^65: 3 in a million for ten million.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import TypeVar

import numpy as np
import polars as pl

from portrayal.text.words.vocabulary import Hashes, Ids, Vocabulary

CHUNK = 1 << 17  # rows at a time: their hashes stay in the processor's cache
SEEN_FIRST = 1 << 15
AHEAD = 2  # chunks for each thread that are looked at while earlier ones are taken

Found = TypeVar("Found")


def coded(column: pl.Series) -> tuple[pl.Series, Ids]:
    """Return the distinct strings in the order they are first met (null among them), and each one's place there.

    Examples
    --------
    >>> names, codes = coded(pl.Series(["nurse", "man", None, "nurse"]))
    >>> names.to_list(), codes.tolist()
    (['nurse', 'man', None], [0, 1, 2, 0])
    """
    vocabulary, codes = Vocabulary(), np.empty(len(column), np.int32)
    # Most strings are met among the first rows: those looked up ahead then find them.
    hashes, ids = _look_up(column, vocabulary, 0, SEEN_FIRST)
    vocabulary.complete(ids, hashes, partial(_spelled, column, 0))
    for start, (hashes, ids) in in_chunks(partial(_look_up, column, vocabulary), len(column)):
        vocabulary.complete(ids, hashes, partial(_spelled, column, start))
        codes[start : start + len(ids)] = ids
    return pl.Series(column.name, vocabulary.words, dtype=column.dtype), codes


def in_chunks(look: Callable[[int, int], Found], rows: int) -> Iterator[tuple[int, Found]]:
    """Yield where each chunk of the rows begins and what `look` finds from there to its end, in order; threads look ahead."""
    workers = os.cpu_count() or 1
    waiting: deque[tuple[int, Future[Found]]] = deque()
    with ThreadPoolExecutor(workers) as pool:
        for start in range(0, rows, CHUNK):
            waiting.append((start, pool.submit(look, start, min(start + CHUNK, rows))))
            if len(waiting) > AHEAD * workers:
                first, found = waiting.popleft()
                yield first, found.result()
        for first, found in waiting:
            yield first, found.result()


def _look_up(column: pl.Series, vocabulary: Vocabulary, start: int, end: int) -> tuple[Hashes, Ids]:
    hashes = column[start:end].hash().to_numpy()
    return hashes, vocabulary.find(hashes)


def _spelled(column: pl.Series, start: int, places: np.ndarray) -> list[str]:
    found: list[str] = column[(places + start).astype(np.uint32)].to_list()
    return found
