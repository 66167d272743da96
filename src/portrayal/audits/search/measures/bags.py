"""Documents as bags of words: how often each term occurs in each document.

They are held as one sparse matrix stored by term, or as the numbers of the words in the order of the texts. Weights are
whole numbers, whose sums are the same in any order: a document's is the same to the last digit whichever way it is held
and whatever other documents are held with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from portrayal.audits.search.measures.sequences import Sequences
from portrayal.errors import PortrayalError

if TYPE_CHECKING:
    from scipy import sparse

BLOCK = 20_000  # terms multiplied at a time, so that a product never copies the whole matrix


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
