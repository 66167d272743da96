"""What a study found, in sentences over decided rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import polars as pl

from portrayal.audits.counterfactuals.checks import not_checked
from portrayal.audits.counterfactuals.ends import ends
from portrayal.audits.counterfactuals.settings import CounterfactualsSettings
from portrayal.report.sentences import Claim, Row, say
from portrayal.report.words import listed, number
from portrayal.runs.audit import Finding, Measured

ONE_EACH = pl.col("measure") == "slope_by_start"


def find_sentences(measured: Measured, settings: CounterfactualsSettings) -> list[Finding]:
    """Say, for each system and attribute, which labels follow the cue; flips and checks are no findings."""
    labels = measured.tables["labels"]
    outside = labels.filter(~pl.col("shown"))["label"].unique().to_list()  # plain concepts are in no family
    spoken = ~pl.col("label").fill_null("").is_in(outside)
    return [
        finding
        for attribute in settings.attributes
        for finding in say(
            measured,
            _claims(measured, attribute, settings.poles),
            (pl.col("attribute") == attribute) & spoken,
        )
    ]


def _claims(measured: Measured, attribute: str, poles: Sequence[str]) -> Mapping[str, Claim]:
    low, high = ends(attribute, poles)
    absent = " that nobody gets at the neutral centre"

    def claim(which: str, figure: str) -> Claim:
        return Claim(
            positive=f"gives {{label!r}}{which and ', a label' + which + ','} more often as a face is made {high}",
            negative=f"gives {{label!r}}{which and ', a label' + which + ','} more often as a face is made {low}",
            asks=f"gives a label{which} more often to faces made {low} or {high}",
            where=lambda row: repr(row["label"]) if row["label"] else "any label",
            after=_after(measured, attribute),
            figure=figure,
            always_where=True,
        )

    return {
        "slope": claim("", "slope relative to its rate at the neutral centre ="),
        "raw_slope": claim(absent, "change per unit of the cue ="),
    }


def _after(measured: Measured, attribute: str) -> Callable[[Row], str]:
    """Return what further is said of a row that was found: groups that differ in sign, and checks that were not done."""
    checked = not_checked(measured.tables.get("checks"), attribute)
    return lambda row: " ".join(filter(None, [_by_start(measured.results, row), checked]))


def _by_start(results: pl.DataFrame, row: Row) -> str:
    """Say so where the slope has one sign among those who start in one group and the other sign among others."""
    mine = results.filter(
        ONE_EACH, *(pl.col(name) == row[name] for name in ("system", "attribute", "label"))
    ).drop_nulls("value")
    if mine.is_empty() or mine["value"].min() >= 0 or mine["value"].max() <= 0:  # type: ignore[operator]
        return ""
    told = [
        f"{number(value)} among {n} who start as {group}"
        for group, value, n in mine.select("group", "value", "n").iter_rows()
    ]
    return f"It has not one sign: {listed(told)}; so it may follow how much was edited rather than the cue."
