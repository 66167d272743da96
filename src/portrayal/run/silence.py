"""Silence as an outcome: which questions each system left unanswered, of whom, and whether more of some than of others.

It is the same for every audit. A question counts as unanswered when it was refused, filtered, failed, empty or could not
be read; one that was not asked yet, or whose fate is unknown, does not count.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from portrayal.stats.decisions.decision import CONSTANT, NOT_MEASURABLE, NOT_TESTED
from portrayal.stats.estimate import Estimate
from portrayal.stats.intervals.intervals import ratio_interval, wilson
from portrayal.stats.tests.people import level_test
from portrayal.stats.tests.proportions import newcombe
from portrayal.tables import ANSWERED as ANSWERS
from portrayal.tables import results, starts

ANSWERED, UNANSWERED, DIFFERENCE = "answered", "unanswered", "unanswered_difference"
FACETS = ("axis", "within", "status")
NOT_ASKED = ("planned", "unknown")
ALMOST_NOTHING = 0.1  # answered below this share: nothing can be said of the system
THE_OTHERS = "the others"
ALIKE = "whoever was asked about in several groups is answered alike in all of them"

Row = dict[str, Any]


def measure_silence(
    responses: pl.DataFrame, groups: pl.DataFrame, audit: str, counted: str = "people", seed: int = 0
) -> pl.DataFrame:
    """Return Results rows: shares answered, by status, and by group where something was not; and their differences."""
    asked = questions(responses)
    absent = [column for column in ("within", "without") if column not in groups.columns]
    groups = groups.with_columns(pl.lit(None, pl.String).alias(column) for column in absent)
    rows = [
        row
        for (system,), mine in asked.group_by("system", maintain_order=True)
        for row in _rows(system, mine, groups, counted, seed)
    ]
    return results(rows, facets=FACETS, audit=audit)


def questions(responses: pl.DataFrame) -> pl.DataFrame:
    """Return one row for each question that was asked: system, stimulus, repeat and status."""
    told = responses.select("system", "stimulus", "repeat", "status")
    asked = told.filter(starts(told, told.columns)).unique(maintain_order=True)
    # Who lists what is seen has answered, be the list empty: see portrayal.tables.ANSWERED.
    said = ANSWERS if {"tag", "label"} & set(responses.columns) else (ANSWERED,)
    return asked.with_columns(
        said=pl.col("status").is_in(said),
        status=pl.col("status").replace({"filtered": "refused", "unparsable": "unreadable"}),
        asked=~pl.col("status").is_in(NOT_ASKED),
    )


def silent_systems(responses: pl.DataFrame) -> dict[str, str]:
    """Return the systems that answered nothing or almost nothing, each with the reason in words."""
    systems = questions(responses).group_by("system", maintain_order=True)
    reasons = {str(system): _silent(mine.filter("asked")) for (system,), mine in systems}
    return {system: reason for system, reason in reasons.items() if reason}


def silent_in(results: pl.DataFrame) -> set[str]:
    """Return the systems of whom nothing can be said, from decided results."""
    rows = results.filter(pl.col("measure") == ANSWERED, pl.col("decision") == NOT_MEASURABLE)
    return set(rows["system"])


def with_counts(results: pl.DataFrame, responses: pl.DataFrame) -> pl.DataFrame:
    """Fill in how many questions a row's system answered and refused, where the measure does not say it of the row."""
    asked = (
        questions(responses)
        .group_by("system")
        .agg(
            answered=(pl.col("status") == ANSWERED).sum().cast(pl.Int64),
            refused=(pl.col("status") == "refused").sum().cast(pl.Int64),
        )
    )
    joined = results.join(asked, on="system", how="left", maintain_order="left")
    return joined.with_columns(
        n_answered=pl.coalesce("n_answered", "answered"), n_refused=pl.coalesce("n_refused", "refused")
    ).drop("answered", "refused")


def _silent(asked: pl.DataFrame) -> str | None:
    answered = int((asked["status"] == ANSWERED).sum())
    if asked.is_empty():
        return "none of its questions has been asked"
    if not answered or asked["said"].sum() < ALMOST_NOTHING * asked.height:
        return f"it answered {answered or 'none'} of {asked.height:,} questions"
    return None


def _rows(system: Any, mine: pl.DataFrame, groups: pl.DataFrame, counted: str, seed: int) -> Iterator[Row]:
    asked = mine.filter("asked")
    counts = _counts(asked)
    common = {
        "system": system,
        "counted": "questions",
        "unit": "share",
        **counts,
        "n_missing": mine.height - asked.height,
    }
    reason = _silent(asked)
    silent = {"decision": NOT_MEASURABLE, "reason": reason} if reason else {}
    yield wilson(counts["n_answered"], asked.height).row(ANSWERED, **common, **silent)
    for status, count in (
        asked.filter(pl.col("status") != ANSWERED)["status"].value_counts(sort=True).sort("status").iter_rows()
    ):
        yield wilson(count, asked.height).row(UNANSWERED, status=status, **common)
    if 0 < counts["n_answered"] < asked.height:
        compared = asked.join(groups, on="stimulus").filter(pl.col("status").ne_missing(pl.col("without")))
        for (axis, within), part in compared.group_by("axis", "within", maintain_order=True):
            if (part["status"] != ANSWERED).any():  # else what was lost lies outside this axis
                about = {"system": system, "axis": axis, "within": within, "counted": counted}
                yield from _of_axis(part, about, seed)


