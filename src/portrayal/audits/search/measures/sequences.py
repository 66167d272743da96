"""Documents as the numbers of their words, one behind the other: sums over documents on all cores, without an index."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scipy import sparse

CHUNK = 1000  # documents summed at a time: their words stay in the processor's cache


@dataclass(frozen=True)
class Sequences:
    """The words of document d are `ids[borders[d]:borders[d + 1]]`, of so many different ones."""

    ids: np.ndarray
    borders: np.ndarray
    different: int

    @cached_property
    def lengths(self) -> np.ndarray:
        """How many words each document has."""
        return np.diff(self.borders)

    def counts(self) -> sparse.csc_array:
        """Return how often each word (column) occurs in each document (row), documents ascending within a word."""
        from scipy import sparse

        kind = np.int32 if len(self.ids) < 2**31 else np.int64  # both index arrays must be of one type
        ones = np.ones(len(self.ids), np.int32)
        rows = (ones, self.ids.astype(kind, copy=False), self.borders.astype(kind))
        found = sparse.csr_array(rows, shape=(len(self.lengths), self.different)).tocsc()
        found.sum_duplicates()
        return found

    def times(self, weights: np.ndarray) -> np.ndarray:
        """Return, per document, the sum of its words' weights."""
        total, columns = np.zeros((weights.shape[1], len(self.lengths)), np.int64), _columns(weights)

        def add(first: int) -> None:
            some = np.flatnonzero(self.lengths[first : first + CHUNK]) + first
            if len(some):  # `reduceat` would give a document without words the weight of the next one's first
                begin = self.borders[first]
                ids = self.ids[begin : self.borders[some[-1] + 1]].astype(np.intp)
                for sums, weight in zip(total, columns, strict=True):
                    sums[some] = np.add.reduceat(weight.take(ids), self.borders[some] - begin, dtype=np.int64)

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(add, range(0, len(self.lengths), CHUNK)))
        return total.T

    def times_left_out(
        self, lists: Sequence[np.ndarray], left_out: Sequence[np.ndarray], weights: np.ndarray
    ) -> np.ndarray:
        """Return, for each document of each list, the sum of the weights of those of its words that its list leaves out."""
        places, words = self.find(lists, left_out)
        total = np.zeros((weights.shape[1], sum(map(len, lists))), np.int64)
        for sums, weight in zip(total, _columns(weights), strict=True):
            np.add.at(sums, places, weight[words].astype(np.int64))
        return total.T

    def find(self, lists: Sequence[np.ndarray], left_out: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Return the place, counted over all lists, and the word wherever a document has a word that its list leaves out."""
        begins = np.cumsum([0, *map(len, lists)])[:-1]
        workers = os.cpu_count() or 1

        def some(first: int) -> list[tuple[np.ndarray, np.ndarray]]:
            leave = np.zeros(self.different, bool)
            parts = zip(begins[first::workers], lists[first::workers], left_out[first::workers], strict=True)
            return [self._find(*part, leave) for part in parts]

        with ThreadPoolExecutor(workers) as pool:
            found = [pair for part in pool.map(some, range(workers)) for pair in part]
        places, words = zip(*found, strict=True)
        return np.concatenate(places), np.concatenate(words)

    def _find(
        self, begin: int, rows: np.ndarray, columns: np.ndarray, leave: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Find the words of one list; `leave` is room with a place for every word, and given back clean."""
        if not len(rows):
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        starts, lengths = self.borders[rows], self.lengths[rows]
        spans = zip(starts.tolist(), (starts + lengths).tolist(), strict=True)
        raw = self.ids.data
        words = np.frombuffer(b"".join([raw[start:end] for start, end in spans]), self.ids.dtype)
        leave[columns] = True
        hit = np.flatnonzero(leave.take(words))
        leave[columns] = False
        return begin + np.searchsorted(np.cumsum(lengths), hit, side="right"), words[hit]


def _columns(weights: np.ndarray) -> list[np.ndarray]:
    """Return the columns of the weights, each in one piece and those of 0 and 1 in a byte: the smaller, the faster looked up."""
    small = [((column == 0) | (column == 1)).all() for column in weights.T]
    return [column.astype(np.uint8 if few else np.int64) for column, few in zip(weights.T, small, strict=True)]
