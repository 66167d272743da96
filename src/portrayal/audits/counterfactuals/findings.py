"""Findings in words, from decided rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import polars as pl

from portrayal.audits.counterfactuals.checks import not_checked
from portrayal.audits.counterfactuals.measures.axis import KEY, Axis, axes_of
from portrayal.audits.counterfactuals.measures.rows import FAMILY, FEWEST, NO_LABEL, SCORE
from portrayal.audits.counterfactuals.settings import CounterfactualsSettings
from portrayal.reporting.words.sentences import Claim, Row, say, written
from portrayal.stats.decisions.decision import NOT_MEASURABLE
from portrayal.study.audit import Finding, Measured
from portrayal.text.formatting import listed, number, percent

HIGHER = "higher score for a label"


def find_sentences(measured: Measured, settings: CounterfactualsSettings) -> list[Finding]:
    """Say, by system and axis, which labels follow the cue and what is refused."""
    labels = measured.tables["labels"]
    outside = labels.filter(~pl.col("shown"))["label"].unique().to_list()  # plain concepts are in no family
    spoken = ~pl.col("label").fill_null("").is_in(outside)
    tested = measured.results.filter(pl.col("measure").is_in(FAMILY))
    axes = [axis for attribute in settings.attributes for axis in axes_of(tested.filter(attribute=attribute))]
    return [one for axis in axes for one in _of_axis(measured, axis, spoken)]


def _of_axis(measured: Measured, axis: Axis, spoken: pl.Expr) -> list[Finding]:
    """Return the sentences of an axis, one for a system that never changes its labels."""
    mine = measured.results.with_row_index("row").filter(axis.where())
    open_still = pl.col("p").is_not_null() | (pl.col("decision") == NOT_MEASURABLE) | (pl.col("reason") == NO_LABEL)
    moving = mine.filter(pl.col("measure").is_in(FAMILY), open_still)
    still = mine.filter(
        pl.col("n") >= FEWEST, ~pl.col("system").is_in(moving["system"].implode()), measure="any_flip", value=0.0
    )
    low, high = axis.ends()
    same = [
        Finding(
            f"It was not tested whether {measured.shown(row['system'])} follows the cue: it gives each of {row['n']} people the same"
            f" labels at every step, whether faces are made {low} or {high}.", row["row"]
        )
        for row in still.iter_rows(named=True)
    ]  # fmt: skip
    constant = pl.col("system").is_in(still["system"].implode()) & (pl.col("measure") == "raw_slope")
    return [*say(measured, _claims(measured, axis), axis.where() & spoken & ~constant), *same]


def _claims(measured: Measured, axis: Axis) -> Mapping[str, Claim]:
    low, high = axis.ends()

    def clause(direction: str) -> Callable[[Row], str]:
        verbs = {True: "scores {label!r} higher", False: "gives {label!r} more often"}
        way = f"as a face is made {direction}"
        return lambda row: f"{verbs[row['unit'] == SCORE].format(**row)} {way} ({_at_ends(measured, axis, row)})"

    def after(row: Row) -> str:
        checked = not_checked(measured.tables.get("checks"), axis)
        return " ".join(filter(None, [_beside(measured, row), _by_start(measured.results, row), checked]))

    return {
        "raw_slope": Claim(
            positive=clause(high),
            negative=clause(low),
            asks=lambda row: f"gives a {HIGHER if row['unit'] == SCORE else 'label more often'} to faces made {low} or {high}",
            where=lambda row: repr(row["label"]) if row["label"] else "any label",
            after=after, figure="change per unit of the cue =", always_where=True,
        ),
        "refusal_slope": Claim(
            positive=f"refuses more often as a face is made {high}",
            negative=f"refuses more often as a face is made {low}",
            asks=f"refuses faces made {low} or {high} more often",
            after=lambda row: _refused_by_value(measured.results, row),
            figure="change of the share refused per unit of the cue =",
        ),
    }  # fmt: skip


def _at_ends(measured: Measured, axis: Axis, row: Row) -> str:
    """Say a label's share, or mean score, at both ends."""
    rates = measured.tables["rates"].filter(axis.where(), system=row["system"], label=row["label"]).sort("value")
    column, write = ("score", lambda value: number(value, 2)) if row["unit"] == SCORE else ("share", percent)
    first, last = (write(rates[column][place]) for place in (0, -1))
    low, high = ("feminine", "masculine") if axis.attribute == "gender" else axis.poles or ("negative", "positive")
    return f"{first} at the {low} end, {last} at the {high}"


def _beside(measured: Measured, row: Row) -> str:
    """Say presence beside scores, and the ratio where the centre bears one."""
    same = [pl.col(name).eq_missing(pl.lit(row[name])) for name in ("system", *KEY, "label")]
    beside = {one["measure"]: one for one in measured.results.filter(*same).iter_rows(named=True)}
    texts, slope = [], beside.get("slope")
    if shares := beside.get("presence_slope"):
        texts.append(f"The share of faces that get it changes by {written(shares)[0]} per unit.")
    if slope and slope["low"] is not None and measured.tables["labels"].filter(*same)["at_centre"][0] >= FEWEST:
        value, ends = written(slope)
        texts.append(f"Relative to its rate at the neutral centre its slope is {value} ({ends}).")
    return " ".join(texts)


def _refused_by_value(results: pl.DataFrame, row: Row) -> str:
    """Say what share was refused at the two ends and at the centre."""
    same = [pl.col(name).eq_missing(pl.lit(row[name])) for name in ("system", *KEY)]
    shares = results.filter(pl.col("measure") == "refused", *same).select("step", "value").rows()
    (first, low), (_, centre), (last, high) = shares[0], shares[len(shares) // 2], shares[-1]
    ends = [f"{percent(low)} at {number(float(first))}", f"{percent(high)} at {number(float(last))}"]
    refused = listed([ends[0], f"{percent(centre)} at the centre", ends[1]])
    return f"Refused: {refused}; the other measures speak only of what was answered."


def _by_start(results: pl.DataFrame, row: Row) -> str:
    """Say where slopes of two starting groups have opposite signs."""
    same = (pl.col(name).eq_missing(pl.lit(row[name])) for name in ("system", *KEY, "label"))
    mine = results.filter(*same, measure="slope_by_start").drop_nulls("value").select("group", "value", "n")
    if mine.is_empty() or mine["value"].min() >= 0 or mine["value"].max() <= 0:  # type: ignore[operator]
        return ""
    slopes = [f"{number(value)} among {n} who start as {group}" for group, value, n in mine.iter_rows()]
    return f"It has not one sign: {listed(slopes)}; so it may follow how much was edited rather than the cue."
