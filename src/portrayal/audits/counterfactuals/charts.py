"""The figures of the counterfactuals audit: sensitivity curves (Figure 5), strips (Figure 6), slopes with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from portrayal.audits.counterfactuals.measures.measure import with_decisions
from portrayal.audits.counterfactuals.settings import CounterfactualsSettings
from portrayal.report.charts import forest, lines_with_band
from portrayal.report.section import file_name
from portrayal.runs.audit import Chart, Measured

FEW, MANY = 10, 40  # labels drawn
AXES = {
    "gender": "value (+2 is masculine)",
    "race": "value (+2 is towards the second pole)",
    "placebo": "value along a random direction",
}


def all_charts(measured: Measured, settings: CounterfactualsSettings) -> list[Chart]:
    """Return the charts of a report."""
    curves = _curve_charts(measured, settings.labels)
    return [*_strip_charts(measured.pictures), *_slope_charts(measured), *curves]


def _slope_charts(measured: Measured) -> list[Chart]:
    """Draw the steepest labels of the first attribute in short, then more of each."""
    labels = with_decisions(measured.tables["labels"], measured.results)
    labels = labels.filter(pl.col("shown") & pl.col("slope").is_not_null())
    there = [name for name in AXES if (labels["attribute"] == name).any()]
    short = [_slopes(labels, name, FEW, main=True) for name in there[:1]]
    return [*short, *(_slopes(labels, name, MANY) for name in there)]


def _slopes(labels: pl.DataFrame, attribute: str, most: int, main: bool = False) -> Chart:
    mine = labels.filter(pl.col("attribute") == attribute)
    drawn = mine.sort(pl.col("slope").abs(), descending=True).head(most).sort("slope")
    cut = f"The {most} steepest of {mine.height}. " if mine.height > most else ""
    return Chart(
        file_name("steepest" if main else "slopes", attribute),
        f"Slopes along {attribute}",
        f"{cut}Each point is a label's normalised slope per unit of the value, with its 95% interval over people; filled "
        "where it was found; right of zero the label comes more often as the value rises.",
        forest(drawn, label="label", value="slope", axis="share of the centre's rate per unit of the value"),
        of=("labels",),
        main=main,
    )


def _curve_charts(measured: Measured, chosen: Sequence[str]) -> list[Chart]:
    """Figure 5 for the chosen labels, or those three of each axis that speak most clearly."""
    rates = measured.tables["rates"].filter(pl.col("normalised").is_not_null())
    charts = []
    for attribute in ("gender", "race"):
        for label in chosen or _clearest(measured.tables["labels"], attribute):
            named = pl.col("label").str.to_lowercase() == label.lower()
            drawn = rates.filter(named & (pl.col("attribute") == attribute))
            if drawn.height:
                charts.append(_curve(drawn, label, attribute))
    return charts


def _curve(drawn: pl.DataFrame, label: str, attribute: str) -> Chart:
    return Chart(
        file_name("sensitivity", attribute, label),
        f"Sensitivity of {label!r} to the {attribute} cue",
        "The share of people who get the label at each value, as a multiple of their share at the neutral centre, "
        "with its 95% band; at the centre it is 1 by definition (Figure 5 of the paper).",
        lines_with_band(drawn, x="value", y="normalised", low="low", high="high", reference=1.0,
                        x_axis=AXES[attribute], y_axis="rate relative to the centre"),
        of=("rates",),
    )  # fmt: skip


def _clearest(labels: pl.DataFrame, attribute: str, count: int = 3) -> list[str]:
    mine = labels.filter((pl.col("attribute") == attribute) & pl.col("shown") & pl.col("low").is_not_null())
    return (
        mine.sort("p", pl.col("slope").abs(), descending=[False, True])["label"]
        .unique(maintain_order=True)
        .head(count)
        .to_list()
    )


def _strip_charts(pictures: Mapping[str, bytes]) -> list[Chart]:
    """Figure 6: before-and-after strips; the run keeps them of generated people only."""
    text = "One generated person a row; the unedited picture first, then the values from -2 to 2. Nobody shown here exists."
    return [
        Chart(
            file_name("strip", attribute),
            f"Before and after: {attribute}",
            text,
            png=pictures[f"strip_{attribute}"],
        )
        for attribute in AXES
        if f"strip_{attribute}" in pictures
    ]
