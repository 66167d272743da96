"""Lexical rankers: a document's score is the sum over query words of a weight fixed beforehand."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from portrayal.systems.rankers.base import Hits, best
from portrayal.systems.rankers.index import Index

Weigh = Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.float64]]


def counts_as_weights(ids: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Weigh a query's word by how often the query has it."""
    return counts.astype(np.float64)


@dataclass(frozen=True)
class Lexical:
    """Ranks by `weights` (documents by words, above 0 wherever the word occurs).

    `weigh` turns a query's word ids and counts into factors. `shift`, where given, is added to each matching
    document once per query word (query likelihood's length term).
    """

    index: Index
    weights: sparse.csc_array
    weigh: Weigh = counts_as_weights
    shift: NDArray[np.float64] | None = None

    @property
    def documents(self) -> Sequence[str]:
        """The ids of the documents."""
        return self.index.documents

    def scores(self, query: str) -> NDArray[np.float64]:
        """Return every document's score; a document without any word of the query has -inf."""
        ids, counts = self.index.encode(query)
        scores = self.weights[:, ids] @ self.weigh(ids, counts)
        scores[scores == 0] = -np.inf
        return scores if self.shift is None else scores + counts.sum() * self.shift

    def search(self, queries: Mapping[str, str], depth: int) -> dict[str, Hits]:
        """Return the best documents that share a word with the query, for each query."""
        order = self.index.tie_order  # made once, before the threads need it
        # The sparse product and the partition let go of the interpreter, so threads use all cores.
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            found = pool.map(lambda text: best(self.scores(text), depth, order, -np.inf), queries.values())
            return dict(zip(queries, found, strict=True))
