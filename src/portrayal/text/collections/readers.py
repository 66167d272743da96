"""Readers of collections from files or from ir_datasets (MacAvaney et al., 2021)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from portrayal.errors import MissingExtra, PortrayalError, nearest
from portrayal.text.collections.collection import Collection, Document, Files, Qrels
from portrayal.text.collections.lines import plain_or_gz, read_fields, read_json_lines, read_lines, whole
from portrayal.text.collections.synthetic import GENERATED, generated_collection
from portrayal.text.collections.trec import DOCUMENTS, parts_of, read_classic, read_qrels, read_robust04

PREFIX = "ir_datasets:"


def read_folder(path: Path, in_memory: bool = True) -> Collection:
    """Read `documents.jsonl[.gz]`, `queries.tsv` and, where they are, `qrels.tsv` and `qrels_graded.tsv` (gains)."""
    source = plain_or_gz(path / "documents.jsonl")
    if source is None:
        raise PortrayalError(f"{path} has no documents.jsonl or documents.jsonl.gz. See docs/rankers.md.")
    return _collection(path.resolve().name, path, lambda: _objects(source), in_memory, own=True)


def read_jsonl(path: Path, in_memory: bool = True) -> Collection:
    """Read one JSONL file of documents, queries and judgments beside it as TSV."""
    return _collection(path.name, path.parent, lambda: _objects(path), in_memory)


def read_beir(path: Path) -> Collection:
    """Read a BEIR folder: corpus.jsonl (_id, title, text), queries.jsonl (_id, text), qrels/test.tsv."""
    corpus, queries = plain_or_gz(path / "corpus.jsonl"), plain_or_gz(path / "queries.jsonl")
    if corpus is None or queries is None:
        raise PortrayalError(f"{path} lacks corpus.jsonl or queries.jsonl. A BEIR folder has both.")
    qrels, judged = Qrels(), path / "qrels" / "test.tsv"
    rows = read_fields(judged, 3, "query-id, corpus-id, score", "\t") if judged.is_file() else ()
    for query, document, level, *_ in rows:
        if level != "score":  # the header
            qrels.setdefault(query, {})[document] = whole(level, judged, f"the relevance of {document!r}")
    records = [value for _, value in read_json_lines(queries)]
    clusters = {str(one.get("id", one.get("_id"))): str(one["cluster"]) for one in records if one.get("cluster")}
    texts = dict(_objects(queries))
    # A BEIR queries file holds the queries of every split; the test split is the judged one.
    texts = {query: text for query, text in texts.items() if query in qrels} if qrels else texts
    return Collection(path.resolve().name, lambda: _objects(corpus), texts, qrels, clusters=clusters)


def read_texts(path: Path, in_memory: bool = True) -> Collection:
    """Read a folder of .txt files, each a document named by its path."""

    def texts() -> Iterator[Document]:
        for file in sorted(path.rglob("*.txt")):
            text = "\n".join(line for _, line in read_lines(file))
            yield file.relative_to(path).with_suffix("").as_posix(), text

    return _collection(path.resolve().name, path, texts, in_memory)


def read_queries(path: Path) -> Iterator[tuple[str, str, str | None]]:
    """Stream the id, text and cluster of queries: a line each, id, tab, text.

    A first line that ends in `cluster` names the columns, such as query, text and cluster.
    """
    empty, clustered = True, False
    for place, (name, *rest) in enumerate(read_fields(path, 2, "query id, tab, text", "\t")):
        if place == 0 and [field.strip().lower() for field in rest] == ["text", "cluster"]:
            clustered = True
            continue
        empty = False
        cluster = rest.pop().strip() if clustered and len(rest) > 1 else None
        yield name, " ".join(rest), cluster or None  # a tab inside the text is white space
    if empty:
        raise PortrayalError(f"{path} has no queries. Expected one per line: id, tab, text.")


def asked_twice(path: Path | None, query: str) -> PortrayalError:
    """Return what is raised where a file has two queries of one id."""
    return PortrayalError(f"{path} has query {query!r} twice. Give every query its own id.")


def _collection(
    name: str, folder: Path, source: Callable[[], Iterator[Document]], in_memory: bool, own: bool = False
) -> Collection:
    """Return the collection, its queries and judgments read or left in files."""
    paths = [folder / "queries.tsv", folder / "qrels.tsv", *([folder / "qrels_graded.tsv"] if own else [])]
    files = Files(*(path if path.is_file() or (own and path == paths[0]) else None for path in paths))
    if not in_memory:
        return Collection(name, source, files=files)
    queries, clusters = dict[str, str](), dict[str, str]()
    for query, text, cluster in read_queries(files.queries) if files.queries else ():
        if query in queries:
            raise asked_twice(files.queries, query)
        queries[query] = text
        if cluster:
            clusters[query] = cluster
    qrels, graded = (read_qrels(file) if file else {} for file in (files.judgments, files.graded))
    return Collection(name, source, queries, qrels, graded, clusters=clusters)


def _objects(path: Path) -> Iterator[Document]:
    """Stream id and text of JSON objects; BEIR's `_id` and `title` are understood."""
    for number, value in read_json_lines(path):
        name = value.get("id", value.get("_id"))
        text = value.get("text")
        if not isinstance(name, str | int) or not isinstance(text, str):
            raise PortrayalError(f'{path} line {number} lacks id or text. Expected {{"id": ..., "text": ...}}.')
        title = value.get("title") if "_id" in value else ""
        yield str(name), f"{title} {text}" if title else text


