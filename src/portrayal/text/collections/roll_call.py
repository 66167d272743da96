"""Who is missing from a collection: judged documents that are not there, and sources that are not whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from portrayal.text.collections.collection import Collection, Document


class RollCall:
    """Watches a collection's documents go by and says, at the end, what is missing.

    Examples
    --------
    >>> from portrayal.text.collections import collection_of
    >>> collection = collection_of({"d1": "a nurse"}, {"q1": "nurse"}, {"q1": {"d1": 1, "d2": 1, "d3": 0}})
    >>> roll = RollCall(collection)
    >>> _ = list(roll.watch(collection.documents()))
    >>> roll.says()
    ["2 of 3 judged documents are not in the collection 'in memory', 1 of them relevant (first: 'd2')."]
    """

    def __init__(self, collection: Collection) -> None:
        self.collection = collection
        self._judged = {doc for levels in collection.qrels.values() for doc in levels}
        self._absent = set(self._judged)
        self._counts: Counter[str] = Counter()  # documents by source; all of them where a collection has none

    def watch(self, documents: Iterable[Document]) -> Iterator[Document]:
        """Yield the documents, marking each as there."""
        prefixes = tuple(self.collection.sources)
        for document in documents:
            self._absent.discard(document[0])
            self._counts[next(filter(document[0].startswith, prefixes), "")] += 1
            yield document

    def says(self) -> list[str]:
        """Return a line for each kind of gap; none where everything is there, or no document went by."""
        lines = (self._sources(), self._judgments()) if self._counts else ()
        return [line for line in lines if line]

    def _sources(self) -> str:
        expected = self.collection.sources
        short = [
            f"{name} {self._counts[name]:,} of {count:,}"
            for name, count in expected.items()
            if self._counts[name] != count
        ]
        whole, found = sum(expected.values()), sum(self._counts.values())
        line = f"{self.collection.name} has {found:,} documents, where {whole:,} are published: {', '.join(short)}."
        return line if short else ""

    def _judgments(self) -> str:
        if not self._absent:
            return ""
        qrels = self.collection.qrels
        missing = sorted(self._absent)
        relevant = sorted({doc for query in qrels for doc in self.collection.relevant(query)} & self._absent)
        return (
            f"{len(missing):,} of {len(self._judged):,} judged documents are not in the collection "
            f"{self.collection.name!r}, {len(relevant):,} of them relevant (first: {(relevant or missing)[0]!r})."
        )
