"""Documents as bags of words: word numbers, summed on all cores without an index.

Weights are whole numbers, whose sums are the same to the last digit in any order.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from portrayal.errors import PortrayalError

if TYPE_CHECKING:
    from scipy import sparse

CHUNK = 1000  # documents summed at a time: their words stay in the processor's cache
Result = TypeVar("Result")


@dataclass(frozen=True)
class Bags:
    """Documents; the words of document d are `words[ids[borders[d]:borders[d + 1]]]`."""

    documents: Sequence[str]
    words: Sequence[str]
    ids: np.ndarray
    borders: np.ndarray
    _occurrences: dict[frozenset[str], np.ndarray] = field(default_factory=dict, init=False, repr=False, compare=False)

    @classmethod
    def of_counts(
        cls, documents: Sequence[str], words: Sequence[str], entries: tuple[np.ndarray, np.ndarray, np.ndarray]
    ) -> Bags:
        """Make bags of entries: document, word, and how often it occurs there."""
        document, word, count = entries
        order = np.argsort(document, kind="stable")
        lengths = np.bincount(document, count, len(documents)).astype(np.int64)
        ids = np.repeat(word[order], count[order]).astype(np.int32)
        return cls(documents, words, ids, np.concatenate([[0], np.cumsum(lengths)]))

    def with_empty(self, names: Iterable[str]) -> Bags:
        """Return the bags and further documents without words."""
        new = list(dict.fromkeys(names))
        borders = np.concatenate([self.borders, np.full(len(new), self.borders[-1])])
        return Bags([*self.documents, *new], self.words, self.ids, borders)

    @cached_property
    def lengths(self) -> np.ndarray:
        """The number of words of each document."""
        return np.diff(self.borders)

    @cached_property
    def totals(self) -> np.ndarray:
        """The number of times each word occurs in all documents together."""
        return np.bincount(self.ids, minlength=len(self.words))

    @cached_property
    def counts(self) -> sparse.csc_array:
        """Occurrences of each word (column) in each document (row), documents ascending within a word."""
        from scipy import sparse

        kind = np.int32 if len(self.ids) < 2**31 else np.int64  # both index arrays must be of one type
        rows = (np.ones(len(self.ids), np.int32), self.ids.astype(kind, copy=False), self.borders.astype(kind))
        counts = sparse.csr_array(rows, shape=(len(self.documents), len(self.words))).tocsc()
        counts.sum_duplicates()
        return counts

    @cached_property
    def row_of(self) -> Mapping[str, int]:
        """The row of each document id."""
        return dict(zip(self.documents, range(len(self.documents)), strict=True))

    @cached_property
    def column_of(self) -> Mapping[str, int]:
        """The column of each word."""
        return dict(zip(self.words, range(len(self.words)), strict=True))

    def rows(self, names: Iterable[str]) -> np.ndarray:
        """Return the rows of these documents."""
        try:
            return np.fromiter(map(self.row_of.__getitem__, names), dtype=np.int64)
        except KeyError as error:
            raise PortrayalError(
                f"a result names document {error.args[0]!r}, which the collection does not have. "
                "Measure a run with the collection it was made on."
            ) from None

    def columns(self, words: Iterable[str]) -> np.ndarray:
        """Return the columns of those words that occur at all, each once."""
        return np.sort(np.array([self.column_of[word] for word in set(words) if word in self.column_of], np.int64))

    def occurrences(self, words: frozenset[str]) -> np.ndarray:
        """Return the number of times each document has one of these words."""
        if words not in self._occurrences:
            weights = np.zeros((len(self.words), 1), np.int64)
            weights[self.columns(words)] = 1
            self._occurrences[words] = self.times(weights)[:, 0].astype(np.float64)
        return self._occurrences[words]

    def times(self, weights: np.ndarray) -> np.ndarray:
        """Return the sum of the words' (whole) weights of each document."""
        total, columns = np.zeros((weights.shape[1], len(self.lengths)), np.int64), _columns(weights)

        def add(first: int) -> None:
            some = np.flatnonzero(self.lengths[first : first + CHUNK]) + first
            if len(some):  # `reduceat` would give a document without words the weight of the next one's first
                begin = self.borders[first]
                ids = self.ids[begin : self.borders[some[-1] + 1]].astype(np.intp)
                for sums, weight in zip(total, columns, strict=True):
                    sums[some] = np.add.reduceat(weight.take(ids), self.borders[some] - begin, dtype=np.int64)

        _in_threads(add, range(0, len(self.lengths), CHUNK))
        return total.T

    def times_left_out(
        self, lists: Sequence[np.ndarray], left_out: Sequence[np.ndarray], weights: np.ndarray
    ) -> np.ndarray:
        """Return, by document of each list, the sum of weights left out."""
        begins = np.cumsum([0, *map(len, lists)])[:-1]
        workers = min(os.cpu_count() or 1, 1 + sum(map(len, lists)) // CHUNK)

        def some(first: int) -> list[tuple[np.ndarray, np.ndarray]]:
            leave = np.zeros(len(self.words), bool)
            parts = zip(begins[first::workers], lists[first::workers], left_out[first::workers], strict=True)
            return [self._find(*part, leave) for part in parts]

        pairs = (pair for part in _in_threads(some, range(workers)) for pair in part)
        places, words = map(np.concatenate, zip(*pairs, strict=True))  # wherever a document has a word left out
        total = np.zeros((weights.shape[1], sum(map(len, lists))), np.int64)
        for sums, weight in zip(total, _columns(weights), strict=True):
            np.add.at(sums, places, weight[words].astype(np.int64))
        return total.T

    def _find(
        self, begin: int, rows: np.ndarray, columns: np.ndarray, leave: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Find the words of one list; `leave` is room that is given back clean."""
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
    """Return the columns of the weights, those of 0 and 1 as bytes (faster)."""
    small = [((column == 0) | (column == 1)).all() for column in weights.T]
    return [column.astype(np.uint8 if few else np.int64) for column, few in zip(weights.T, small, strict=True)]


def _in_threads(function: Callable[[int], Result], places: Sequence[int]) -> list[Result]:
    """Return the function of each place, in threads where there are several."""
    if len(places) < 2:
        return list(map(function, places))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(function, places))