class Form(NamedTuple):
    """Test, reader and description of one form."""

    fits: Callable[[Path], bool]
    read: Callable[..., Collection]
    about: str
    streams: bool = False  # can be read without holding queries and judgments


def _classic(path: Path) -> bool:
    return path.is_dir() and any(DOCUMENTS.search(file.name) for file in path.iterdir() if file.is_file())


# Tried in this order: the first that fits reads.
FORMS: dict[str, Form] = {
    "folder": Form(lambda path: plain_or_gz(path / "documents.jsonl") is not None, read_folder,
                   "documents.jsonl[.gz], queries.tsv, qrels.tsv", streams=True),
    "beir": Form(lambda path: plain_or_gz(path / "corpus.jsonl") is not None, read_beir,
                 "corpus.jsonl, queries.jsonl, qrels/test.tsv"),
    "jsonl": Form(lambda path: path.is_file() and ".jsonl" in path.suffixes, read_jsonl, "one file of documents", True),
    "classic": Form(_classic, read_classic, ".ALL, .QRY, .REL"),
    "robust04": Form(lambda path: path.is_dir() and bool(parts_of(path)), read_robust04, "TREC disks 4 and 5"),
    "texts": Form(lambda path: path.is_dir() and next(path.rglob("*.txt"), None) is not None, read_texts,
                  "a folder of .txt files", streams=True),
}  # fmt: skip


def read_collection(path: Path | str | Collection, form: str | None = None, in_memory: bool = True) -> Collection:
    """Open a collection; documents are streamed when asked for, nothing is written into it."""
    if isinstance(path, Collection):
        return path
    if not isinstance(path, str | PathLike):
        raise PortrayalError(
            f"{type(path).__name__} given for a collection. Expected a path, the name of a generated one, or a Collection."
        )
    if str(path) in GENERATED:
        return generated_collection(str(path))
    if str(path).startswith(PREFIX):
        return _read_packaged(str(path))
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
    collection = known.read(path, in_memory) if known.streams else known.read(path)
    next(collection.documents())  # an empty collection or a file that cannot be read fails at once
    return collection


def is_path(name: str) -> bool:
    """Tell whether this names files, not a generated or packaged collection."""
    return name not in GENERATED and not name.startswith(PREFIX)


def _read_packaged(name: str) -> Collection:
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
    qrels = Qrels()
    for item in dataset.qrels_iter() if dataset.has_qrels() else ():
        qrels.setdefault(item.query_id, {})[item.doc_id] = int(item.relevance)
    return Collection(
        wanted, lambda: ((item.doc_id, item.default_text()) for item in dataset.docs_iter()), queries, qrels
    )
