"""TREC forms: topics, qrels, documents between <DOC> tags, and Robust04."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
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
QUERIES = 249  # topics 301-450 and 601-700 less 672, which has no relevant document
# Documents of each part as published with the track, by how their ids begin; 528,155 together.
SOURCES = {"FT": 210_158, "FR94": 55_630, "FBIS": 130_471, "LA": 131_896}
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
    held: list[str] = []
    for number, line in read_lines(path, encoding):
        start = line.strip().upper()
        if start.startswith("<DOC>"):
            held = [line]
        elif start.startswith("</DOC>"):
            yield _document("\n".join(held), path, number)
            held = []
        elif held:
            held.append(line)


def _document(text: str, path: Path, number: int) -> Document:
    """Return id and prose of one <DOC>."""
    name = _DOCNO.search(text)
    if name is None:
        raise PortrayalError(f"{path}: the document that ends on line {number} has no <DOCNO>. Expected one.")
    prose = " ".join(match[2] for match in _FIELDS.finditer(text))
    return name[1], " ".join(html.unescape(_TAG.sub(" ", prose)).split())


def read_robust04(path: Path) -> Collection:
    """Read a folder with the disks (packed or not), a topics and a qrels file."""
    topics, qrels = read_topics(_only_file(path, "topics"), "latin-1"), read_qrels(_only_file(path, "qrels"))
    asked = {query: text for query, text in topics.items() if any(level > 0 for level in qrels.get(query, {}).values())}
    if not asked:
        raise PortrayalError(f"no topic of {path} is judged. Expected the topics and qrels of the 2004 Robust track.")
    return Collection("robust04", lambda: _documents_of(path), asked, qrels, sources=SOURCES)


def parts_of(path: Path) -> list[Path]:
    """Return the folders of the four newswire parts below `path`."""
    folders = (folder for folder in path.rglob("*") if folder.is_dir())
    return sorted(folder for folder in folders if folder.name.upper() in PARTS)


def _only_file(path: Path, stem: str) -> Path:
    found = sorted(file for file in path.iterdir() if file.is_file() and stem in file.name.lower())
    if len(found) != 1:
        names = ", ".join(file.name for file in found) or "none"
        raise PortrayalError(f"{path} needs exactly one {stem} file (found: {names}).")
    return found[0]


def _documents_of(path: Path) -> Iterator[Document]:
    for part in parts_of(path):
        for file in sorted(file for file in part.rglob("*") if file.is_file()):
            if not NOT_TEXT.search(file.name):
                yield from read_sgml(file)
