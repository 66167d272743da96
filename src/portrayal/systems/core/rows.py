"""Checks on rows of answers: text that can be written, numbers that are numbers.

Every reader's rows pass here, whatever system they come from. Half of a surrogate pair becomes U+FFFD; what else a table
could not hold or a measure not compute with makes the answer unreadable.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import polars as pl

from portrayal.systems.core.base import Unreadable
from portrayal.tables import ROWS

LONGEST_VECTOR = 1e100  # the length of a vector, in its own units: with more, sums of squares overflow
LARGEST_RANK = 2**63


def checked_rows(kind: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows with text that can be written."""
    columns = _columns(kind)
    return [_checked(row, columns) for row in rows]


@cache
def _columns(kind: str) -> Sequence[tuple[str, Callable[[Any], Any]]]:
    return [(name, _CHECKS[str(kind_of)]) for name, kind_of in ROWS[kind].items()]


def _checked(row: Mapping[str, Any], columns: Sequence[tuple[str, Callable[[Any], Any]]]) -> dict[str, Any]:
    tidy, name = dict(row), ""
    try:
        for name, check in columns:
            tidy[name] = check(row.get(name))
    except (TypeError, ValueError, OverflowError):
        raise Unreadable(f"its {name} is {_short(row.get(name))}") from None
    return tidy


def writable(text: str) -> str:
    """Return text that UTF-8 can write; a lone surrogate is replaced.

    Examples
    --------
    >>> writable("a \\ud83d b") == "a \\ufffd b"
    True
    """
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
