"""Readers of raw answers: pure functions by name, from bytes to rows.

The reader of a package that plugs in is named `module:function`, and is looked up only if that package is installed.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl

from portrayal.errors import PortrayalError
from portrayal.systems.core.base import Answer, Refused, System, Unreadable
from portrayal.systems.core.refusals import is_refusal
from portrayal.tables import ROWS

LONGEST_VECTOR = 1e100  # the length of a vector, in its own units: with more, sums of squares overflow
LARGEST_RANK = 2**63


def checked_rows(kind: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows with text that can be written."""
    columns = _columns(kind)
    checked = []
    for row in rows:
        tidy, name = dict(row), ""
        try:
            for name, check in columns:
                tidy[name] = check(row.get(name))
        except (TypeError, ValueError, OverflowError):
            raise Unreadable(f"its {name} is {_short(row.get(name))}") from None
        checked.append(tidy)
    return checked


@cache
def _columns(kind: str) -> Sequence[tuple[str, Callable[[Any], Any]]]:
    return [(name, _CHECKS[str(kind_of)]) for name, kind_of in ROWS[kind].items()]


def writable(text: str) -> str:
    """Return text that UTF-8 can write; a lone surrogate becomes U+FFFD."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return writable(value)


def _number(value: Any) -> float | None:
    if value is None:
        return None
    number = float(value)
    if isinstance(value, str | bool) or not math.isfinite(number):
        raise ValueError(value)
    return number


def _rank(value: Any) -> int | None:
    if value is not None and not abs(value) < LARGEST_RANK:
        raise ValueError(value)
    return value


def _vector(value: Any) -> list[float]:
    """Return a vector of finite, positive length."""
    if not 0 < math.hypot(*value) < LONGEST_VECTOR:
        raise ValueError(value)
    return value


def _short(value: Any) -> str:
    """Name a value in a few words, whatever it is."""
    if isinstance(value, list):
        return "a vector of length zero, or with NaN or infinity in it"
    return repr(value)[:60] if isinstance(value, str | int | float | None) else f"a {type(value).__name__}"


_CHECKS: dict[str, Callable[[Any], Any]] = {
    str(pl.String): _text,
    str(pl.Float64): _number,
    str(pl.Int64): _rank,
    str(pl.List(pl.Float64)): _vector,
}


Rows: TypeAlias = list[dict[str, Any]]
Reader: TypeAlias = Callable[[Answer, str, Mapping[str, Any]], Rows]

READERS: dict[str, str] = tomllib.loads((Path(__file__).parent / "readers.toml").read_text(encoding="utf-8"))


@cache
def reader(name: str) -> Reader:
    """Return the reader of this name."""
    module, _, path = (READERS.get(name) or _plugged_in(name)).partition(":")
    return attrgetter(path)(import_module(module))


def read_answer(system: System, answer: Answer) -> Rows:
    """Return the rows of an answer of this system."""
    return read_rows(system.reader, answer, system.kind, system.parameters)


def read_rows(name: str, answer: Answer, kind: str, parameters: Mapping[str, Any]) -> Rows:
    """Read an answer with the reader of this name, leaving out captions that decline."""
    rows = checked_rows(kind, reader(name)(answer, kind, parameters))
    if kind != "captioner":
        return rows
    captions = [row for row in rows if not is_refusal(str(row.get("caption") or ""))]
    if rows and not captions:
        raise Refused(str(rows[0]["caption"]))
    return captions


def _plugged_in(name: str) -> str:
    """Return the name of a plug-in's reader, refusing any other function."""
    module, _, function = name.partition(":")
    known = {entry.value.partition(":")[0] for entry in entry_points(group="portrayal.systems")}
    if module in known and function.isidentifier() and function.startswith("read"):
        return name
    raise PortrayalError(
        f"no reader {name!r} of answers. Known: {', '.join(READERS)}. Install the package the system came from."
    )
