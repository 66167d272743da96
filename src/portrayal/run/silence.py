"""Silence as an outcome: unanswered questions, and whether of some people more than others.

A question is unanswered when it was refused, filtered, failed, empty or unreadable, or went out and nothing is known to have come
back (unknown); one not asked yet does not count.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from portrayal.stats import scipy
from portrayal.stats.decisions.decision import CONSTANT, NOT_MEASURABLE, NOT_TESTED, STILL
from portrayal.stats.estimate import Estimate
from portrayal.stats.intervals.intervals import over_tolerance, ratio_interval, wilson
from portrayal.stats.intervals.shares import share_over
from portrayal.stats.models.groups import LEAST
from portrayal.stats.permuted import DRAWS
from portrayal.stats.tests.people import level_test, summed_tails
from portrayal.stats.tests.proportions import newcombe
from portrayal.study.research_questions import DIFFERENCE as DIFFERENCE
from portrayal.tables import ANSWERED as ANSWERS
from portrayal.tables import ROWS, SETS, results, starts
from portrayal.text.formatting import listed, percent, plural

ANSWERED, UNANSWERED, LEVEL = "answered", "unanswered", "unanswered_level"
TESTS = (LEVEL, DIFFERENCE)  # in every family
FACETS = ("axis", "within", "status")
NOT_ASKED = ("planned",)
UNKNOWN = "unknown"
ALMOST_NOTHING = 0.1  # answered below this share: nothing can be said of the system
THE_OTHERS = "the others"
ALIKE = "whoever was asked about in several groups is answered alike in all of them"
_IS_ANSWERED = pl.col("status") == ANSWERED

Row = dict[str, Any]


def measure_silence(
    responses: pl.DataFrame,
    groups: pl.DataFrame,
    audit: str,
    counted: str = "people",
    seed: int = 0,
    tolerance: float = 0.1,
) -> pl.DataFrame:
    """Return Results rows: shares answered, by status and by group, their level and differences."""
    absent = [column for column in ("within", "without") if column not in groups.columns]
    groups = groups.with_columns(pl.lit(None, pl.String).alias(column) for column in absent)
    systems = questions(responses).group_by("system", maintain_order=True)
    rows = [row for (system,), mine in systems for row in _rows(system, mine, groups, counted, seed, tolerance)]
    return results(rows, facets=FACETS, audit=audit)


def questions(responses: pl.DataFrame) -> pl.DataFrame:
    """Return a row for each stimulus asked about: system, stimulus, content, repeat, status."""
    content = pl.col("content" if "content" in responses.columns else "stimulus").alias("content")
    columns = responses.select("system", "stimulus", content, "repeat", "status")
    each = columns.filter(starts(columns, columns.columns)).unique(maintain_order=True)
    is_set = any(next(iter(ROWS[kind])) in responses.columns for kind in SETS)
    answers = ANSWERS if is_set else (ANSWERED,)
    return each.with_columns(
        said=pl.col("status").is_in(answers),
        status=pl.col("status").replace({"filtered": "refused", "unparsable": "unreadable"}),
        asked=~pl.col("status").is_in(NOT_ASKED),
    )


def once(posed: pl.DataFrame) -> pl.DataFrame:
    """Return each question once: of stimuli of the same content one part unanswered counts."""
    question = ["system", "content", "repeat"]
    least = [pl.col(name).sort_by("said", "status").first().over(question) for name in ("said", "status")]
    return posed.with_columns(least).unique(question, keep="first", maintain_order=True)


def silent_systems(responses: pl.DataFrame) -> dict[str, str]:
    """Return the systems that answered nothing or almost nothing, each with the reason in words."""
    systems = questions(responses).group_by("system", maintain_order=True)
    reasons = {str(system): _reason(once(mine.filter("asked"))) for (system,), mine in systems}
    return {system: reason for system, reason in reasons.items() if reason}


def silent_in(results: pl.DataFrame) -> set[str]:
    """Return the systems of whom nothing can be said, from decided results."""
    rows = results.filter(pl.col("measure") == ANSWERED, pl.col("decision") == NOT_MEASURABLE)
    return set(rows["system"])


def with_counts(results: pl.DataFrame, responses: pl.DataFrame) -> pl.DataFrame:
    """Fill in the questions answered and refused where the measure left them out."""
    counts = [_IS_ANSWERED.sum().cast(pl.Int64), (pl.col("status") == "refused").sum().cast(pl.Int64)]
    posed = once(questions(responses)).group_by("system").agg(answered=counts[0], refused=counts[1])
    joined = results.join(posed, on="system", how="left", maintain_order="left")
    filled = {f"n_{name}": pl.coalesce(f"n_{name}", name) for name in ("answered", "refused")}
    return joined.with_columns(**filled).drop("answered", "refused")


def _reason(posed: pl.DataFrame) -> str | None:
    """Say why nothing can be said of a system, if so."""
    answered = _counts(posed)["n_answered"]
    if posed.is_empty():
        return "none of its questions has been asked"
    if not answered or posed["said"].sum() < ALMOST_NOTHING * posed.height:
        return f"it answered {answered or 'none'} of {posed.height:,} questions"
    return None


def _rows(
    system: Any, mine: pl.DataFrame, groups: pl.DataFrame, counted: str, seed: int, tolerance: float
) -> Iterator[Row]:
    every = mine.filter("asked")
    posed = once(every)
    counts, missing = _counts(posed), once(mine).height - posed.height
    common = {"system": system, "counted": "questions", "unit": "share", **counts, "n_missing": missing}
    reason = _reason(posed)
    silent = {"decision": NOT_MEASURABLE, "reason": reason} if reason else {}
    yield wilson(counts["n_answered"], posed.height).row(ANSWERED, **common, **silent)
    others = posed.filter(~_IS_ANSWERED)["status"].value_counts(sort=True).sort("status")
    for status, count in others.iter_rows():
        yield wilson(count, posed.height).row(UNANSWERED, status=status, **common)
    if others.height:
        alike = others["status"][0] if others.height == 1 else None
        yield _level(posed, groups, tolerance).row(LEVEL, status=alike, **common)
    if 0 < counts["n_answered"] < posed.height:
        compared = every.join(groups, on="stimulus").filter(pl.col("status").ne_missing(pl.col("without")))
        for (axis, within), part in compared.group_by("axis", "within", maintain_order=True):
            if (part["status"] != ANSWERED).any():  # else what was lost lies outside this axis
                about = {"system": system, "axis": axis, "within": within, "counted": counted}
                yield from _of_axis(part, {**about, "n_missing": 0}, seed)


def _level(posed: pl.DataFrame, groups: pl.DataFrame, tolerance: float) -> Estimate:
    """Return the share unanswered against the tolerance; questions about one unit are tied."""
    units = groups.select("stimulus", "unit").unique("stimulus", keep="first", maintain_order=True)
    tied = posed.join(units, on="stimulus", how="left").with_columns(unit=pl.coalesce("unit", "stimulus"))
    each = tied.group_by("unit").agg(lost=(~_IS_ANSWERED).sum(), asked=pl.len()).sort("unit")
    lost, asked = (each[name].to_numpy() for name in ("lost", "asked"))
    if (asked == 1).all():
        return over_tolerance(int(lost.sum()), len(lost), tolerance)
    return share_over(lost, asked, tolerance)


def _counts(posed: pl.DataFrame) -> Mapping[str, int]:
    return {f"n_{status}": int((posed["status"] == status).sum()) for status in (ANSWERED, "refused")}


def _of_axis(part: pl.DataFrame, about: Row, seed: int) -> Iterator[Row]:
    """Yield each group's share unanswered, and the worst served group's difference to the others."""
    lost = part.with_columns(lost=(~_IS_ANSWERED).cast(pl.Float64))
    cells = lost.group_by("unit", "group").agg(pl.col("lost").mean()).sort("group", "unit")
    shares = {}
    for (group,), mine in lost.group_by("group", maintain_order=True):
        units = shares[str(group)] = cells.filter(pl.col("group") == group)["lost"].to_numpy()
        yield wilson(units.sum(), len(units)).row(UNANSWERED, group=group, unit="share", **_counts(mine), **about)
    if len(shares) < 2:
        return
    first = dict(cells.group_by("group").agg(pl.col("unit").min()).iter_rows())  # settles ties, whatever the names are
    worst = max(shares, key=lambda group: (shares[group].mean(), str(first[group]), group))
    others = [group for group in shares if group != worst]
    versus = others[0] if len(others) == 1 else THE_OTHERS
    counted = part.filter(~_IS_ANSWERED)["status"].value_counts(sort=True)
    status = str(counted.sort("count", "status", descending=True)["status"][0])  # most unanswered questions' own
    # All groups are alike, whatever their names are.
    sizes = cells.group_by("group").agg(pl.len(), pl.col("lost").mean()).sort("len", "lost", "group")["group"]
    placed = cells.with_columns(place=pl.col("group").replace_strict(sizes, range(len(sizes)))).sort("place", "unit")
    place, unit = (placed[name].rank("dense").to_numpy().astype(int) - 1 for name in ("place", "unit"))
    values, scored = placed["lost"].to_numpy(), "score" in part.columns
    p = _trend(lost, seed) if scored else level_test(values, place, unit, seed)
    if not scored and p <= (1 + STILL) / (DRAWS + 1):  # as few as drawn permutations can give: counted instead
        p = min(
            p, summed_tails(values, place, unit if cells["unit"].n_unique() < cells.height else np.zeros_like(unit))
        )
    gap = replace(_gap(shares, cells, worst), p=p, note=_without_unknown(part, worst))
    if not np.isfinite(p):
        few = [group for group, units in shares.items() if len(units) < LEAST]
        alone = (
            f"too few {about['counted']} in {listed(few)}"
            if few and cells["unit"].n_unique() == cells.height
            else ALIKE
        )
        reason = CONSTANT if cells["lost"].n_unique() == 1 else alone
        gap = replace(gap, decision=NOT_TESTED, reason=reason)
    yield gap.row(DIFFERENCE, group=worst, versus=versus, status=status, unit="points", **_counts(part), **about)


def _trend(lost: pl.DataFrame, seed: int) -> float:
    """Return the p of a trend of silence along the units' scores, which are permuted."""
    each = lost.group_by("unit").agg(pl.col("lost", "score").mean()).sort("unit")
    silent, score = (each[name].to_numpy() - each[name].to_numpy().mean() for name in ("lost", "score"))
    if not (np.abs(silent).max() > STILL and np.abs(score).max() > STILL):
        return np.nan
    tested = scipy.stats.permutation_test(
        (score,), lambda drawn, axis: np.abs((drawn * silent).sum(axis=axis)), permutation_type="pairings", vectorized=True,
        n_resamples=DRAWS, alternative="greater", rng=seed,
    )  # fmt: skip
    return float(tested.pvalue)


