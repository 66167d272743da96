"""Lexical rankers: a document's score is the sum of fixed weights of the query's words.

BM25: Robertson, Zaragoza (2009), The probabilistic relevance framework; its variants: Kamphuis, de Vries, Boytsov, Lin (2020), Which
BM25 do you mean?, ECIR. Query likelihood: Zhai, Lafferty (2001), SIGIR. tf-idf: Salton, Buckley (1988).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from portrayal.errors import PortrayalError, check_name
from portrayal_rankers.base import Hits, best
from portrayal_rankers.index import Index

if TYPE_CHECKING:
    from scipy import sparse

BLOCK = 1 << 16  # postings weighed at a time, or those of one word
COMMON = 0.2  # a word in more than this share of the documents is common

Array = NDArray[np.float64]
Weigh = Callable[[NDArray[np.int64], NDArray[np.int64]], Array]

# The weight of a word that occurs in f of n documents. Robertson's can fall below 0 for words in over half of the
# documents, where it is held at 0.
VARIANTS: dict[str, Callable[[int, Array], Array]] = {
    "lucene": lambda n, f: np.log1p((n - f + 0.5) / (f + 0.5)),
    "robertson": lambda n, f: np.log(np.maximum((n - f + 0.5) / (f + 0.5), 1.0)),
    "atire": lambda n, f: np.log(n / f),
}


@dataclass(frozen=True)
class Lexical:
    """Ranks by `weights` (documents by words); `shift` is added once per query word."""

    index: Index
    weights: sparse.csc_array
    weigh: Weigh = lambda ids, counts: counts.astype(np.float64)
    shift: Array | None = None

    @property
    def documents(self) -> Sequence[str]:
        """The ids of the documents."""
        return self.index.documents

    @cached_property
    def common(self) -> dict[int, Array]:
        """Weights of common words, one for every document: adding is faster than looking up."""
        ids = np.flatnonzero(self.index.frequencies > COMMON * len(self.documents))
        rows = np.ascontiguousarray(self.weights[:, ids].toarray().T)
        return dict(zip(ids.tolist(), rows, strict=True))

    def scores(self, query: str, out: Array | None = None) -> Array:
        """Return every document's score: 0 without any word of the query, with `shift` -inf."""
        ids, counts = self.index.encode(query)
        scores = np.empty(len(self.documents)) if out is None else out
        scores.fill(0)
        for word, factor in zip(ids.tolist(), self.weigh(ids, counts).tolist(), strict=True):
            if word in self.common:
                scores += self.common[word] if factor == 1 else factor * self.common[word]
                continue
            part = slice(self.weights.indptr[word], self.weights.indptr[word + 1])
            weights = self.weights.data[part]
            # Indices of the machine's own width: `add.at` has a quick way for these alone.
            places = self.index.postings[part].astype(np.intp)
            np.add.at(scores, places, weights if factor == 1 else factor * weights)
        if self.shift is None:
            return scores
        return np.where(scores > 0, scores + counts.sum() * self.shift, -np.inf)

    def search(self, queries: Mapping[str, str], depth: int) -> dict[str, Hits]:
        """Return the best documents that share a word with the query, for each query."""
        _ = self.common, self.index.numbers, self.index.tie_order  # made once, before the threads need them
        names, workers = list(queries), os.cpu_count() or 1
        floor = 0.0 if self.shift is None else -np.inf

        def some(first: int) -> list[Hits]:
            room = np.empty(len(self.documents))  # for one query after the other
            texts = (queries[name] for name in names[first::workers])
            return [best(self.scores(text, room), depth, self.index.tie_order, floor) for text in texts]

        # Long array operations release the interpreter's lock, so threads use all cores.
        with ThreadPoolExecutor(workers) as pool:
            hits = list(pool.map(some, range(workers)))
        return {name: hits[place % workers][place // workers] for place, name in enumerate(names)}


def bm25(index: Index, k1: float = 1.2, b: float = 0.75, variant: str = "lucene") -> Lexical:
    """Return a BM25 ranker, the sum of idf(w) tf / (tf + lengths).

    Lucene leaves out the factor k1 + 1, which changes no order; 'atire' keeps it.
    """
    check_name(variant, VARIANTS, "BM25 variant")
    if k1 < 0 or not 0 <= b <= 1:
        raise PortrayalError(f"BM25 has k1 {k1} and b {b}. Expected k1 of at least 0 and b from 0 to 1.")
    frequencies = index.frequencies.astype(np.float64)
    with np.errstate(divide="ignore"):  # a stop word kept in the vocabulary occurs in no document
        words = VARIANTS[variant](len(index.documents), frequencies) * (k1 + 1 if variant == "atire" else 1.0)
    lengths = k1 * (1 - b + b * index.lengths / max(index.lengths.mean(), 1.0))

    def weigh(some: slice, part: slice) -> Array:
        counts: NDArray[np.int32] = index.counts[part]
        weights: Array = counts / (counts + lengths[index.postings[part]])
        weights *= np.repeat(words[some], index.frequencies[some])
        return weights

    return Lexical(index, _weighted(index, weigh))


def _weighted(index: Index, weigh: Callable[[slice, slice], Array]) -> sparse.csc_array:
    """Weigh all postings on all cores; `weigh` gets words and their postings."""
    weights = np.empty(len(index.postings))
    edges = np.searchsorted(index.borders, np.arange(0, len(weights), BLOCK))
    edges = np.unique(np.append(edges, len(index.words)))

    def some(first: int, last: int) -> None:
        part = slice(index.borders[first], index.borders[last])
        weights[part] = weigh(slice(first, last), part)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(some, edges[:-1].tolist(), edges[1:].tolist()))
    return index.weighted(weights)


def qlm(index: Index, mu: float = 2000.0) -> Lexical:
    """Return a query-likelihood ranker with Dirichlet smoothing."""
    if mu <= 0:
        raise PortrayalError(f"query likelihood has mu {mu}. Expected a number above 0.")
    shares = index.totals / max(int(index.totals.sum()), 1)
    weights = np.log1p(index.counts / (mu * np.repeat(shares, index.frequencies)))
    return Lexical(index, index.weighted(weights), shift=np.log(mu / (index.lengths + mu)))


def tfidf(index: Index) -> Lexical:
    """Return a tf-idf ranker, weights scaled to length 1."""
    documents = len(index.documents)
    words = np.log((documents + 1) / np.maximum(index.frequencies, 1))
    weights = (1 + np.log(index.counts)) * np.repeat(words, index.frequencies)
    lengths = np.sqrt(np.bincount(index.postings, weights**2, minlength=documents))
    weights /= lengths[index.postings]

    def weigh(ids: NDArray[np.int64], counts: NDArray[np.int64]) -> Array:
        query = (1 + np.log(counts)) * words[ids]
        return query / max(float(np.linalg.norm(query)), np.finfo(float).tiny)

    return Lexical(index, index.weighted(weights), weigh)
