"""Collections: streamed documents, with queries and judgments in memory or in files."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from portrayal.errors import PortrayalError

Document = tuple[str, str]  # id and text
Qrels = dict[str, dict[str, int]]  # query, document, relevance; above 0 is relevant
Judgment = tuple[str, str, int]  # query, document, relevance


class Files(NamedTuple):
    """The files of queries and judgments that a collection does not hold."""

    queries: Path | None
    judgments: Path | None
    graded: Path | None = None


@dataclass(frozen=True)
class Collection:
    """Documents (`source` opens them anew each time), queries and judgments."""

    name: str
    source: Callable[[], Iterator[Document]]
    queries: dict[str, str] = field(default_factory=dict)
    qrels: Qrels = field(default_factory=dict)
    graded: Qrels = field(default_factory=dict)  # gains, where the codes of `qrels` are none (Cranfield)
    sources: Mapping[str, int] = field(default_factory=dict)  # prefix of ids to the number published with it
    clusters: Mapping[str, str] = field(default_factory=dict)  # of queries, where the data name them
    files: Files | None = None  # of a collection that holds no queries and judgments: where they are

    @property
    def gains(self) -> Qrels:
        """The judgments to take nDCG from: a higher level is more relevant."""
        return self.graded or self.qrels

    def documents(self) -> Iterator[Document]:
        """Stream (id, text), in the order of the files."""
        empty = True
        for document in self.source():
            empty = False
            yield document
        if empty:
            raise PortrayalError(
                f"collection {self.name!r} has no documents. Expected at least one; see docs/rankers.md."
            )

    def relevant(self, query: str) -> dict[str, int]:
        """Return the documents judged relevant (above 0) to this query, with their gain."""
        gains = self.gains.get(query, {})
        judged = self.qrels.get(query, {})
        return {document: gains.get(document, level) for document, level in judged.items() if level > 0}

    def levels(self) -> Qrels:
        """Return the judgments with the gain of each relevant document in place of its code."""
        return {query: {**judged, **self.relevant(query)} for query, judged in self.qrels.items()}

    def judged(self) -> list[str]:
        """Return the queries that have at least one judgment, in the order of the queries."""
        return [query for query in self.queries if query in self.qrels]


def in_batches(documents: Iterable[Document], size: int, characters: float = math.inf) -> Iterator[list[Document]]:
    """Stream lists of at most `size` documents and about `characters`."""
    batch, length = list[Document](), 0
    for document in documents:
        batch.append(document)
        length += len(document[1])
        if len(batch) >= size or length >= characters:
            yield batch
            batch, length = [], 0
    if batch:
        yield batch


def collection_of(
    documents: Mapping[str, str] | Iterable[Document],
    queries: Mapping[str, str],
    qrels: Mapping[str, Mapping[str, int]] | None = None,
    name: str = "in memory",
) -> Collection:
    """Return a collection of documents held in memory, such as the toy and synthetic ones."""
    pairs = tuple(documents.items() if isinstance(documents, Mapping) else documents)
    judgments = {query: dict(levels) for query, levels in (qrels or {}).items()}
    return Collection(name, lambda: iter(pairs), dict(queries), judgments)


class RollCall:
    """Watches a collection's documents go by and says, at the end, what is missing."""

    def __init__(self, collection: Collection) -> None:
        self.collection = collection
        self._absent = {doc for levels in collection.qrels.values() for doc in levels}  # judged and not yet seen
        self._counts: Counter[str] = Counter()  # documents by source; all of them where a collection has none

    def watch(self, documents: Iterable[Document]) -> Iterator[Document]:
        """Yield the documents, marking each as there."""
        prefixes = tuple(self.collection.sources)
        for document in documents:
            self._absent.discard(document[0])
            self._counts[next(filter(document[0].startswith, prefixes), "")] += 1
            yield document

    def says(self) -> list[str]:
        """Return a line for each kind of gap."""
        lines, counts, name = list[str](), self._counts, self.collection.name
        expected = self.collection.sources if counts else {}
        short = [f"{part} {counts[part]:,} of {count:,}" for part, count in expected.items() if counts[part] != count]
        if short:
            whole, there = sum(expected.values()), sum(counts.values())
            lines.append(f"{name} has {there:,} documents, where {whole:,} are published: {', '.join(short)}.")
        if counts and self._absent:
            missing, judged = sorted(self._absent), {doc for levels in self.collection.qrels.values() for doc in levels}
            relevant = {doc for query in self.collection.qrels for doc in self.collection.relevant(query)}
            first = sorted(relevant & self._absent) or missing
            lines.append(
                f"{len(missing):,} of {len(judged):,} judged documents are not in the collection {name!r}, "
                f"{len(relevant & self._absent):,} of them relevant (first: {first[0]!r})."
            )
        return lines
