"""Plain data as TOML text, in which a study made in Python is kept."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

from portrayal.errors import PortrayalError

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def toml_text(data: Mapping[str, Any]) -> str:
    """Return TOML that reads back as the data; None is left out."""
    return "\n".join(_lines(data, ())) + "\n"


def _lines(table: Mapping[str, Any], place: tuple[str, ...]) -> Iterator[str]:
    """Yield plain values first: in TOML whatever follows a table's head belongs to it."""
    inner = {}
    for key, value in table.items():
        if isinstance(value, Mapping) or _is_tables(value):
            inner[key] = value
        elif value is not None:
            yield f"{_key(key)} = {_value(value, (*place, str(key)))}"
    for key, value in inner.items():
        path = (*place, str(key))
        head = ".".join(map(_key, path))
        for one in [value] if isinstance(value, Mapping) else value:
            yield f"\n[{head}]" if isinstance(value, Mapping) else f"\n[[{head}]]"
            yield from _lines(one, path)


def _is_tables(value: Any) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(isinstance(item, Mapping) for item in value)


def _key(key: Any) -> str:
    return str(key) if _BARE.fullmatch(str(key)) else _quoted(str(key))


def _value(value: Any, place: tuple[str, ...]) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else str(value)
    if isinstance(value, str | PurePath):
        return _quoted(str(value))
    if isinstance(value, list | tuple):
        return f"[{', '.join(_value(item, place) for item in value)}]"
    if isinstance(value, Mapping):  # inside a mixed list
        inside = (f"{_key(key)} = {_value(item, place)}" for key, item in value.items() if item is not None)
        return f"{{{', '.join(inside)}}}"
    raise PortrayalError(
        f"{'.'.join(place)} is a {type(value).__name__}, which a study cannot keep. Expected a text, a number, true or false,"
        " a list or a dict of them."
    )


def _quoted(text: str) -> str:
    """Quote as JSON does, which TOML reads the same way; DEL is escaped too."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
