"""Readers of collections by the form of their files, or from ir_datasets (MacAvaney et al., 2021)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from portrayal.errors import MissingExtra, PortrayalError, nearest
from portrayal.text.collections.classic import DOCUMENTS, read_classic
from portrayal.text.collections.collection import Collection, Document, Qrels
from portrayal.text.collections.folder import read_beir, read_folder, read_jsonl, read_texts
from portrayal.text.collections.lines import plain_or_gz
from portrayal.text.collections.synthetic import GENERATED, generated_collection
from portrayal.text.collections.trec import parts_of, read_robust04

PREFIX = "ir_datasets:"


class Form(NamedTuple):
    """Test, reader and description of one form."""

    fits: Callable[[Path], bool]
    read: Callable[[Path], Collection]
    about: str
    unheld: Callable[[Path], Collection] | None = None  # reads it without holding queries and judgments


# Tried in this order: the first that fits reads.
FORMS: dict[str, Form] = {
    "folder": Form(
        lambda path: plain_or_gz(path / "documents.jsonl") is not None,
        read_folder,
        "documents.jsonl[.gz], queries.tsv, qrels.tsv",
        partial(read_folder, held=False),
    ),
    "beir": Form(
        lambda path: plain_or_gz(path / "corpus.jsonl") is not None,
        read_beir,
        "corpus.jsonl, queries.jsonl, qrels/test.tsv",
    ),
    "jsonl": Form(
        lambda path: path.is_file() and ".jsonl" in path.suffixes,
        read_jsonl,
        "one file of documents",
        partial(read_jsonl, held=False),
    ),
    "classic": Form(
        lambda path: any(DOCUMENTS.search(file.name) for file in _files(path)), read_classic, ".ALL, .QRY, .REL"
    ),
    "robust04": Form(lambda path: path.is_dir() and bool(parts_of(path)), read_robust04, "TREC disks 4 and 5"),
    "texts": Form(
        lambda path: path.is_dir() and next(path.rglob("*.txt"), None) is not None,
        read_texts,
        "a folder of .txt files",
        partial(read_texts, held=False),
    ),
}


def read_collection(path: Path | str, form: str | None = None, held: bool = True) -> Collection:
    """Open a collection; documents are streamed when asked for, nothing is written into it."""
    if str(path) in GENERATED:
        return generated_collection(str(path))
    if str(path).startswith(PREFIX):
        return read_packaged(str(path))
    path = Path(path)
    if not path.exists():
        raise PortrayalError(f"no collection at {path}. Check the path; see docs/rankers.md for the forms.")
    if form is not None and form not in FORMS:
        raise PortrayalError(f"no form {form!r}.{nearest(form, FORMS)} Known: {', '.join(FORMS)}.")
    chosen = form or next((name for name, known in FORMS.items() if known.fits(path)), None)
    if chosen is None:
        forms = "; ".join(f"{name}: {known.about}" for name, known in FORMS.items())
        raise PortrayalError(f"{path} is no collection of a known form ({forms}).")
    known = FORMS[chosen]
    read = known.read if held or known.unheld is None else known.unheld
    collection = read(path)
    next(collection.documents())  # an empty collection or a file that cannot be read fails at once
    return collection


def is_path(name: str) -> bool:
    """Tell whether this names files, not a generated or packaged collection."""
    return name not in GENERATED and not name.startswith(PREFIX)


def _files(path: Path) -> list[Path]:
    return [file for file in path.iterdir() if file.is_file()] if path.is_dir() else []


def read_packaged(name: str) -> Collection:
    """Open a collection of ir_datasets; the package fetches and keeps its files itself."""
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
    return Collection(wanted, lambda: _packaged_documents(dataset), queries, _packaged_qrels(dataset))


def _packaged_documents(dataset: Any) -> Iterator[Document]:
    return ((item.doc_id, item.default_text()) for item in dataset.docs_iter())


def _packaged_qrels(dataset: Any) -> Qrels:
    qrels = Qrels()
    for item in dataset.qrels_iter() if dataset.has_qrels() else ():
        qrels.setdefault(item.query_id, {})[item.doc_id] = int(item.relevance)
    return qrels
