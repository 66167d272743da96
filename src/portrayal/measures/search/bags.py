"""Documents as bags of words: integer term ids in one sparse matrix, a row a document."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from portrayal.errors import PortrayalError

BLOCK = 50_000  # documents multiplied at a time, so that a product never copies the whole matrix


@dataclass(frozen=True)
class Bags:
    """Which terms stand how often in which document. A term may stand in a row more than once; entries add up."""

    documents: Mapping[str, int]  # document id to row
    terms: Mapping[str, int]  # term to column
    counts: sparse.csr_array

    @cached_property
    def words(self) -> list[str]:
        """The terms in the order of their columns."""
        return sorted(self.terms, key=self.terms.__getitem__)

    def rows(self, ids: Iterable[str]) -> np.ndarray:
        """Return the rows of these documents.

        Raises
        ------
        PortrayalError
            When a document is not in the collection.
        """
        try:
            return np.fromiter((self.documents[id] for id in ids), dtype=np.int64)
        except KeyError as error:
            raise PortrayalError(
                f"a result names document {error.args[0]!r}, which the collection does not have. "
                "Check that the run belongs to this collection."
            ) from None

    def columns(self, words: Iterable[str]) -> np.ndarray:
        """Return the columns of those words that occur at all."""
        found = {self.terms[word] for word in words if word in self.terms}
        return np.array(sorted(found), dtype=np.int64)

    def times(self, weights: np.ndarray) -> np.ndarray:
        """Return, per document, the sum of its terms' weights (a vector or a matrix with a row a term)."""
        starts = range(0, max(1, self.counts.shape[0]), BLOCK)
        parts = [self.counts[start : start + BLOCK] @ weights for start in starts]
        return np.concatenate(parts)


def make_bags(
    documents: Iterable[tuple[str, str]], tokenise: Callable[[str], Sequence[str]], only: set[str] | None = None
) -> Bags:
    """Read documents once, as a stream, and keep their words as integers.

    Parameters
    ----------
    documents
        (id, text) pairs.
    tokenise
        Turns a text into words, stop words already left out.
    only
        Keep these documents only; None keeps all.
    """
    rows: dict[str, int] = {}
    terms: dict[str, int] = {}
    ids, starts = array("i"), array("q", [0])
    for id, text in documents:
        if only is not None and id not in only:
            continue
        if id in rows:
            raise PortrayalError(f"document {id!r} stands twice in the collection. Give every document its own id.")
        rows[id] = len(rows)
        ids.extend([terms.setdefault(word, len(terms)) for word in tokenise(text)])
        starts.append(len(ids))
    columns = np.frombuffer(ids, dtype=np.int32) if len(ids) else np.empty(0, dtype=np.int32)
    shape = (len(rows), max(1, len(terms)))
    counts = sparse.csr_array((np.ones(len(columns), dtype=np.int32), columns, np.array(starts)), shape=shape)
    return Bags(rows, terms, counts)
