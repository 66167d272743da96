"""The results table as it is read: one block per measure, each row with its interval drawn beside it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import polars as pl

from portrayal.report.words import is_missing

SHOWN = 300  # rows of one section in the page; the files have them all
OPEN = 40  # rows of one measure before the rest is folded
WIDTH = 132.0
EDGE = 6.0


def result_blocks(results: pl.DataFrame, anchor: str, cited: Collection[int] = ()) -> list[dict[str, Any]]:
    """Return the blocks of a results table, in the order the measures appear.

    A block holds the rows of one measure and unit. Rows a finding cites are always kept.
    """
    numbered = results.with_row_index("row")
    kept = numbered.filter((pl.col("row") < SHOWN) | pl.col("row").is_in(list(cited)))
    groups = kept.group_by(["measure", "unit"], maintain_order=True)
    return [_block(group, measure, unit, anchor) for (measure, unit), group in groups]


def _block(group: pl.DataFrame, measure: Any, unit: Any, anchor: str) -> dict[str, Any]:
    rows = group.to_dicts()
    notes = {row["note"] for row in rows}
    shared = notes.pop() if len(notes) == 1 and len(rows) > 1 else None
    scale = Scale.of(rows)
    shown = [_row(row, anchor, scale, shared) for row in rows]
    present = {
        column: any(not is_missing(row[column]) and row[column] != "" for row in rows)
        for column in ("system", "group", "contrast", "p", "p_adjusted", "low")
    }
    return {
        "measure": measure or "unnamed measure",
        "unit": unit,
        "note": shared,
        "rows": shown[:OPEN],
        "folded": shown[OPEN:],
        "has": present,
        "zero": scale.at(0.0),
    }


class Scale:
    """A straight scale from numbers to places in the drawn interval; it always holds zero."""

    def __init__(self, low: float, high: float) -> None:
        self.low, self.high = low, high

    @classmethod
    def of(cls, rows: list[dict[str, Any]]) -> Scale:
        """Return the scale that holds every value and both ends of every interval."""
        ends = [row[name] for row in rows for name in ("value", "low", "high") if not is_missing(row[name])]
        return cls(min([0.0, *ends]), max([0.0, *ends]))

    def at(self, value: float | None) -> float | None:
        """Return the place of a value, or nothing when there is none."""
        if is_missing(value):
            return None
        span = (self.high - self.low) or 1.0
        return round(EDGE + (WIDTH - 2 * EDGE) * (float(value) - self.low) / span, 2)  # type: ignore[arg-type]


def _row(row: Mapping[str, Any], anchor: str, scale: Scale, shared: str | None) -> dict[str, Any]:
    decisive = row["p_adjusted"] if row["p_adjusted"] is not None else row["p"]
    return {
        **row,
        "id": f"{anchor}-row-{row['row'] + 1}",
        "own_note": None if row["note"] == shared else row["note"],
        "at": scale.at(row["value"]),
        "from": scale.at(row["low"]),
        "to": scale.at(row["high"]),
        "clear": not is_missing(decisive) and decisive < 0.05,
    }
