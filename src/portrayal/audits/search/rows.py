"""Rows of the Results table, as the parts of this audit write them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from portrayal.audits.search.measures.slope import Slope

INSTRUMENT = "instrument"  # the system column of rows that are about the ruler, not about a ranker


def row(
    measure: str,
    system: str,
    estimate: Sequence[float],
    n: int,
    unit: str,
    *,
    group: str = "",
    contrast: str = "",
    p: float | None = None,
    missing: int = 0,
    note: str = "",
) -> dict[str, Any]:
    """Return one row; `estimate` is the value and the ends of its interval."""
    value, low, high = map(finite, estimate)
    return {
        "audit": "search",
        "system": system,
        "measure": measure,
        "group": group,
        "contrast": contrast,
        "value": value,
        "low": low,
        "high": high,
        "p": finite(p),
        "n": n,
        "n_missing": missing,
        "unit": unit,
        "note": note,
    }


def slope_row(
    measure: str, system: str, group: str, slope: Slope, note: str = "", contrast: str = ""
) -> dict[str, Any]:
    """Return the row of a slope."""
    return row(
        measure,
        system,
        (slope.value, slope.low, slope.high),
        slope.n,
        "slope of list on query genderedness, queries",
        group=group,
        contrast=contrast,
        p=slope.p,
        missing=slope.n_missing,
        note=note or slope.note,
    )


def finite(value: float | None) -> float | None:
    """Return the number, or null where there is none."""
    return float(value) if value is not None and math.isfinite(value) else None
