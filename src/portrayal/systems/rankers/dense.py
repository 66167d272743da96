"""Rankers over vectors: one vector a document, one a query, ordered by the cosine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from portrayal.systems.rankers.base import Hits, best
from portrayal.text.index import tie_order
from portrayal.text.space import unit_rows

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Dense:
    """Ranks documents by the cosine of their vector and the query's.

    A document without any usable word has a row of zeros and is not ranked; a query without any has no hits.
    """

    documents: Sequence[str]
    vectors: Array  # rows of length 1, or zeros
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
        if not queries:
            return {}
        encoded = unit_rows(self.encode(list(queries.values())))
        return {query: self._hits(vector, depth) for query, vector in zip(queries, encoded, strict=True)}

    def _hits(self, vector: Array, depth: int) -> Hits:
        if not vector.any():
            return Hits(np.array([], np.int64), np.array([]))
        scores = np.where(self.usable, self.vectors @ vector, -np.inf)
        return best(scores, depth, self.order)
