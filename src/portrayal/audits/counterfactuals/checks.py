"""Manipulation checks: nothing is found along an attribute whose check failed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from portrayal.audits.counterfactuals.measures.axis import KEY, PLACEBO, Axis, axes_of, with_poles
from portrayal.pictures.series.manifest import failures
from portrayal.stats.estimate import Estimate
from portrayal.text.formatting import listed, number

VERDICTS = {True: "passed", False: "missed", None: "not judged"}
ELSEWHERE = "The series were made elsewhere: no manipulation check was done here."


def failed_checks(checks: pl.DataFrame | None) -> dict[Axis, str]:
    """Return the axes of which a check failed, each with the reason in words."""
    if checks is None:
        return {}
    failed = with_poles(checks).filter(pl.col("passed") == False)  # noqa: E712
    reasons = {}
    for axis in axes_of(failed):
        missed = listed([_missed(row) for row in failed.filter(axis.where()).iter_rows(named=True)])
        reasons[axis] = f"its manipulation check failed ({missed})"
    return reasons


def not_checked(checks: pl.DataFrame | None, axis: Axis) -> str:
    """Say which checks of an axis were not done; nothing where all were."""
    if checks is None:
        return ELSEWHERE
    mine = with_poles(checks).filter(axis.where() | Axis(axis.attribute).where())
    if mine.is_empty():
        return ELSEWHERE
    skipped = mine.filter(pl.col("passed").is_null(), pl.col("value").is_null())
    names = [f"{name!r}" for name in skipped["check"]]
    return f"Not checked of the manipulated faces: {listed(names)}." if names else ""


def first_warnings(checks: pl.DataFrame | None) -> list[str]:
    """Return warnings of missed and undone checks."""
    if checks is None:
        return [ELSEWHERE]
    unchecked = (checks["attribute"] == PLACEBO).all()
    return [*([ELSEWHERE] if unchecked else []), *failures(checks)]


def check_rows(checks: pl.DataFrame | None) -> Iterator[dict[str, Any]]:
    """Yield the manipulation checks as results."""
    for row in [] if checks is None else with_poles(checks).iter_rows(named=True):
        verdict = VERDICTS[row["passed"]]
        needs = f"needs {row['needs']}: {verdict}" if row["needs"] else verdict
        about = {"system": "manipulator", **{name: row[name] for name in (*KEY, "check")}, "counted": "series"}
        note = "; ".join(filter(None, [needs, row["note"]]))
        estimate = Estimate(row["value"], row["low"], row["high"], n=row["n"], unit=row["unit"], note=note)
        yield estimate.row("manipulation_check", **about)


def _missed(row: Mapping[str, Any]) -> str:
    needed = f", where {row['needs']} is needed" if row["needs"] else ""
    return f"{row['check']!r}: {_apart(row['value'], row['needs'])} {row['unit']}{needed}"


def _apart(value: float | None, needs: str) -> str:
    """Write a value with enough decimals to tell it from the missed bound."""
    bounds = [float(word) for word in needs.split() if word.replace(".", "", 1).isdigit()]
    for places in (2, 3, 4, 5):
        if value is None or all(round(abs(value), places) != bound for bound in bounds):
            return number(value) if places == 2 else number(value, places)
    return number(value)
