"""What the manipulation checks mean for results: nothing is found along an attribute whose check failed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from portrayal.report.words import listed, number
from portrayal.stats.estimate import Estimate

ELSEWHERE = "The series were made elsewhere: no manipulation check was done here."


def failed_checks(checks: pl.DataFrame | None) -> dict[str, str]:
    """Return the attributes of which a check failed, each with the reason in words."""
    if checks is None:
        return {}
    failed = checks.filter(pl.col("passed") == False)  # noqa: E712
    return {
        str(
            attribute
        ): f"its manipulation check failed ({listed([_told(row) for row in mine.iter_rows(named=True)])})"
        for (attribute,), mine in failed.group_by("attribute", maintain_order=True)
    }


def not_checked(checks: pl.DataFrame | None, attribute: str) -> str:
    """Say which checks of an attribute were not done; nothing where all were."""
    if checks is None:
        return ELSEWHERE
    skipped = checks.filter(
        pl.col("attribute") == attribute, pl.col("passed").is_null(), pl.col("value").is_null()
    )
    names = [f"{name!r}" for name in skipped["check"]]
    return f"Not checked of the manipulated faces: {listed(names)}." if names else ""


def check_rows(checks: pl.DataFrame | None) -> Iterator[dict[str, Any]]:
    """Yield the manipulation checks as results."""
    for row in [] if checks is None else checks.iter_rows(named=True):
        verdict = {True: "passed", False: "failed", None: "not judged"}[row["passed"]]
        needs = f"needs {row['needs']}: {verdict}" if row["needs"] else verdict
        about = {
            "system": "manipulator",
            "attribute": row["attribute"],
            "check": row["check"],
            "counted": "series",
        }
        note = "; ".join(filter(None, [needs, row["note"]]))
        found = Estimate(row["value"], row["low"], row["high"], n=row["n"], unit=row["unit"], note=note)
        yield found.row("manipulation_check", **about)


def _told(row: Mapping[str, Any]) -> str:
    needed = f", where {row['needs']} is needed" if row["needs"] else ""
    return f"{row['check']!r}: {number(row['value'])} {row['unit']}{needed}"
