"""Results table for reading: one block per measure, with drawn intervals."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import Any

import polars as pl

from portrayal.stats.decisions.decision import DESCRIBED, is_found
from portrayal.tables import facets
from portrayal.text.formatting import is_missing, number, plain, unique

WIDTH = 120.0
EDGE = 6.0
LONG = 36  # letters of a contrast; a longer one stands below its row, over the whole width
NAME = 16  # letters of a system's name; longer ones stand above their rows
NAMING = ("system", "group", "versus")  # the columns that say what a row is about, beside its facets

NAMELESS: Mapping[str, str] = {}

Row = dict[str, Any]


def result_blocks(
    results: pl.DataFrame,
    anchor: str,
    wanted: Collection[int] | None = None,
    names: Mapping[str, str] = NAMELESS,
    behind: Sequence[str] = (),
) -> list[dict[str, Any]]:
    """Return the blocks of a results table, one per measure and unit.

    Only the `wanted` rows are kept, by their numbers, where some are named. `names` puts measures into words; `behind` is for
    each row the address of the answers behind it.
    """
    about = [name for name in (NAMING[0], *facets(results), *NAMING[1:]) if results[name].null_count() < results.height]
    rows = results.with_row_index("row")
    rows = rows if wanted is None else rows.filter(pl.col("row").is_in(list(wanted)))
    rows = rows.with_columns(answers=pl.lit(None, pl.String) if not behind else pl.Series(behind).gather(rows["row"]))
    groups = rows.group_by(["measure", "unit"], maintain_order=True)
    blocks = [_block(group.to_dicts(), measure, unit, names, about, anchor) for (measure, unit), group in groups]
    ids = unique([block_id(anchor, block["name"] or "") for block in blocks])
    return [{**block, "id": name} for block, name in zip(blocks, ids, strict=True)]


def block_id(anchor: str, measure: str) -> str:
    """Return the address of a measure's rows."""
    return f"{anchor}-{re.sub(r'[^A-Za-z0-9_-]+', '-', measure)}"


def _block(
    rows: list[Row], measure: Any, unit: Any, names: Mapping[str, str], about: Sequence[str], anchor: str
) -> dict[str, Any]:
    shared = _shared(rows, about)
    naming = [name for name in about if name not in shared]
    long = next((name for name in naming[1:] if any(len(row[name] or "") > LONG for row in rows)), "")
    grouped = ["system"] if len(naming) > 1 and _in_runs([row["system"] or "" for row in rows]) else []
    common = _common(rows)
    scale = Scale.of(rows)
    shown = [_row(row, anchor, scale, common) for row in rows]
    return {
        "name": measure,
        "measure": names.get(measure) or plain(measure or "unnamed measure"),
        "unit": unit,
        "note": "; ".join(common),
        "about": [(plain(name), shared[name]) for name in about if shared.get(name)],
        "naming": [name for name in naming if name not in {long, *grouped}],
        "grouped": bool(grouped),
        "below": long,
        "rows": shown,
        "has": {
            **{name: _any(rows, name) for name in ("low", "p", "p_adjusted")},
            "decision": any(row["reason"] != DESCRIBED for row in rows),
        },
        "zero": scale.at(0.0),
        "ends": (number(scale.low), number(scale.high)),
    }


def _shared(rows: Sequence[Row], about: Sequence[str]) -> dict[str, Any]:
    """Return the names that all rows share; at least one stays in the rows."""
    same = {name: rows[0][name] for name in about if len({row[name] for row in rows}) == 1}
    if all(name in same for name in about):
        same.pop(next((name for name in about if same[name]), about[0]))
    return same


def _in_runs(systems: Sequence[str]) -> bool:
    """Tell whether long names of systems stand in runs."""
    changes = sum(before != after for before, after in pairwise(systems))
    return max(map(len, systems)) > NAME and changes > 0 and 2 * (changes + 1) <= len(systems)


def _parts(row: Row) -> list[str]:
    """Return the parts of a note, which semicolons tell apart; those inside brackets do not."""
    return [part for part in re.split(r"; (?![^()]{0,300}\))", row["note"] or "") if part]


def _common(rows: Sequence[Row]) -> list[str]:
    """Return the parts of notes that every row has, so that they are said once."""
    if len(rows) < 2:
        return []
    return [part for part in _parts(rows[0]) if all(part in _parts(row) for row in rows)]


def _any(rows: Sequence[Row], name: str) -> bool:
    return any(not is_missing(row[name]) for row in rows)


class Scale:
    """A linear scale from numbers to places; it holds zero."""

    def __init__(self, low: float, high: float, width: float = WIDTH, edge: float = EDGE) -> None:
        self.low, self.high, self.width, self.edge = low, high, width, edge

    @classmethod
    def of(cls, rows: Sequence[Row], width: float = WIDTH, edge: float = EDGE) -> Scale:
        """Return the scale that holds every value and both ends of every interval."""
        ends = [row[name] for row in rows for name in ("value", "low", "high") if not is_missing(row[name])]
        finite = [end for end in ends if math.isfinite(end)]
        return cls(min([0.0, *finite]), max([0.0, *finite]), width, edge)

    def at(self, value: float | None) -> float | None:
        """Return the place of a value; an edge where it is infinite."""
        if value is None or is_missing(value):
            return None
        inside = min(max(float(value), self.low), self.high)
        span = (self.high - self.low) or 1.0
        return round(self.edge + (self.width - 2 * self.edge) * (inside - self.low) / span, 2)


def _row(row: Row, anchor: str, scale: Scale, common: Collection[str]) -> Row:
    return {
        **row,
        "id": f"{anchor}-row-{row['row'] + 1}",
        "own_note": "; ".join(part for part in _parts(row) if part not in common),
        "at": scale.at(row["value"]),
        "start": scale.at(row["low"]),
        "end": scale.at(row["high"]),
        "found": is_found(row),
    }
