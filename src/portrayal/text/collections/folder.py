"""Collections in folders: the package's own form, BEIR, JSONL and text files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from portrayal.errors import PortrayalError
from portrayal.text.collections.collection import Collection, Document, Files, Qrels
from portrayal.text.collections.lines import plain_or_gz, read_fields, read_json_lines, read_lines, whole
from portrayal.text.collections.trec import read_qrels


def read_folder(path: Path, held: bool = True) -> Collection:
    """Read `documents.jsonl[.gz]`, `queries.tsv` and, where they are, `qrels.tsv` and `qrels_graded.tsv` (gains)."""
    source = plain_or_gz(path / "documents.jsonl")
    if source is None:
        raise PortrayalError(f"{path} has no documents.jsonl or documents.jsonl.gz. See docs/rankers.md.")
    return _collection(path.resolve().name, lambda: _objects(source), _files(path), held)


def read_jsonl(path: Path, held: bool = True) -> Collection:
    """Read one JSONL file of documents, queries and judgments beside it as TSV."""
    return _collection(path.name, lambda: _objects(path), _plain_files(path.parent), held)


def read_beir(path: Path) -> Collection:
    """Read a BEIR folder: corpus.jsonl (_id, title, text), queries.jsonl (_id, text), qrels/test.tsv."""
    corpus, queries = plain_or_gz(path / "corpus.jsonl"), plain_or_gz(path / "queries.jsonl")
    if corpus is None or queries is None:
        raise PortrayalError(f"{path} lacks corpus.jsonl or queries.jsonl. A BEIR folder has both.")
    qrels = _beir_qrels(path / "qrels" / "test.tsv")
    texts = dict(_objects(queries))
    # A BEIR queries file holds the queries of every split; the test split is the judged one.
    asked = {query: text for query, text in texts.items() if query in qrels} if qrels else texts
    return Collection(path.resolve().name, lambda: _objects(corpus), asked, qrels)


def read_texts(path: Path, held: bool = True) -> Collection:
    """Read a folder of .txt files, each a document named by its path."""
    return _collection(path.resolve().name, lambda: _texts(path), _plain_files(path), held)


def read_queries(path: Path) -> Iterator[Document]:
    """Stream the id and text of queries: a line each, id, tab, text; no header."""
    empty = True
    for name, *rest in read_fields(path, 2, "query id, tab, text", "\t"):
        empty = False
        yield name, " ".join(rest)  # a tab inside the text is white space
    if empty:
        raise PortrayalError(f"{path} has no queries. Expected one per line: id, tab, text.")


def asked_twice(path: Path | None, query: str) -> PortrayalError:
    """Return what is raised where a file has two queries of one id."""
    return PortrayalError(f"{path} has query {query!r} twice. Give every query its own id.")


def _collection(name: str, source: Callable[[], Iterator[Document]], files: Files, held: bool) -> Collection:
    """Return the collection, its queries and judgments read or left in files."""
    if not held:
        return Collection(name, source, files=files)
    return Collection(name, source, _queries(files.queries), _judgments(files.judgments), _judgments(files.graded))


def _files(path: Path) -> Files:
    """Return the files of the package's own form, whose queries must be there."""
    return Files(path / "queries.tsv", _there(path / "qrels.tsv"), _there(path / "qrels_graded.tsv"))


def _plain_files(path: Path) -> Files:
    """Return the files beside documents of another form."""
    return Files(_there(path / "queries.tsv"), _there(path / "qrels.tsv"))


def _there(path: Path) -> Path | None:
    return path if path.is_file() else None


def _objects(path: Path) -> Iterator[Document]:
    """Stream id and text of JSON objects; BEIR's `_id` and `title` are understood."""
    for number, value in read_json_lines(path):
        name = value.get("id", value.get("_id"))
        text = value.get("text")
        if not isinstance(name, str | int) or not isinstance(text, str):
            raise PortrayalError(f'{path} line {number} lacks id or text. Expected {{"id": ..., "text": ...}}.')
        title = value.get("title") if "_id" in value else ""
        yield str(name), f"{title} {text}" if title else text


def _texts(path: Path) -> Iterator[Document]:
    """Stream text files in the order of their names."""
    for file in sorted(path.rglob("*.txt")):
        text = "\n".join(line for _, line in read_lines(file))
        yield file.relative_to(path).with_suffix("").as_posix(), text


def _queries(path: Path | None) -> dict[str, str]:
    """Hold the queries of a file, each of an id of its own."""
    queries = dict[str, str]()
    for name, text in read_queries(path) if path else ():
        if name in queries:
            raise asked_twice(path, name)
        queries[name] = text
    return queries


def _judgments(path: Path | None) -> Qrels:
    """Hold the judgments where there are any."""
    return read_qrels(path) if path else {}


def _beir_qrels(path: Path) -> Qrels:
    """Read BEIR judgments: a header, then query, document, relevance."""
    qrels = Qrels()
    if not path.is_file():
        return qrels
    for query, document, level, *_ in read_fields(path, 3, "query-id, corpus-id, score", "\t"):
        if level != "score":
            qrels.setdefault(query, {})[document] = whole(level, path, f"the relevance of {document!r}")
    return qrels
