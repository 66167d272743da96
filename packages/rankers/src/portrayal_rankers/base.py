"""Protocol of rankers, and the best of many scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
import polars as pl
from numpy.typing import NDArray

from portrayal.errors import PortrayalError
from portrayal.text.collections import Collection, run_table

SAMPLE = 64  # one score in so many is looked at to guess where the cut lies


class Hits(NamedTuple):
    """The results of one query, best first: document numbers and their scores."""

    numbers: NDArray[np.int64]
    scores: NDArray[np.float64]

    def first(self, depth: int) -> Hits:
        """Return the best `depth` of them."""
        return Hits(self.numbers[:depth], self.scores[:depth])


@runtime_checkable
class Ranker(Protocol):
    """Anything that ranks the documents of a collection."""

    @property
    def documents(self) -> Sequence[str]:
        """The ids of the documents, by number."""
        ...

    def search(self, queries: Mapping[str, str], depth: int) -> dict[str, Hits]:
        """Return, by query id, at most `depth` documents, best first; none is no hits."""
        ...


def rank(collection: Collection, ranker: Ranker, depth: int = 1000) -> pl.DataFrame:
    """Run the collection's queries; one without any result has no row."""
    if depth < 1:
        raise PortrayalError(f"depth is {depth}. Expected at least 1.")
    return run_of(search(ranker, collection.queries, depth))


def search(ranker: Ranker, queries: Mapping[str, str], depth: int) -> dict[str, list[tuple[str, float]]]:
    """Return, by query id, at most `depth` documents with their scores, best first."""
    hits, names = ranker.search(queries, depth), ranker.documents
    return {
        query: [(names[number], score) for number, score in zip(*map(np.ndarray.tolist, hits[query]), strict=True)]
        for query in queries
    }


def run_of(results: Mapping[str, Sequence[tuple[str, float]]]) -> pl.DataFrame:
    """Return the results of `search` as a run table, ranks counted from 1."""
    rows = [(query, doc, place, score) for query, hits in results.items() for place, (doc, score) in enumerate(hits, 1)]
    return run_table(rows)


def best(scores: NDArray[np.float64], depth: int, tie_order: NDArray[np.int64], floor: float = -np.inf) -> Hits:
    """Return the `depth` best scores above `floor`, ties in the order `tie_order` gives."""
    guess = _largest(scores[::SAMPLE], 2 * depth // SAMPLE + 8)  # that a little over `depth` scores should reach
    chosen = np.flatnonzero(scores >= max(guess, np.nextafter(floor, np.inf)))
    if len(chosen) < depth:  # the guess was too high, or there are no more
        chosen = np.flatnonzero(scores > floor)
    values = scores[chosen]
    if len(chosen) > depth:
        large = values >= _largest(values, depth)
        chosen, values = chosen[large], values[large]
    order = _best_first(values, tie_order[chosen])[:depth]
    return Hits(chosen[order], values[order])


def _best_first(scores: NDArray[np.float64], ties: NDArray[np.int64]) -> NDArray[np.intp]:
    """Return the order of `lexsort` for ties that all differ, twice as fast."""
    falling = np.argsort(-scores)
    values = scores[falling]
    keys = np.zeros(len(scores), np.int64)  # the same for equal scores, and ascending
    np.cumsum(values[1:] != values[:-1], out=keys[1:])
    keys *= int(ties.max(initial=0)) + 1
    keys += ties[falling]
    return falling[np.argsort(keys)]


def _largest(scores: NDArray[np.float64], place: int) -> float:
    """Return the place-th largest score, or the smallest when there are fewer."""
    at = max(len(scores) - place, 0)
    return float(np.partition(scores, at)[at])
