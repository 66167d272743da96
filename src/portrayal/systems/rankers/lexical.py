"""Lexical rankers: a document's score is the sum over query words of a weight fixed beforehand."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from portrayal.systems.rankers.base import Hits, best
from portrayal.text.index import Index

if TYPE_CHECKING:
    from scipy import sparse

COMMON = 0.2  # a word in more than this share of the documents is common

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

    @cached_property
    def common(self) -> dict[int, NDArray[np.float64]]:
        """Weights of the words of many documents, one for every document: adding them is faster than looking up."""
        ids = np.flatnonzero(self.index.frequencies > COMMON * len(self.documents))
        rows = np.ascontiguousarray(self.weights[:, ids].toarray().T)
        return dict(zip(ids.tolist(), rows, strict=True))

    def scores(self, query: str, out: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Return every document's score; a document without any word of the query has 0, with `shift` -inf.

        `out` is room for the scores that is used again and again; by default it is made anew.
        """
        ids, counts = self.index.encode(query)
        borders, scores = self.weights.indptr, np.empty(len(self.documents)) if out is None else out
        scores.fill(0)
        for word, factor in zip(ids.tolist(), self.weigh(ids, counts).tolist(), strict=True):
            if word in self.common:
                scores += self.common[word] if factor == 1 else factor * self.common[word]
            else:
                part = slice(borders[word], borders[word + 1])
                scores[self.index.postings[part]] += factor * self.weights.data[part]
        if self.shift is None:
            return scores
        return np.where(scores > 0, scores + counts.sum() * self.shift, -np.inf)

    def search(self, queries: Mapping[str, str], depth: int) -> dict[str, Hits]:
        """Return the best documents that share a word with the query, for each query."""
        _ = self.common, self.index.numbers, self.index.tie_order  # made once, before the threads need them
        workers = os.cpu_count() or 1
        names = list(queries)
        # Long array operations let go of the interpreter, so threads use all cores.
        with ThreadPoolExecutor(workers) as pool:
            parts = [[queries[name] for name in names[first::workers]] for first in range(workers)]
            found = list(pool.map(lambda texts: self._search(texts, depth), parts))
        return {name: found[place % workers][place // workers] for place, name in enumerate(names)}

    def _search(self, texts: Sequence[str], depth: int) -> list[Hits]:
        """Search one query after the other in the same room."""
        room, floor = np.empty(len(self.documents)), 0.0 if self.shift is None else -np.inf
        return [best(self.scores(text, room), depth, self.index.tie_order, floor) for text in texts]
