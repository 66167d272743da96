"""Rankers over vectors: one vector a document, one a query, ordered by the cosine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from portrayal.systems.rankers.base import Hits, best
from portrayal.text.collections.index import tie_order
from portrayal.text.vectors.space import unit_rows

Array = NDArray[np.float64]
BLOCK = 50_000  # documents whose vectors are looked at together
TOGETHER = 32  # queries answered together
NOTHING = Hits(np.array([], np.int64), np.array([]))


@dataclass(frozen=True)
class Dense:
    """Ranks documents by the cosine of their vector and the query's.

    A document without any usable word has a row of zeros and is not ranked; a query without any has no hits.
    """

    documents: Sequence[str]
    vectors: NDArray[np.floating[Any]]  # rows of length 1, or zeros
    encode: Callable[[Sequence[str]], Array]  # query texts to vectors, zeros where no word is usable

    @cached_property
    def usable(self) -> NDArray[np.bool_]:
        """Whether each document has a vector."""
        return np.any(self.vectors != 0, axis=1)

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """How ties are ordered."""
        return tie_order(self.documents)

    def search(self, queries: Mapping[str, str], depth: int) -> dict[str, Hits]:
        """Return the documents nearest to each query."""
        names, found = list(queries), {}
        encoded = unit_rows(self.encode(list(queries.values()))) if names else np.zeros((0, 0))
        for start in range(0, len(names), TOGETHER):
            part = encoded[start : start + TOGETHER]
            for name, vector, scores in zip(names[start:], part, self._scores(part), strict=False):
                found[name] = best(scores, depth, self.order) if vector.any() else NOTHING
        return found

    def _scores(self, queries: Array) -> Array:
        """Return queries by documents, in double precision, a block of documents at a time."""
        scores = np.full((len(queries), len(self.documents)), -np.inf)
        for start in range(0, len(self.documents), BLOCK):
            block = slice(start, start + BLOCK)
            cosines = queries @ np.asarray(self.vectors[block], np.float64).T
            np.copyto(scores[:, block], cosines, where=self.usable[block])
        return scores
