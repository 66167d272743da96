"""Documents as bags of words: how often each term occurs in each document, one sparse matrix stored by term."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from portrayal.errors import PortrayalError

if TYPE_CHECKING:
    from scipy import sparse

BLOCK = 20_000  # terms multiplied at a time, so that a product never copies the whole matrix


@dataclass(frozen=True)
class Bags:
    """Documents (rows) by terms (columns)."""

    documents: Sequence[str]
    words: Sequence[str]
    counts: sparse.csc_array

    @cached_property
    def row_of(self) -> Mapping[str, int]:
        """The row of each document id."""
        return {name: row for row, name in enumerate(self.documents)}

    @cached_property
    def column_of(self) -> Mapping[str, int]:
        """The column of each word."""
        return {word: column for column, word in enumerate(self.words)}

    def rows(self, names: Iterable[str]) -> np.ndarray:
        """Return the rows of these documents.

        Raises
        ------
        PortrayalError
            When a document is not in the collection.
        """
        try:
            return np.array([self.row_of[name] for name in names], dtype=np.int64)
        except KeyError as error:
            raise PortrayalError(
                f"a result names document {error.args[0]!r}, which the collection does not have. "
                "Measure a run with the collection it was made on."
            ) from None

    def columns(self, words: Iterable[str]) -> np.ndarray:
        """Return the columns of those words that occur at all, ascending."""
        found = {self.column_of[word] for word in words if word in self.column_of}
        return np.array(sorted(found), dtype=np.int64)

    def count(self, column: int, rows: np.ndarray) -> np.ndarray:
        """Return how often a term occurs in each of these documents; its postings are searched, not gone over."""
        counts = self._sorted
        part = slice(counts.indptr[column], counts.indptr[column + 1])
        postings, values = counts.indices[part], counts.data[part]
        if not len(postings):
            return np.zeros(len(rows))
        place = np.minimum(np.searchsorted(postings, rows), len(postings) - 1)
        return np.where(postings[place] == rows, values[place], 0).astype(np.float64)

    @cached_property
    def _sorted(self) -> sparse.csc_array:
        """The counts with every column's documents ascending."""
        return self.counts if self.counts.has_sorted_indices else self.counts.sorted_indices()

    def times(self, weights: np.ndarray) -> np.ndarray:
        """Return, per document, the sum of its terms' weights; `weights` has a row a term."""
        total = np.zeros((len(self.documents), weights.shape[1]))
        for start in range(0, len(self.words), BLOCK):
            total += self.counts[:, start : start + BLOCK] @ weights[start : start + BLOCK]
        return total
