"""Two tables held against each other cell by cell: what differs is named by row and column."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

ROUNDING = 1e-9  # of a number's size: what another processor's arithmetic may give
NAMING = ("system", "measure", "group", "versus", "stimulus", "repeat")


@dataclass(frozen=True)
class Compared:
    """What differs, a line each, and how many numbers are the same only up to rounding."""

    lines: list[str]
    rounded: int = 0


def compare_tables(name: str, packed: pl.DataFrame, computed: pl.DataFrame) -> Compared:
    """Hold a table that was kept against the one that was computed anew."""
    for column in [*computed.columns, *packed.columns]:
        if (column in packed.columns) != (column in computed.columns):
            side = "not kept" if column in computed.columns else "kept, and not computed"
            return Compared([f"{name}: the column {column!r} is {side}"])
    if packed.height != computed.height:
        return Compared([f"{name}: {packed.height:,} rows were kept and {computed.height:,} computed"])
    lines: list[str] = []
    rounded = 0
    for column in computed.columns:
        rows, near = _different(packed[column], computed[column])
        rounded += near
        lines += _lines(name, column, rows, packed, computed)
    return Compared(lines, rounded)


def _different(packed: pl.Series, computed: pl.Series) -> tuple[list[int], int]:
    """Return the rows in which two columns differ, and how many numbers differ by rounding alone."""
    if packed.dtype.is_float() and computed.dtype.is_float():
        one, other = (column.fill_null(float("nan")).to_numpy() for column in (packed, computed))
        same = (one == other) | (np.isnan(one) & np.isnan(other))
        near = np.abs(one - other) <= ROUNDING * np.maximum(np.abs(one), np.abs(other))
        nulls = packed.is_null().to_numpy() == computed.is_null().to_numpy()
        return np.flatnonzero(~((same | near) & nulls)).tolist(), int((near & ~same).sum())
    pairs = zip(packed.to_list(), computed.to_list(), strict=True)
    return [row for row, (one, other) in enumerate(pairs) if not _same(one, other)], 0


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return one == other or (one != one and other != other)
    return type(one) is type(other) and bool(one == other)


def _lines(name: str, column: str, rows: list[int], packed: pl.DataFrame, computed: pl.DataFrame) -> Iterator[str]:
    for row in rows:
        about = [str(computed[key][row]) for key in NAMING if key in computed.columns and computed[key][row]]
        said = f" ({', '.join(about)})" if about else ""
        values = f"{_shown(packed[column][row])} was kept and {_shown(computed[column][row])} computed"
        yield f"{name}: row {row}{said}, column {column}: {values}"


def _shown(value: Any) -> str:
    text = repr(value.to_list() if isinstance(value, pl.Series) else value)
    return text if len(text) <= 80 else f"{text[:77]}..."
