"""Readers of raw answers: pure functions by name, from bytes to rows.

A system says which reader fits its answers (`System.reader`), and the ledger keeps the name beside each question.
A reader takes the answer, the kind of system and the parameters it was asked with, and returns rows of the kind
(`portrayal.tables.ROWS`); it raises `Unreadable` where the answer is not of the promised form. A captioner's words are then held
against the phrases of refusals, whatever reader they came through.

The reader of a package that plugs in is named `module:function`, and is looked up only if that package is
installed as a plug-in (entry point `portrayal.systems`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, TypeAlias

from portrayal.errors import PortrayalError
from portrayal.systems.core.base import Answer, Refused, System
from portrayal.systems.core.refusals import is_refusal
from portrayal.systems.core.rows import checked_rows

Rows: TypeAlias = list[dict[str, Any]]
Reader: TypeAlias = Callable[[Answer, str, Mapping[str, Any]], Rows]

READERS: dict[str, str] = {
    "plain": "portrayal.systems.core.plain:read_plain",
    "mapped": "portrayal.systems.http.http:read_mapped",
    "vector": "portrayal.systems.encoders.local:read_vector",
    "openai_embeddings": "portrayal.systems.encoders.openai_embeddings:read_embedding",
    "saliency": "portrayal.systems.encoders.clip_saliency:read_saliency",
    "gated": "portrayal.safety.gates:read_gated",
    "rekognition": "portrayal.systems.taggers.rekognition:read_labels",
    "clarifai": "portrayal.systems.taggers.vendors:CLARIFAI.read_answer",
    "imagga": "portrayal.systems.taggers.vendors:IMAGGA.read_answer",
    "google": "portrayal.systems.taggers.vendors:GOOGLE.read_answer",
    "watson": "portrayal.systems.taggers.vendors:WATSON.read_answer",
    "azure": "portrayal.systems.taggers.vendors:AZURE.read_answer",
    "openai": "portrayal.systems.chat.chat:OPENAI.read_answer",
    "anthropic": "portrayal.systems.chat.chat:ANTHROPIC.read_answer",
}


@cache
def reader(name: str) -> Reader:
    """Return the reader of this name."""
    module, _, path = (READERS.get(name) or _plugged_in(name)).partition(":")
    found: Any = import_module(module)
    for step in path.split("."):
        found = getattr(found, step)
    return found


def read_answer(system: System, answer: Answer) -> Rows:
    """Return the rows of an answer of this system."""
    return read_rows(system.reader, answer, system.kind, system.parameters)


def read_rows(name: str, answer: Answer, kind: str, parameters: Mapping[str, Any]) -> Rows:
    """Read an answer with the reader of this name."""
    rows = checked_rows(kind, reader(name)(answer, kind, parameters))
    return _without_refusals(rows) if kind == "captioner" else rows


def _without_refusals(rows: Rows) -> Rows:
    """Leave out captions that decline; where none is left the answer is a refusal."""
    said = [row for row in rows if not is_refusal(str(row.get("caption") or ""))]
    if rows and not said:
        raise Refused(str(rows[0]["caption"]))
    return said


def _plugged_in(name: str) -> str:
    """Return the name of a plug-in's reader, which must lie in its entry point's module.

    A run from somebody else may name any function; what is not meant to read answers must not be called.
    """
    module, _, function = name.partition(":")
    known = {entry.value.partition(":")[0] for entry in entry_points(group="portrayal.systems")}
    if module in known and function.isidentifier() and function.startswith("read"):
        return name
    raise PortrayalError(
        f"no reader {name!r} of answers. Known: {', '.join(READERS)}. Install the package the system came from."
    )
