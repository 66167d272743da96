"""Reference systems: perfect, random, and the toy collections' stereotypical, neutral and counter-stereotypical ones."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from portrayal.text.collections import Collection
from portrayal.text.collections.synthetic import reference_run
from portrayal_rankers.base import Hits
from portrayal_rankers.index import tie_order


@dataclass(frozen=True)
class Perfect:
    """Returns the documents judged relevant, the most relevant first; the score is the relevance."""

    collection: Collection

    @cached_property
    def documents(self) -> Sequence[str]:
        """The documents relevant to any query."""
        return list(dict.fromkeys(doc for query in self.collection.qrels for doc in self.collection.relevant(query)))

    def search(self, queries: Mapping[str, str], depth: int) -> dict[str, Hits]:
        """Return the relevant documents of each query, found by the query's id."""
        place, hits = {document: number for number, document in enumerate(self.documents)}, {}
        for query in queries:
            relevant = self.collection.relevant(query)
            numbers = np.array([place[document] for document in relevant], np.int64)
            levels = np.array(list(relevant.values()), np.float64)
            order = np.lexsort((tie_order(list(relevant)), -levels))[:depth]
            hits[query] = Hits(numbers[order], levels[order])
        return hits


@dataclass(frozen=True)
class Stereotyped:
    """Answers occupations of the toy or synthetic collection along or against the stereotype."""

    collection: Collection
    system: str  # of portrayal.text.collections.synthetic.REFERENCES

    @cached_property
    def documents(self) -> Sequence[str]:
        """The documents of the collection."""
        return [name for name, _ in self.collection.documents()]

    def search(self, queries: Mapping[str, str], depth: int) -> dict[str, Hits]:
        """Return the system's documents of each query in one common order, all with score 1."""
        numbers = {name: number for number, name in enumerate(self.documents)}
        run = reference_run(self.collection, self.system)
        of_query = dict(run.group_by("query", maintain_order=True).agg("doc").iter_rows())
        lists = {query: [numbers[name] for name in of_query.get(query, ())][:depth] for query in queries}
        return {query: Hits(np.array(listed, np.int64), np.ones(len(listed))) for query, listed in lists.items()}


@dataclass(frozen=True)
class Random:
    """Returns documents in an order drawn for each query by the seed."""

    documents: Sequence[str]
    seed: int = 0

    def search(self, queries: Mapping[str, str], depth: int) -> dict[str, Hits]:
        """Return `depth` documents drawn without replacement."""
        size, hits = min(depth, len(self.documents)), {}
        for query in queries:
            generator = np.random.default_rng([self.seed, zlib.crc32(query.encode())])
            numbers = generator.choice(len(self.documents), size, replace=False)
            hits[query] = Hits(numbers, np.arange(size, 0, -1, dtype=np.float64))
        return hits
