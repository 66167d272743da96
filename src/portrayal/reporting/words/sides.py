"""Opposite sides of one fact, which are one finding: what is named more often here is named less often there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isclose

import polars as pl

from portrayal.stats.decisions.decision import FOUND
from portrayal.study.audit import Finding
from portrayal.tables import facets

STILL = 1e-9  # what rounding leaves of a sum


def told_once(findings: Sequence[Finding], results: pl.DataFrame, sides: Mapping[str, str]) -> list[Finding]:
    """Return the findings without those that tell another from its other side.

    `sides` has for each measure the column whose values are the sides. Of shares of one whole, whose changes sum to 0, those that
    rise are told; elsewhere a row that is the exact mirror of another is not told again.
    """
    again = {row for measure, column in sides.items() for row in _other_sides(results, measure, column)}
    return [finding for finding in findings if finding.row not in again]


def _other_sides(results: pl.DataFrame, measure: str, column: str) -> set[int]:
    """Return the rows of a measure that were found and fall where another side rises."""
    keys = [name for name in ("system", *facets(results), "group", "versus", "unit") if name != column]
    rows = results.with_row_index("row").filter(pl.col("value").is_not_null(), measure=measure)
    if column not in rows.columns:
        return set()
    again = set()
    for _, part in rows.group_by(keys, maintain_order=True):
        found = part.filter(decision=FOUND).select("row", "value", "low", "high").rows()
        rising = [row for row in found if row[1] > 0]
        whole = part.height > 1 and isclose(part["value"].sum(), 0.0, abs_tol=STILL)
        again |= {row[0] for row in found if row[1] < 0 and any(whole or _mirrors(row, other) for other in rising)}
    return again


def _mirrors(row: tuple[float, ...], other: tuple[float, ...]) -> bool:
    """Tell whether value and interval of two rows are each other's opposite."""
    (_, value, low, high), (_, *turned) = row, other
    return all(isclose(one, -two, abs_tol=STILL) for one, two in zip((value, high, low), turned, strict=True))
