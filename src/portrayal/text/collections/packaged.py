"""Collections of the package ir_datasets [1]_, by their ids: `ir_datasets:beir/scifact/test`.

References
----------
.. [1] MacAvaney, Yates, Feldman, Downey, Cohan, Goharian (2021), Simplified data wrangling with ir_datasets, SIGIR.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from portrayal.errors import MissingExtra, PortrayalError
from portrayal.text.collections.collection import Collection, Document, Qrels

PREFIX = "ir_datasets:"


def read_packaged(name: str) -> Collection:
    """Open a collection of ir_datasets; the package fetches and keeps its files itself.

    Queries and judgments are taken where the id has them; an id without queries can still be ranked and searched.
    """
    try:
        import ir_datasets
    except ImportError:
        raise MissingExtra(f"the collection {name!r}", "ir_datasets") from None
    wanted = name.removeprefix(PREFIX)
    try:
        dataset: Any = ir_datasets.load(wanted)
    except KeyError:
        raise PortrayalError(f"ir_datasets has no {wanted!r}. See https://ir-datasets.com for its ids.") from None
    if not dataset.has_docs():
        raise PortrayalError(f"{wanted!r} of ir_datasets has no documents. Expected an id that has docs.")
    queries = {item.query_id: item.default_text() for item in dataset.queries_iter()} if dataset.has_queries() else {}
    return Collection(wanted, lambda: _documents(dataset), queries, _qrels(dataset))


def _documents(dataset: Any) -> Iterator[Document]:
    return ((item.doc_id, item.default_text()) for item in dataset.docs_iter())


def _qrels(dataset: Any) -> Qrels:
    qrels = Qrels()
    for item in dataset.qrels_iter() if dataset.has_qrels() else ():
        qrels.setdefault(item.query_id, {})[item.doc_id] = int(item.relevance)
    return qrels
