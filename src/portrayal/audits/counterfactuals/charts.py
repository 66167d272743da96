"""The figures of the counterfactuals audit: sensitivity curves (Figure 5), strips (Figure 6), slopes with intervals."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from portrayal.report.charts import forest, lines_with_band
from portrayal.report.section import file_name
from portrayal.runs.audit import Chart, Measured

AXES = {
    "gender": "value (+2 is masculine)",
    "race": "value (+2 is towards the second pole)",
    "placebo": "value along a random direction",
}


def all_charts(measured: Measured) -> list[Chart]:
    """Return the charts of a report."""
    return [*_slope_charts(measured), *_curve_charts(measured), *_strip_charts(measured.tables["strips"])]


def _slope_charts(measured: Measured) -> list[Chart]:
    labels = measured.tables["labels"].filter(pl.col("shown") & pl.col("slope").is_not_null())
    charts = []
    for attribute in [name for name in AXES if (labels["attribute"] == name).any()]:
        drawn = (
            labels.filter(pl.col("attribute") == attribute)
            .sort(pl.col("slope").abs(), descending=True)
            .head(40)
            .sort("slope")
        )
        charts.append(
            Chart(
                file_name("slopes", attribute),
                f"Slopes along {attribute}",
                "Each point is a label's normalised slope per unit of the value, with its 95% interval where the label is common "
                "enough at the centre; right of zero the label comes more often as the value rises.",
                forest(
                    drawn,
                    label="label",
                    value="slope",
                    axis="share of the centre's rate per unit of the value",
                ),
            )
        )
    return charts


def _curve_charts(measured: Measured) -> list[Chart]:
    """Figure 5 for the chosen labels, or the steepest three of each axis."""
    rates = measured.tables["rates"].filter(pl.col("normalised").is_not_null())
    chosen = measured.tables["chosen"]["label"].to_list()
    charts = []
    for attribute in ("gender", "race"):
        for label in chosen or _steep(measured.tables["labels"], attribute):
            named = pl.col("label").str.to_lowercase() == label.lower()
            drawn = rates.filter(named & (pl.col("attribute") == attribute))
            if drawn.height:
                charts.append(_curve(drawn, label, attribute))
    return charts


def _curve(drawn: pl.DataFrame, label: str, attribute: str) -> Chart:
    return Chart(
        file_name("sensitivity", attribute, label),
        f"Sensitivity of {label!r} to the {attribute} cue",
        "The label's rate over the source images at each value, as a multiple of its rate at the neutral centre, "
        "with Wilson's 95% band (Figure 5 of the paper).",
        lines_with_band(drawn, x="value", y="normalised", low="low", high="high", reference=1.0,
                        x_axis=AXES[attribute], y_axis="rate relative to the centre"),
    )  # fmt: skip


def _steep(labels: pl.DataFrame, attribute: str, count: int = 3) -> list[str]:
    mine = labels.filter((pl.col("attribute") == attribute) & pl.col("shown") & pl.col("low").is_not_null())
    return (
        mine.sort(pl.col("slope").abs(), descending=True)["label"]
        .unique(maintain_order=True)
        .head(count)
        .to_list()
    )


def _strip_charts(strips: pl.DataFrame, people: int = 3) -> list[Chart]:
    """Figure 6: before-and-after strips, generated people only (the table holds nobody else)."""
    charts = []
    for attribute in [name for name in AXES if (strips["attribute"] == name).any()]:
        mine = strips.filter(pl.col("attribute") == attribute)
        chosen = (
            mine.select("picture", "person")
            .unique("person", keep="first", maintain_order=True)["picture"]
            .head(people)
        )
        rows = [_row_of(mine.filter(pl.col("picture") == picture)) for picture in chosen]
        if png := strip_png([row for row in rows if row]):
            text = (
                "One generated person a row; the unedited picture first, then the values from -2 to 2. "
                "Nobody shown here exists."
            )
            charts.append(
                Chart(file_name("strip", attribute), f"Before and after: {attribute}", text, png=png)
            )
    return charts


def _row_of(series: pl.DataFrame) -> list[str]:
    ordered = series.sort(pl.col("value").fill_null(float("-inf")))
    return [path for path in ordered["content"].to_list() if Path(path).exists()]


def strip_png(rows: Sequence[Sequence[str]], side: int = 128) -> bytes | None:
    """Lay pictures out in rows and return a PNG; None where there is nothing to show."""
    from PIL import Image

    if not rows:
        return None
    sheet = Image.new("RGB", (side * max(map(len, rows)), side * len(rows)), "white")
    for down, row in enumerate(rows):
        for across, path in enumerate(row):
            with Image.open(path) as picture:
                sheet.paste(_square(picture, side), (across * side, down * side))
    buffer = io.BytesIO()
    sheet.save(buffer, "PNG")
    return buffer.getvalue()


def _square(picture: Any, side: int) -> Any:
    """Cut the middle square and shrink it."""
    from PIL import ImageOps

    return ImageOps.fit(picture.convert("RGB"), (side, side), centering=(0.5, 0.35))
