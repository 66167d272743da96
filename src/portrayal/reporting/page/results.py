"""Results table for reading: one block per measure, with drawn intervals."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import polars as pl

from portrayal.stats.decisions.decision import DESCRIBED, is_found
from portrayal.tables import facets
from portrayal.text.formatting import is_missing, number, plain, unique

WIDTH, EDGE = 120.0, 6.0  # of a drawn interval
LONG = 36  # letters of a contrast; a longer one stands below its row, over the whole width
NAME = 16  # letters of a system's name; longer ones stand above their rows

Row = dict[str, Any]


def result_blocks(
    results: pl.DataFrame,
    anchor: str,
    named: Callable[[str], str],
    wanted: Collection[int] | None = None,
    behind: Sequence[str] = (),
) -> list[dict[str, Any]]:
    """Return the blocks of a results table, one per measure and unit.

    Only the `wanted` rows are kept, by their numbers, where some are named. `named` puts measures into words; `behind` is for
    each row the address of the answers behind it.
    """
    # What a row is about: its system, its facets and its groups.
    about = [
        name for name in ("system", *facets(results), "group", "versus") if results[name].null_count() < results.height
    ]
    rows = results.with_row_index("row")
    rows = rows if wanted is None else rows.filter(pl.col("row").is_in(list(wanted)))
    rows = rows.with_columns(answers=pl.lit(None, pl.String) if not behind else pl.Series(behind).gather(rows["row"]))
    groups = [group.to_dicts() for _, group in rows.group_by(["measure", "unit"], maintain_order=True)]
    ids = unique([block_id(anchor, group[0]["measure"] or "") for group in groups])
    return [
        {"id": name, "measure": named(group[0]["measure"] or "unnamed measure"), **_block(group, about, anchor)}
        for name, group in zip(ids, groups, strict=True)
    ]


def block_id(anchor: str, measure: str) -> str:
    """Return the address of a measure's rows."""
    return f"{anchor}-{re.sub(r'[^A-Za-z0-9_-]+', '-', measure)}"


def _block(rows: list[Row], about: Sequence[str], anchor: str) -> dict[str, Any]:
    # The names that all rows share; at least one stays in the rows.
    shared = {name: rows[0][name] for name in about if len({row[name] for row in rows}) == 1}
    if len(shared) == len(about):
        shared.pop(next((name for name in about if shared[name]), about[0]))
    naming = [name for name in about if name not in shared]
    long = next((name for name in naming[1:] if any(len(row[name] or "") > LONG for row in rows)), "")
    # Long names of systems stand above their rows where they come in runs.
    systems = [row["system"] or "" for row in rows]
    runs = 1 + sum(before != after for before, after in pairwise(systems))
    grouped = len(naming) > 1 and max(map(len, systems)) > NAME and 1 < runs <= len(systems) / 2
    # The parts of notes that every row has are said once.
    common = [part for part in _parts(rows[0]) if len(rows) > 1 and all(part in _parts(row) for row in rows)]
    scale = Scale.of(rows)
    present = {name for name in ("low", "p", "p_adjusted") if any(not is_missing(row[name]) for row in rows)}
    decided = {"decision"} if any(row["reason"] != DESCRIBED for row in rows) else set()
    return {
        "unit": rows[0]["unit"],
        "note": "; ".join(common),
        "about": [(plain(name), shared[name]) for name in about if shared.get(name)],
        "naming": [name for name in naming if name != long and not (grouped and name == "system")],
        "grouped": grouped,
        "below": long,
        "rows": [_row(row, anchor, scale, common) for row in rows],
        "has": present | decided,
        "zero": scale.at(0.0),
        "ends": (number(scale.low), number(scale.high)),
    }


def _row(row: Row, anchor: str, scale: Scale, common: Collection[str]) -> Row:
    places = {name: scale.at(row[end]) for name, end in (("at", "value"), ("start", "low"), ("end", "high"))}
    note = "; ".join(part for part in _parts(row) if part not in common)
    return {**row, **places, "id": f"{anchor}-row-{row['row'] + 1}", "own_note": note, "found": is_found(row)}


def _parts(row: Row) -> list[str]:
    """Return the parts of a note, which semicolons tell apart; those inside brackets do not."""
    return [part for part in re.split(r"; (?![^()]{0,300}\))", row["note"] or "") if part]


class Scale(NamedTuple):
    """A linear scale from numbers to places; it holds zero."""

    low: float
    high: float
    width: float
    edge: float

    @classmethod
    def of(cls, rows: Sequence[Row], width: float = WIDTH, edge: float = EDGE) -> Scale:
        """Return the scale that holds every value and both ends of every interval."""
        ends = [row[name] for row in rows for name in ("value", "low", "high") if not is_missing(row[name])]
        finite = [0.0, *filter(math.isfinite, ends)]
        return cls(min(finite), max(finite), width, edge)

    def at(self, value: float | None) -> float | None:
        """Return the place of a value; an edge where it is infinite."""
        if value is None or is_missing(value):
            return None
        inside = min(max(float(value), self.low), self.high)
        span = (self.high - self.low) or 1.0
        return round(self.edge + (self.width - 2 * self.edge) * (inside - self.low) / span, 2)
