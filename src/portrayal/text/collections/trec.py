"""Forms of TREC (topics, qrels, <DOC> documents, Robust04) and of the classic Glasgow collections.

The classic form is .ALL documents, .QRY queries, .REL judgments: SMART (`.I 1`, then `.T`, `.W` ...) or TIME (`*TEXT 017`,
`*FIND 1`). Judgments count queries by position in the file, whatever number stands beside `.I`; TIME's count documents so too.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from portrayal.errors import PortrayalError
from portrayal.text.collections.collection import Collection, Document, Judgment, Qrels
from portrayal.text.collections.lines import read_fields, read_lines, whole

# The fields of the newswire collections that hold prose; dates, codes and agencies are not text to rank by.
TEXT_FIELDS = ("TEXT", "HEADLINE", "TITLE", "HL", "HEAD", "TTL", "LP", "LEADPARA")
_FIELDS = re.compile(rf"<({'|'.join(TEXT_FIELDS)})\b[^>]*>(.*?)</\1>", re.DOTALL | re.IGNORECASE)
_DOCNO = re.compile(r"<DOCNO>\s*(\S+?)\s*</DOCNO>", re.IGNORECASE)
_TAG = re.compile(r"<[^>]{1,200}>")
_TOPIC = re.compile(r"<top>(.*?)</top>", re.DOTALL | re.IGNORECASE)
_NUMBER = re.compile(r"<num>\s*(?:Number:)?\s*(\S+)", re.IGNORECASE)
_TITLE = re.compile(r"<title>\s*(?:Topic:)?\s*([^<]*)", re.IGNORECASE)
PARTS = ("FT", "FR94", "FBIS", "LATIMES")  # CR, the Congressional Record, is on disk 4 and is left out
# Documents of each part as published with the track, by how their ids begin; 528,155 together.
SOURCES = {"FT": 210_158, "FR94": 55_630, "FBIS": 130_471, "LA": 131_896}
DOCUMENTS = re.compile(r"\.all$|\.all\.", re.IGNORECASE)
QUERIES_FILE = re.compile(r"\.(qry|que)$", re.IGNORECASE)
JUDGMENTS = re.compile(r"\.rel$|qrel", re.IGNORECASE)
NOT_TEXT = re.compile(r"^read|dtd", re.IGNORECASE)


def read_qrels(path: Path | str) -> Qrels:
    """Read judgments (query, iteration, document, relevance) as query to document to relevance."""
    path, qrels = Path(path), Qrels()
    for query, document, level in read_judgments(path):
        levels = qrels.setdefault(query, {})
        if document in levels:
            raise judged_twice(path, query, document)
        levels[document] = level
    return qrels


def read_judgments(path: Path) -> Iterator[Judgment]:
    """Stream query, document and relevance, in the order of the file."""
    for query, _, document, level, *_ in read_fields(path, 4, "query, 0, document, relevance"):
        yield query, document, whole(level, path, f"the relevance of {document!r} for query {query!r}")


def judged_twice(path: Path | None, query: str, document: str) -> PortrayalError:
    """Return what is raised where a file judges a document twice."""
    return PortrayalError(f"{path} judges document {document!r} of query {query!r} twice. Keep one.")


def read_topics(path: Path | str, encoding: str = "utf-8") -> dict[str, str]:
    """Read the titles of TREC topics (<top> <num> <title>), by topic number."""
    path, topics = Path(path), {}
    text = "\n".join(line for _, line in read_lines(path, encoding))
    for topic in _TOPIC.findall(text):
        number, title = _NUMBER.search(topic), _TITLE.search(topic)
        if number is None or title is None:
            raise PortrayalError(f"{path} has a topic without <num> or <title>. Expected both in every <top>.")
        topics[number[1]] = " ".join(html.unescape(title[1]).split())
    if not topics:
        raise PortrayalError(f"{path} has no <top> ... </top>. Expected TREC topics with <num> and <title>.")
    return topics


def read_sgml(path: Path, encoding: str = "latin-1") -> Iterator[Document]:
    """Stream the documents of one TREC file, without tags."""
    document: list[str] = []
    for number, line in read_lines(path, encoding):
        start = line.strip().upper()
        if start.startswith("<DOC>"):
            document = [line]
        elif start.startswith("</DOC>"):
            text = "\n".join(document)
            name = _DOCNO.search(text)
            if name is None:
                raise PortrayalError(f"{path}: the document that ends on line {number} has no <DOCNO>. Expected one.")
            prose = " ".join(match[2] for match in _FIELDS.finditer(text))
            yield name[1], " ".join(html.unescape(_TAG.sub(" ", prose)).split())
            document = []
        elif document:
            document.append(line)


def read_robust04(path: Path) -> Collection:
    """Read a folder with the disks (packed or not), a topics and a qrels file."""
    files = []
    for stem in ("topics", "qrels"):
        fitting = sorted(file for file in path.iterdir() if file.is_file() and stem in file.name.lower())
        if len(fitting) != 1:
            names = ", ".join(file.name for file in fitting) or "none"
            raise PortrayalError(f"{path} needs exactly one {stem} file (found: {names}).")
        files.append(fitting[0])
    topics, qrels = read_topics(files[0], "latin-1"), read_qrels(files[1])
    judged = {query for query, levels in qrels.items() if any(level > 0 for level in levels.values())}
    texts = {query: text for query, text in topics.items() if query in judged}
    if not texts:
        raise PortrayalError(f"no topic of {path} is judged. Expected the topics and qrels of the 2004 Robust track.")

    def documents() -> Iterator[Document]:
        for file in (file for part in parts_of(path) for file in sorted(part.rglob("*")) if file.is_file()):
            if not NOT_TEXT.search(file.name):
                yield from read_sgml(file)

    return Collection("robust04", documents, texts, qrels, sources=SOURCES)


def parts_of(path: Path) -> list[Path]:
    """Return the folders of the four newswire parts below `path`."""
    folders = (folder for folder in path.rglob("*") if folder.is_dir())
    return sorted(folder for folder in folders if folder.name.upper() in PARTS)


def read_classic(path: Path) -> Collection:
    """Read a folder with one .ALL, one .QRY (or .QUE) and perhaps a .REL file."""
    files: list[Path | None] = []
    for pattern in (DOCUMENTS, QUERIES_FILE, JUDGMENTS):
        fitting = sorted(file for file in path.iterdir() if file.is_file() and pattern.search(file.name))
        if len(fitting) > 1:
            raise PortrayalError(f"{path} has both {fitting[0].name} and {fitting[1].name}. Leave one of them there.")
        files.append(fitting[0] if fitting else None)
    documents, queries, judgments = files
    if documents is None or queries is None:
        raise PortrayalError(f"{path} lacks a .ALL or a .QRY file. The classic form needs both; see docs/rankers.md.")
    texts = {str(position): text for position, (_, text) in enumerate(_items(queries), 1)}
    return Collection(path.resolve().name, lambda: _items(documents), texts, _read_rel(judgments) if judgments else {})


def _items(path: Path) -> Iterator[Document]:
    """Stream the items of a .ALL or .QRY file of either shape."""
    rest = (line for _, line in read_lines(path))
    first = next(rest, "")
    lines = chain([first], rest)
    return _smart(lines) if first.startswith(".I") else _starred(lines)


def _smart(lines: Iterator[str]) -> Iterator[Document]:
    """Stream the items of the SMART form: the number after `.I`, title and abstract."""
    name, field, prose = "", "", list[str]()
    for line in chain(lines, [".I"]):
        if line.startswith(".I"):
            if name:
                yield name, " ".join(" ".join(prose).split())
            name, field, prose = line[2:].strip(), "", []
        elif re.fullmatch(r"\.[A-Z]\s*", line):
            field = line.strip()
        elif field in (".T", ".W"):
            prose.append(line)


def _starred(lines: Iterator[str]) -> Iterator[Document]:
    """Stream the items of the TIME form, numbered by position."""
    position, prose = 0, list[str]()
    for line in chain(lines, ["*STOP"]):
        if line.startswith("*"):
            if position:
                yield str(position), " ".join(" ".join(prose).split())
            position, prose = position + 1, []
            if line.startswith("*STOP"):
                return
        else:
            prose.append(line)


def _read_rel(path: Path) -> Qrels:
    """Read judgments in any of the four classic shapes; the whole file decides which."""
    rows, qrels = [line.split() for _, line in read_lines(path)], Qrels()
    if any(len(row) < 2 for row in rows):
        raise PortrayalError(f"{path} has a line of one field. Expected a query and at least one document.")
    for query, document, level in _judged(rows):
        name, number = (
            whole(text, path, f"a {of}'s number") for text, of in ((query, "query"), (document, "document"))
        )
        qrels.setdefault(str(name), {})[str(number)] = whole(level, path, "a relevance")
    return qrels


def _judged(rows: list[list[str]]) -> Iterator[tuple[str, str, str]]:
    """Yield query, document and relevance."""
    widths = {len(row) for row in rows}
    if widths == {4} and all(row[1] == "0" for row in rows):  # TREC's own shape: query 0 document relevance
        return ((row[0], row[2], row[3]) for row in rows)
    if widths == {4}:  # CISI and CACM: query document 0 0.000000
        return ((row[0], row[1], "1") for row in rows)
    if widths == {3}:  # Cranfield: query document code
        return ((row[0], row[1], row[2]) for row in rows)
    return ((row[0], document, "1") for row in rows for document in row[1:])  # TIME: query document document ...
