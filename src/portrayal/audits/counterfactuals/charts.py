"""Figures of the counterfactuals audit: sensitivity curves (Figure 5), strips (Figure 6), slopes."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from portrayal.audits.counterfactuals.inputs import strip_name
from portrayal.audits.counterfactuals.measures.axis import PLACEBO, Axis, axes_of
from portrayal.audits.counterfactuals.measures.measure import with_decisions
from portrayal.audits.counterfactuals.settings import WORDS, CounterfactualsSettings
from portrayal.reporting.charts.charts import forest, lines_with_band
from portrayal.reporting.page.section import file_name
from portrayal.study.audit import Chart, Measured

FEW, MANY = 10, 40  # labels drawn
UNITS = {
    "gender": "value (+2 is masculine)",
    "race": "value (+2 lies beyond the second pole)",
    "placebo": "value along a random direction",
}


def all_charts(measured: Measured, settings: CounterfactualsSettings) -> list[Chart]:
    """Return the charts of a report, strips first, since all else rests on them."""
    labels = with_decisions(measured.tables["labels"], measured.results)
    labels = labels.filter(pl.col("shown") & pl.col("raw_slope").is_not_null())
    there = axes_of(labels)  # the steepest labels of the first in short, then more of each
    slopes = [_slopes(labels, axis, FEW, main=True) for axis in there[:1]]
    slopes += [_slopes(labels, axis, MANY) for axis in there]
    return [*_strip_charts(measured), *slopes, *_curve_charts(measured, settings.labels)]


def _slopes(labels: pl.DataFrame, axis: Axis, most: int, main: bool = False) -> Chart:
    mine = labels.filter(axis.where()).with_columns(low="raw_low", high="raw_high")
    drawn = mine.sort(pl.col("raw_slope").abs(), descending=True).head(most).sort("raw_slope")
    cut = f"The {most} steepest of {mine.height}. " if mine.height > most else ""
    chart = forest(drawn, label="label", value="raw_slope", axis="change of the share per unit of the value")
    name = file_name("steepest" if main else "slopes", *axis.names)
    return Chart(name, f"Slopes along {axis.title}", cut + WORDS["slopes"], chart, of=("labels",), main=main)


def _curve_charts(measured: Measured, chosen: Sequence[str]) -> list[Chart]:
    """Draw Figure 5 for the chosen labels, or the three clearest of each axis."""
    rates = measured.tables["rates"].filter(pl.col("normalised").is_not_null())
    charts = []
    for axis in [one for one in axes_of(rates) if one.attribute != PLACEBO]:
        for label in chosen or _clearest(measured.tables["labels"], axis):
            named = pl.col("label").str.to_lowercase() == label.lower()
            drawn = rates.filter(named & axis.where())
            if drawn.is_empty():
                continue
            curve = lines_with_band(drawn, x="value", y="normalised", low="low", high="high", reference=1.0,
                                    x_axis=UNITS[axis.attribute], y_axis="rate relative to the centre")  # fmt: skip
            title = f"Sensitivity of {label!r} to the cue of {axis.title}"
            charts.append(
                Chart(file_name("sensitivity", *axis.names, label), title, WORDS["curve"], curve, of=("rates",))
            )
    return charts


def _clearest(labels: pl.DataFrame, axis: Axis, count: int = 3) -> list[str]:
    mine = labels.filter(axis.where() & pl.col("shown") & pl.col("low").is_not_null())
    clearest = mine.sort("p", pl.col("slope").abs(), descending=[False, True])["label"]
    return clearest.unique(maintain_order=True).head(count).to_list()


def _strip_charts(measured: Measured) -> list[Chart]:
    """Return strips of before and after (Figure 6), of generated people only."""
    charts = []
    for axis in axes_of(measured.tables["axes"]):
        if png := measured.pictures.get(strip_name(axis)):
            ends = "a random direction, as large" if axis.attribute == PLACEBO else " to ".join(axis.ends())
            text = f"One generated person a row, the value rising from left to right: {ends}. Nobody shown here exists."
            charts.append(Chart(strip_name(axis), f"Before and after: {axis.title}", text, png=png))
    return charts
