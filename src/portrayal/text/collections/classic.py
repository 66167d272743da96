"""Classic forms of the Glasgow test collections: .ALL documents, .QRY queries, .REL judgments.

Documents and queries are in SMART form (`.I 1`, then `.T`, `.W` ...) or TIME's (`*TEXT 017`, `*FIND 1`). Judgments count queries by
position in the file, whatever number stands beside `.I`; TIME's count documents by position too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from portrayal.errors import PortrayalError
from portrayal.text.collections.collection import Collection, Document, Qrels
from portrayal.text.collections.lines import read_lines, whole

DOCUMENTS = re.compile(r"\.all$|\.all\.", re.IGNORECASE)
QUERIES = re.compile(r"\.(qry|que)$", re.IGNORECASE)
JUDGMENTS = re.compile(r"\.rel$|qrel", re.IGNORECASE)
_PROSE = (".T", ".W")


def read_classic(path: Path) -> Collection:
    """Read a folder with one .ALL, one .QRY (or .QUE) and perhaps a .REL file."""
    documents, queries = _only(path, DOCUMENTS), _only(path, QUERIES)
    if documents is None or queries is None:
        raise PortrayalError(f"{path} lacks a .ALL or a .QRY file. The classic form needs both; see docs/rankers.md.")
    judgments = _only(path, JUDGMENTS)
    asked = {str(position): text for position, (_, text) in enumerate(_items(queries), 1)}
    return Collection(path.resolve().name, lambda: _items(documents), asked, _read_rel(judgments) if judgments else {})


def _only(path: Path, pattern: re.Pattern[str]) -> Path | None:
    """Return the only file of this name pattern, if any."""
    found = sorted(file for file in path.iterdir() if file.is_file() and pattern.search(file.name))
    if len(found) > 1:
        raise PortrayalError(f"{path} has both {found[0].name} and {found[1].name}. Leave one of them there.")
    return found[0] if found else None


def _items(path: Path) -> Iterator[Document]:
    """Stream the items of a .ALL or .QRY file of either shape."""
    rest = (line for _, line in read_lines(path))
    first = next(rest, "")
    lines = chain([first], rest)
    return _smart(lines) if first.startswith(".I") else _starred(lines)


def _smart(lines: Iterator[str]) -> Iterator[Document]:
    """Stream the items of the SMART form: the number after `.I`, title and abstract."""
    name, field, prose = "", "", list[str]()
    for line in lines:
        if line.startswith(".I"):
            if name:
                yield name, " ".join(" ".join(prose).split())
            name, field, prose = line[2:].strip(), "", []
        elif re.fullmatch(r"\.[A-Z]\s*", line):
            field = line.strip()
        elif field in _PROSE:
            prose.append(line)
    if name:
        yield name, " ".join(" ".join(prose).split())


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
    rows = [line.split() for _, line in read_lines(path)]
    qrels = Qrels()
    for row in rows:
        if len(row) < 2:
            raise PortrayalError(f"{path} has a line of one field. Expected a query and at least one document.")
    for query, document, level in _judged(rows):
        name = str(whole(query, path, "a query's number"))
        qrels.setdefault(name, {})[str(whole(document, path, "a document's number"))] = whole(
            level, path, "a relevance"
        )
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
