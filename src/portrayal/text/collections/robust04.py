"""Robust04: TREC disks 4 and 5 without the Congressional Record. Users hold NIST's licence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from portrayal.errors import PortrayalError
from portrayal.text.collections.collection import Collection, Document
from portrayal.text.collections.trec import read_qrels, read_sgml, read_topics

PARTS = ("FT", "FR94", "FBIS", "LATIMES")  # CR, the Congressional Record, is on disk 4 and is left out
QUERIES = 249  # topics 301-450 and 601-700 less 672, which has no relevant document
# Documents of each part as published with the track, by how their ids begin; 528,155 together.
SOURCES = {"FT": 210_158, "FR94": 55_630, "FBIS": 130_471, "LA": 131_896}
_NOT_TEXT = re.compile(r"^read|dtd", re.IGNORECASE)


def read_robust04(path: Path) -> Collection:
    """Read a folder with the disks (FT, FR94, FBIS, LATIMES at any depth), packed as they come or not, a topics and a qrels file.

    Queries are the titles of the topics that have a relevant document: 249 of the 250.
    """
    topics, qrels = read_topics(_file(path, "topics"), "latin-1"), read_qrels(_file(path, "qrels"))
    asked = {query: text for query, text in topics.items() if any(level > 0 for level in qrels.get(query, {}).values())}
    if not asked:
        raise PortrayalError(f"no topic of {path} is judged. Expected the topics and qrels of the 2004 Robust track.")
    return Collection("robust04", lambda: _documents(path), asked, qrels, sources=SOURCES)


def parts_of(path: Path) -> list[Path]:
    """Return the folders of the four newswire parts below `path`, whatever the case of their names."""
    folders = (folder for folder in path.rglob("*") if folder.is_dir())
    return sorted(folder for folder in folders if folder.name.upper() in PARTS)


def _file(path: Path, stem: str) -> Path:
    found = sorted(file for file in path.iterdir() if file.is_file() and stem in file.name.lower())
    if len(found) != 1:
        names = ", ".join(file.name for file in found) or "none"
        raise PortrayalError(f"{path} needs exactly one {stem} file (found: {names}).")
    return found[0]


def _documents(path: Path) -> Iterator[Document]:
    for part in parts_of(path):
        for file in sorted(file for file in part.rglob("*") if file.is_file()):
            if not _NOT_TEXT.search(file.name):
                yield from read_sgml(file)
