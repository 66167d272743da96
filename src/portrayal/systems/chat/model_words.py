"""A language model's words, read into rows: tags, one caption, or a ranking."""

from __future__ import annotations

import re
from typing import Any

from portrayal.edges.sizes import parse_json
from portrayal.systems.core.base import Refused, Unreadable
from portrayal.systems.core.plain import rows_of
from portrayal.systems.core.refusals import is_refusal

Rows = list[dict[str, Any]]


def rows_of_text(text: str, kind: str) -> Rows:
    """Read a model's words as a caption, a ranking or tags."""
    text = text.strip()
    if kind == "captioner":
        text = _caption(text)
    if is_refusal(text):
        raise Refused(text)
    if kind == "captioner":
        return [{"caption": text}] if text else []
    if kind == "ranker" and text:
        documents = _array(text)
        if documents is None:  # prose is never cut into documents
            raise Unreadable(f"a ranker's words hold no JSON array of documents: {text[:60]!r}")
        return rows_of("ranker", documents)
    return [{"tag": tag, "confidence": None} for tag in _tags(text)] if text else []


def _caption(text: str) -> str:
    """Take a caption out of the object that structured output puts it into."""
    bare = text.removeprefix("```json").removeprefix("```").removesuffix("```").strip()
    if not bare.startswith("{"):
        return text
    try:
        answer = parse_json(bare)
    except ValueError:
        return text
    return answer["caption"].strip() if set(answer) == {"caption"} and isinstance(answer["caption"], str) else text


def _tags(text: str) -> list[str]:
    items = _array(text)
    if items is not None:
        for item in items:
            if not isinstance(item, str | int | float):
                raise Unreadable(f"the model's list holds a {type(item).__name__} where a word is expected")
        return [tag for item in items if (tag := str(item).strip())]
    parts = re.split(r"[,\n]", text.replace("```json", "").replace("```", ""))
    return [tag for part in parts if (tag := part.strip().strip("\"'[]").lstrip("-*0123456789. ").strip())]


def _array(text: str) -> list[Any] | None:
    """Return the JSON array in a text, or nothing where there is none."""
    start, end = text.find("["), text.rfind("]")
    if not 0 <= start < end:
        return None
    try:
        return list(parse_json(text[start : end + 1]))
    except ValueError:
        return None
