"""Documents as bags of words: how often each term occurs in each document.

They are held as one sparse matrix stored by term, or as the numbers of the words in the order of the texts. Weights are
whole numbers, whose sums are the same in any order: a document's is the same to the last digit whichever way it is held
and whatever other documents are held with it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from portrayal.errors import PortrayalError

if TYPE_CHECKING:
    from scipy import sparse

BLOCK = 20_000  # terms multiplied at a time, so that a product never copies the whole matrix
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


@dataclass(frozen=True)
class Bags:
    """Documents (rows) by terms (columns)."""

    documents: Sequence[str]
    words: Sequence[str]
    held: sparse.csc_array | Sequences

    @cached_property
    def counts(self) -> sparse.csc_array:
        """How often each term (column) occurs in each document (row)."""
        return self.held.counts() if isinstance(self.held, Sequences) else self.held

    @cached_property
    def totals(self) -> np.ndarray:
        """The number of times each term occurs in all documents together."""
        if isinstance(self.held, Sequences):
            return np.bincount(self.held.ids, minlength=len(self.words))
        return np.asarray(self.held.sum(axis=0)).ravel()

    @cached_property
    def row_of(self) -> Mapping[str, int]:
        """The row of each document id."""
        return dict(zip(self.documents, range(len(self.documents)), strict=True))

    @cached_property
    def column_of(self) -> Mapping[str, int]:
        """The column of each word."""
        return dict(zip(self.words, range(len(self.words)), strict=True))

    @cached_property
    def longest(self) -> int:
        """How many words the longest document has."""
        if isinstance(self.held, Sequences):
            return int(self.held.lengths.max(initial=0))
        return int(np.bincount(self.held.indices, self.held.data).max(initial=0))

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
        found = [self.column_of[word] for word in set(words) if word in self.column_of]
        return np.sort(np.array(found, dtype=np.int64))

    def occurrences(self, words: frozenset[str]) -> np.ndarray:
        """Return the number of times each document has one of these words, counted once for each set of words."""
        if words not in self._occurrences:
            weights = np.zeros((len(self.words), 1), np.int64)
            weights[self.columns(words)] = 1
            self._occurrences[words] = self.times(weights)[:, 0].astype(np.float64)
        return self._occurrences[words]

    @cached_property
    def _occurrences(self) -> dict[frozenset[str], np.ndarray]:
        return {}

    def times(self, weights: np.ndarray) -> np.ndarray:
        """Return, per document, the sum of its terms' weights; `weights` has a row a term and holds whole numbers."""
        if isinstance(self.held, Sequences):
            return self.held.times(weights)
        total = np.zeros((len(self.documents), weights.shape[1]), np.int64)
        for start in range(0, len(self.words), BLOCK):
            total += self.held[:, start : start + BLOCK] @ weights[start : start + BLOCK]
        return total

    def times_left_out(
        self, lists: Sequence[np.ndarray], left_out: Sequence[np.ndarray], weights: np.ndarray
    ) -> np.ndarray:
        """Return, for each row of each list, the sum of the weights of those of its terms that its list leaves out."""
        if isinstance(self.held, Sequences):
            return self.held.times_left_out(lists, left_out, weights)
        sizes = [len(rows) for rows in lists]
        places = np.repeat(np.arange(sum(sizes)), np.repeat([len(columns) for columns in left_out], sizes))
        columns = np.concatenate([np.tile(part, size) for part, size in zip(left_out, sizes, strict=True)])
        counts = self._count(columns, np.concatenate(lists)[places])
        total = np.zeros((weights.shape[1], sum(sizes)), np.int64)
        for sums, weight in zip(total, weights.T, strict=True):
            np.add.at(sums, places, counts * weight[columns])
        return total.T

    def _count(self, columns: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return how often each term occurs in the document beside it; postings are searched, not gone over."""
        needed, asked = np.unique(columns, return_inverse=True)
        part = self._sorted[:, needed]
        if not part.nnz:
            return np.zeros(len(rows), np.int64)
        size = len(self.documents)
        # Terms and then their documents ascend, so one search finds them all.
        postings = np.repeat(np.arange(len(needed)) * size, np.diff(part.indptr)) + part.indices
        wanted = asked * size + rows
        place = np.minimum(np.searchsorted(postings, wanted), len(postings) - 1)
        return np.where(postings[place] == wanted, part.data[place], 0).astype(np.int64)

    @cached_property
    def _sorted(self) -> sparse.csc_array:
        """The counts with every column's documents ascending."""
        return self.counts if self.counts.has_sorted_indices else self.counts.sorted_indices()
