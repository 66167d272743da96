"""The package's own folder form, and those close to it: BEIR folders, plain JSONL, a folder of text files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from portrayal.errors import PortrayalError
from portrayal.text.collections.collection import Collection, Document, Qrels
from portrayal.text.collections.lines import plain_or_gz, read_fields, read_json_lines, read_lines, whole
from portrayal.text.collections.trec import read_qrels


def read_folder(path: Path) -> Collection:
    """Read `documents.jsonl[.gz]` (id, text), `queries.tsv` and, where there is one, `qrels.tsv`.

    `qrels_graded.tsv`, where there is one, holds gains for nDCG: the codes of `qrels.tsv` need not be gains.
    """
    source = plain_or_gz(path / "documents.jsonl")
    if source is None:
        raise PortrayalError(f"{path} has no documents.jsonl or documents.jsonl.gz. See docs/rankers.md.")
    graded = _judgments(path, "qrels_graded.tsv")
    return Collection(path.resolve().name, lambda: _objects(source), _queries(path), _judgments(path), graded)


def read_jsonl(path: Path) -> Collection:
    """Read one JSONL file of documents; queries and judgments, where wanted, lie beside it as TSV files."""
    return Collection(
        path.name, lambda: _objects(path), _queries(path.parent, False), _judgments(path.parent)
    )


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


def read_texts(path: Path) -> Collection:
    """Read a folder of .txt files, one document each, its id the path below the folder without `.txt`."""
    return Collection(path.resolve().name, lambda: _texts(path), _queries(path, False), _judgments(path))


def _objects(path: Path) -> Iterator[Document]:
    """Stream id and text of JSON objects; BEIR's `_id` and `title` are understood."""
    for number, value in read_json_lines(path):
        name = value.get("id", value.get("_id"))
        text = value.get("text")
        if not isinstance(name, str | int) or not isinstance(text, str):
            raise PortrayalError(
                f'{path} line {number} lacks id or text. Expected {{"id": ..., "text": ...}}.'
            )
        title = value.get("title") if "_id" in value else ""
        yield str(name), f"{title} {text}" if title else text


def _texts(path: Path) -> Iterator[Document]:
    """Stream text files in the order of their names."""
    for file in sorted(path.rglob("*.txt")):
        text = "\n".join(line for _, line in read_lines(file))
        yield file.relative_to(path).with_suffix("").as_posix(), text


def _queries(path: Path, needed: bool = True) -> dict[str, str]:
    """Read queries.tsv: id, tab, text; no header."""
    file, queries = path / "queries.tsv", dict[str, str]()
    if not file.is_file() and not needed:
        return queries
    for name, *rest in read_fields(file, 2, "query id, tab, text", "\t"):
        if name in queries:
            raise PortrayalError(f"{file} has query {name!r} twice. Give every query its own id.")
        queries[name] = " ".join(rest)  # a tab inside the text is white space
    if not queries:
        raise PortrayalError(f"{file} has no queries. Expected one per line: id, tab, text.")
    return queries


def _judgments(path: Path, name: str = "qrels.tsv") -> Qrels:
    """Read the judgments where there are any."""
    file = path / name
    return read_qrels(file) if file.is_file() else {}


def _beir_qrels(path: Path) -> Qrels:
    """Read BEIR judgments: a header, then query, document, relevance."""
    qrels = Qrels()
    if not path.is_file():
        return qrels
    for query, document, level, *_ in read_fields(path, 3, "query-id, corpus-id, score", "\t"):
        if level != "score":
            qrels.setdefault(query, {})[document] = whole(level, path, f"the relevance of {document!r}")
    return qrels
