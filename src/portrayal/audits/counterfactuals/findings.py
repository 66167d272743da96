"""Findings in words, from decided rows."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from portrayal.audits.counterfactuals.checks import not_checked
from portrayal.audits.counterfactuals.measures.axis import KEY, Axis, axes_of
from portrayal.audits.counterfactuals.measures.rows import FAMILY
from portrayal.audits.counterfactuals.settings import CounterfactualsSettings
from portrayal.reporting.words.sentences import Claim, Row, say
from portrayal.study.audit import Finding, Measured
from portrayal.text.formatting import listed, number, percent


def find_sentences(measured: Measured, settings: CounterfactualsSettings) -> list[Finding]:
    """Say, by system and axis, which labels follow the cue and what is refused."""
    labels = measured.tables["labels"]
    outside = labels.filter(~pl.col("shown"))["label"].unique().to_list()  # plain concepts are in no family
    spoken = ~pl.col("label").fill_null("").is_in(outside)
    tested = measured.results.filter(pl.col("measure").is_in(FAMILY))
    axes = [axis for attribute in settings.attributes for axis in axes_of(tested.filter(attribute=attribute))]
    return [one for axis in axes for one in say(measured, _claims(measured, axis), axis.where() & spoken)]


def _claims(measured: Measured, axis: Axis) -> Mapping[str, Claim]:
    (low, high), (to_low, to_high) = axis.ends(), axis.moves()
    absent = " that nobody gets at the neutral centre"

    def after(row: Row) -> str:
        checked = not_checked(measured.tables.get("checks"), axis)
        return " ".join(filter(None, [_by_start(measured.results, row), checked]))

    def claim(which: str, figure: str) -> Claim:
        label = f"{{label!r}}{which and ', a label' + which + ','}"
        return Claim(
            positive=f"gives {label} more often as a face is made {to_high}",
            negative=f"gives {label} more often as a face is made {to_low}",
            asks=f"gives a label{which} more often to faces made {low} or {high}",
            where=lambda row: repr(row["label"]) if row["label"] else "any label",
            after=after, figure=figure, always_where=True,
        )  # fmt: skip

    return {
        "slope": claim("", "slope relative to its rate at the neutral centre ="),
        "raw_slope": claim(absent, "change per unit of the cue ="),
        "refusal_slope": Claim(
            positive=f"refuses more often as a face is made {to_high}",
            negative=f"refuses more often as a face is made {to_low}",
            asks=f"refuses faces made {low} or {high} more often",
            after=lambda row: _refused_by_value(measured.results, row),
            figure="change of the share refused per unit of the cue =",
        ),
    }


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
