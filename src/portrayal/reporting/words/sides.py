"""Opposite sides of one fact, which are one finding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isclose
from typing import Any

import polars as pl

from portrayal.stats.decisions.decision import FOUND
from portrayal.study.audit import Finding
from portrayal.tables import facets

STILL = 1e-9  # what rounding leaves of a sum


def told_once(findings: Sequence[Finding], results: pl.DataFrame, sides: Mapping[str, str]) -> list[Finding]:
    """Return the findings without those that tell another from its other side.

    `sides` has for each measure the column whose values are the sides. Of shares of one whole, whose changes sum to 0, those are told
    that move as the surest does; elsewhere the exact mirror of a rising row is named in its sentence.
    """
    again: set[int] = set()
    mirrors: dict[int, str] = {}
    for measure, column in sides.items():
        keys = [name for name in ("system", *facets(results), "group", "versus", "unit") if name != column]
        rows = results.with_row_index("row").filter(pl.col("value").is_not_null(), measure=measure)
        for _, part in rows.group_by(keys, maintain_order=True) if column in rows.columns else ():
            found = part.filter(decision=FOUND).to_dicts()
            if part.height > 2 and isclose(part["value"].sum(), 0.0, abs_tol=STILL):
                surest = min(found, key=lambda row: (row["p"], row["value"] < 0), default=None)
                again |= {row["row"] for row in found if surest and row["value"] * surest["value"] < 0}
                continue
            rising = [row for row in found if row["value"] > 0]
            for row in (one for one in found if one["value"] < 0):
                if mirror := next((other for other in rising if _mirrors(row, other)), None):
                    again.add(row["row"])
                    mirrors[mirror["row"]] = f" {row[column]!r} is its exact opposite."
    told = [finding for finding in findings if finding.row not in again]
    return [replace(one, sentence=one.sentence + mirrors.get(one.row, "")) for one in told]


def _mirrors(row: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Tell whether value and interval of two rows are each other's opposite."""
    ends = (("value", "value"), ("high", "low"), ("low", "high"))
    return all(isclose(row[one], -other[two], abs_tol=STILL) for one, two in ends)
