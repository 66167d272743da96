"""A collection as the measure looks at it: queries as words, documents as bags, gendered stop words kept."""

from __future__ import annotations

from collections.abc import Container, Iterable
from pathlib import Path

from portrayal.audits.search.measures.bags import Bags
from portrayal.audits.search.measures.history import GENDERED_STOP_WORDS, History
from portrayal.audits.search.measures.sequences import Sequences
from portrayal.engine import current_engine
from portrayal.errors import PortrayalError
from portrayal.text.collections import Collection, RollCall
from portrayal.text.collections.collection import Document
from portrayal.text.words.tokens import stop_words, words


def measuring_stop_words(name: str = "snowball", folder: Path | str = ".") -> frozenset[str]:
    """Return a stop list, by name or as a file, without the words that name a gender."""
    return stop_words(name, folder) - GENDERED_STOP_WORDS


def measuring_words(text: str, stop: frozenset[str]) -> list[str]:
    """Return the words of a text without these stop words."""
    return [word for word in words(text) if word not in stop]


def make_history(
    collection: Collection,
    only: Container[str] | None = None,
    cutoff: int = 100,
    discount: str = "definition",
    inflected: bool = True,
    stop: frozenset[str] | None = None,
    roll: RollCall | None = None,
) -> History:
    """Read a collection's documents once and return what runs on it are measured against."""
    check_asked(collection, len(collection.queries))
    documents = collection.documents() if roll is None else roll.watch(collection.documents())
    kept = documents if only is None else (document for document in documents if document[0] in only)
    left_out = measuring_stop_words() if stop is None else stop
    bags = read_bags(kept, left_out)
    queries = {query: measuring_words(text, left_out) for query, text in collection.queries.items()}
    return History(queries, bags, collection.levels(), cutoff, discount, inflected)


def check_asked(collection: Collection, queries: int) -> None:
    """Refuse a collection without queries."""
    if not queries:
        raise PortrayalError(
            f"collection {collection.name!r} has no queries. Expected a queries.tsv (id, tab, text) beside its documents."
        )


def read_bags(documents: Iterable[Document], stop: frozenset[str]) -> Bags:
    """Read documents: by an engine's workers where one was chosen, who count, or by the threads of this process."""
    from portrayal.text.collections.index import build_index
    from portrayal.text.collections.numbered import read_numbered

    if current_engine().named:
        index = build_index(documents, stop=stop)
        return Bags(index.documents, index.words, index.matrix)
    read = read_numbered(documents, stop)
    return Bags(read.documents, read.words, Sequences(read.ids, read.borders, len(read.words)))
