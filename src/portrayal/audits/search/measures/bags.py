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
            return np.fromiter(map(self.row_of.__getitem__, names), dtype=np.int64)
        except KeyError as error:
            raise PortrayalError(
                f"a result names document {error.args[0]!r}, which the collection does not have. "
                "Measure a run with the collection it was made on."
            ) from None

    def columns(self, words: Iterable[str]) -> np.ndarray:
        """Return the columns of those words that occur at all, by the alphabet, as `times` goes over them."""
        found = [self.column_of[word] for word in sorted(set(words)) if word in self.column_of]
        return np.array(found, dtype=np.int64)

    def count(self, columns: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return how often each term occurs in the document beside it; postings are searched, not gone over."""
        needed, asked = np.unique(columns, return_inverse=True)
        part = self._sorted[:, needed]
        if not part.nnz:
            return np.zeros(len(rows))
        size = len(self.documents)
        # Terms and then their documents ascend, so one search finds them all.
        postings = np.repeat(np.arange(len(needed)) * size, np.diff(part.indptr)) + part.indices
        wanted = asked * size + rows
        place = np.minimum(np.searchsorted(postings, wanted), len(postings) - 1)
        return np.where(postings[place] == wanted, part.data[place], 0).astype(np.float64)

    @cached_property
    def _alphabetical(self) -> np.ndarray:
        """The columns, by the alphabet of their words."""
        return np.array(sorted(range(len(self.words)), key=self.words.__getitem__), dtype=np.int64)

    @cached_property
    def _sorted(self) -> sparse.csc_array:
        """The counts with every column's documents ascending."""
        return self.counts if self.counts.has_sorted_indices else self.counts.sorted_indices()

    def times(self, weights: np.ndarray) -> np.ndarray:
        """Return, per document, the sum of its terms' weights; `weights` has a row a term.

        Terms are added one by one in the order of the alphabet, so that a document's sum is the same to the last
        digit whatever other documents are held with it.
        """
        total = np.zeros((weights.shape[1], len(self.documents)))
        for start in range(0, len(self.words), BLOCK):
            chosen = self._alphabetical[start : start + BLOCK]
            part = self.counts[:, chosen]
            occurring = np.diff(part.indptr)
            for sums, weight in zip(total, weights[chosen].T, strict=True):
                np.add.at(sums, part.indices, part.data * np.repeat(weight, occurring))
        return total.T