def _counts(asked: pl.DataFrame) -> Mapping[str, int]:
    return {
        "n_answered": int((asked["status"] == ANSWERED).sum()),
        "n_refused": int((asked["status"] == "refused").sum()),
    }


def _of_axis(part: pl.DataFrame, about: Row, seed: int) -> Iterator[Row]:
    """Yield the share unanswered of each group, and the difference between the worst served and the others."""
    lost = part.with_columns(lost=(pl.col("status") != ANSWERED).cast(pl.Float64))
    cells = lost.group_by("unit", "group").agg(pl.col("lost").mean()).sort("group", "unit")
    shares = {}
    for (group,), mine in lost.group_by("group", maintain_order=True):
        units = cells.filter(pl.col("group") == group)["lost"].to_numpy()
        shares[str(group)] = units
        yield wilson(units.sum(), len(units)).row(
            UNANSWERED, group=group, unit="share", n_missing=0, **_counts(mine), **about
        )
    if len(shares) > 1:
        yield _difference(shares, cells, seed).row(
            DIFFERENCE, **_sides(shares), status=_commonest(part), unit="points", n_missing=0,
            **_counts(part), **about,
        )  # fmt: skip


def _worst(shares: Mapping[str, np.ndarray]) -> str:
    return max(shares, key=lambda group: (shares[group].mean(), group))


def _sides(shares: Mapping[str, np.ndarray]) -> dict[str, str]:
    worst = _worst(shares)
    others = [group for group in shares if group != worst]
    return {"group": worst, "versus": others[0] if len(others) == 1 else THE_OTHERS}


def _difference(shares: Mapping[str, np.ndarray], cells: pl.DataFrame, seed: int) -> Estimate:
    """Return the worst group's share less the others', its interval, and the p of all groups being alike."""
    worst, p = _worst(shares), _alike(cells, seed)
    gap = replace(_gap(shares, cells, worst), p=p)
    reason = CONSTANT if cells["lost"].n_unique() == 1 else ALIKE
    return gap if np.isfinite(p) else replace(gap, decision=NOT_TESTED, reason=reason)


def _gap(shares: Mapping[str, np.ndarray], cells: pl.DataFrame, worst: str) -> Estimate:
    """Return the difference: within units that are seen in several groups, else between units."""
    if cells["unit"].n_unique() < cells.height:
        return _paired(cells, worst)
    rest = np.concatenate([units for group, units in shares.items() if group != worst])
    gap = newcombe(*(_share(units, np.concatenate([shares[worst], rest])) for units in (shares[worst], rest)))
    return replace(gap, n=len(shares[worst]) + len(rest))


def _share(units: np.ndarray, whole: np.ndarray) -> Estimate:
    """Return the mean share unanswered of a group's units: by Wilson where every unit was asked once, else by their spread."""
    if np.isin(whole, (0.0, 1.0)).all():
        return wilson(units.sum(), len(units))
    low, high = ratio_interval(units[:, None], np.ones((len(units), 1)), null=float(whole.mean()))
    return Estimate(float(units.mean()), max(0.0, float(low[0])), min(1.0, float(high[0])), n=len(units))


def _alike(cells: pl.DataFrame, seed: int) -> float:
    """Return the p of all groups being alike. What the groups are called does not matter to what is drawn."""
    sizes = cells.group_by("group").agg(pl.len(), pl.col("lost").mean()).sort("len", "lost", "group")["group"]
    cells = cells.with_columns(place=pl.col("group").replace_strict(sizes, range(len(sizes)))).sort("place", "unit")
    group, unit = (cells[name].rank("dense").to_numpy().astype(int) - 1 for name in ("place", "unit"))
    return level_test(cells["lost"].to_numpy(), group, unit, seed)


def _paired(cells: pl.DataFrame, worst: str) -> Estimate:
    """Return the difference within units that are seen in several groups: each counts once, and is its own comparison."""
    inside = pl.col("group") == worst
    gaps = (
        cells.group_by("unit")
        .agg(gap=pl.col("lost").filter(inside).mean() - pl.col("lost").filter(~inside).mean())
        .drop_nulls()["gap"]
        .to_numpy()[:, None]
    )
    low, high = ratio_interval(gaps, np.ones(gaps.shape))
    value = float(gaps.mean()) if len(gaps) else np.nan
    return Estimate(value, max(-1.0, float(low[0])), min(1.0, float(high[0])), n=len(gaps))


def _commonest(part: pl.DataFrame) -> str:
    """Return what most unanswered questions came to."""
    counted = part.filter(pl.col("status") != ANSWERED)["status"].value_counts(sort=True)
    return str(counted.sort("count", "status", descending=True)["status"][0])