def _without_unknown(part: pl.DataFrame, worst: str) -> str:
    """Return the bound of a difference whose unknown questions were answered after all."""
    unknown = int((part["status"] == UNKNOWN).sum())
    if not unknown:
        return ""
    sides = [
        part.filter(side)["status"].is_in([ANSWERED, UNKNOWN])
        for side in (pl.col("group") == worst, pl.col("group") != worst)
    ]
    least = float((1 - sides[0].mean()) - (1 - sides[1].mean()))  # type: ignore[operator]
    return (
        f"{plural(unknown, 'question')} unknown: were all of them answered, the difference would be {percent(least, 1)}"
    )


def _gap(shares: Mapping[str, np.ndarray], cells: pl.DataFrame, worst: str) -> Estimate:
    """Return the worst group's share less the others', within units where they allow it."""
    if cells["unit"].n_unique() == cells.height:
        rest = np.concatenate([units for group, units in shares.items() if group != worst])
        whole = np.concatenate([shares[worst], rest])
        return replace(newcombe(_share(shares[worst], whole), _share(rest, whole)), n=len(whole))
    inside = pl.col("group") == worst
    means = [pl.col("lost").filter(side).mean() for side in (inside, ~inside)]
    gaps = cells.group_by("unit").agg(gap=means[0] - means[1]).drop_nulls()["gap"].to_numpy()[:, None]
    low, high = ratio_interval(gaps, np.ones(gaps.shape))
    value = float(gaps.mean()) if len(gaps) else np.nan
    return Estimate(value, max(-1.0, float(low[0])), min(1.0, float(high[0])), n=len(gaps))


def _share(units: np.ndarray, whole: np.ndarray) -> Estimate:
    """Return the mean share unanswered: by Wilson where units were asked once, else by spread."""
    if np.isin(whole, (0.0, 1.0)).all():
        return wilson(units.sum(), len(units))
    low, high = ratio_interval(units[:, None], np.ones((len(units), 1)), null=float(whole.mean()))
    return Estimate(float(units.mean()), max(0.0, float(low[0])), min(1.0, float(high[0])), n=len(units))
