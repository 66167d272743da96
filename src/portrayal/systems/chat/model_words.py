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
    """Read a model's words as a caption, a ranking or tags.

    Examples
    --------
    >>> [row["tag"] for row in rows_of_text('```json\\n["woman", "tree"]\\n```', "tagger")]
    ['woman', 'tree']
    >>> rows_of_text('{"caption": "A woman by a tree."}', "captioner")
    [{'caption': 'A woman by a tree.'}]
    """
    text = text.strip()
    if kind == "captioner":
        text = _caption(text)
    if is_refusal(text):
        raise Refused(text)
    if kind == "captioner":
        return [{"caption": text}] if text else []
    if kind == "ranker":
        return _ranking(text)
    return [{"tag": tag, "confidence": None} for tag in _tags(text)]


def _caption(text: str) -> str:
    """Take a caption out of the object that structured output puts it into."""
    bare = text.removeprefix("```json").removeprefix("```").removesuffix("```").strip()
    if not bare.startswith("{"):
        return text
    try:
        held = parse_json(bare)
    except ValueError:
        return text
    return held["caption"].strip() if set(held) == {"caption"} and isinstance(held["caption"], str) else text


def _ranking(text: str) -> Rows:
    """Read a JSON array of documents; prose is never cut into documents."""
    if not text:
        return []
    listed = _array(text)
    if listed is None:
        raise Unreadable(f"a ranker's words hold no JSON array of documents: {text[:60]!r}")
    return rows_of("ranker", listed)


def _tags(text: str) -> list[str]:
    listed = _array(text)
    if listed is not None:
        return [tag for item in listed if (tag := _word(item))]
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


def _word(item: Any) -> str:
    """Return a word or a number of a model's list as text."""
    if not isinstance(item, str | int | float):
        raise Unreadable(f"the model's list holds a {type(item).__name__} where a word is expected")
    return str(item).strip()
