"""Charts that every audit draws with: table in, altair chart out.

Columns are named by the caller and renamed inside, so that a column called 'a.b' or 'a:Q' is no trouble.
altair is imported when the first chart is made. `to_svg` draws what any of these return.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl

from portrayal.reporting.charts import encodings as enc
from portrayal.reporting.charts.curve import specification_curve
from portrayal.reporting.charts.drawing import to_svg
from portrayal.reporting.charts.scatter import scatter_with_fit
from portrayal.reporting.charts.theme import CARD, INK, saying
from portrayal.stats.decisions.decision import FOUND

__all__ = ["bars_with_intervals", "forest", "lines_with_band", "scatter_with_fit", "specification_curve", "to_svg"]

WIDTH = 440
FOUND_COLUMN = "was found"


def forest(
    table: pl.DataFrame,
    *,
    label: str = "group",
    value: str = "value",
    low: str = "low",
    high: str = "high",
    color: str | None = "system",
    reference: float | None = 0.0,
    axis: str = "",
    width: int = WIDTH,
) -> Any:
    """Draw one estimate with its interval per row, with a line at `reference`.

    A filled point was found, by the `decision` of its row; every other point is hollow.
    """
    import altair as alt

    frame = enc.renamed(
        _with_found(table),
        {"label": label, "value": value, "low": low, "high": high, "series": color, "found": FOUND_COLUMN},
    )
    frame, said = enc.capped(frame)

    def part(rows: pl.DataFrame) -> Any:
        base = _rows(rows, frame, width).encode(color=enc.colors(frame))
        across = {"type": "quantitative", "title": axis or None, "scale": enc.span(frame, reference)}
        ends = alt.X(field="low", **across), alt.X2(field="high")
        rule = base.transform_filter(_both_ends()).mark_rule(strokeWidth=2, strokeCap="round").encode(*ends)
        at = base.encode(alt.X(field="value", **across), shape=enc.shapes(frame))
        hollow = at.transform_filter("!datum.found").mark_point(
            filled=False, fill=CARD, size=60, opacity=1, strokeWidth=2
        )
        filled = at.transform_filter("datum.found").mark_point(filled=True, size=75, opacity=1)
        return enc.reference_line(reference, "x") + rule + hollow + filled

    return _saying(_in_sight(frame, part), said)


def _rows(rows: pl.DataFrame, frame: pl.DataFrame, width: int) -> Any:
    """Return the base of a chart of rows, with names down the side."""
    import altair as alt

    return alt.Chart(rows, width=width, height=enc.steps(frame)).encode(y=enc.labels(), yOffset=enc.offsets(frame))


def _in_sight(frame: pl.DataFrame, part: Callable[[pl.DataFrame], Any]) -> Any:
    """Draw a long chart in parts under one another, each with its axis."""
    import altair as alt

    parts = [part(rows) for rows in enc.in_sight(frame)]
    return parts[0] if len(parts) == 1 else alt.vconcat(*parts, spacing=14)


def _with_found(table: pl.DataFrame) -> pl.DataFrame:
    """Mark the rows that were found: a table without decisions has none."""
    found = pl.col("decision") == FOUND if "decision" in table.columns else pl.lit(False)
    return table.with_columns(found.fill_null(False).alias(FOUND_COLUMN))


def bars_with_intervals(
    table: pl.DataFrame,
    *,
    label: str = "group",
    value: str = "value",
    low: str = "low",
    high: str = "high",
    color: str | None = "system",
    axis: str = "",
    width: int = WIDTH,
) -> Any:
    """Draw a bar from zero per row, with its interval."""
    import altair as alt

    frame = enc.renamed(table, {"label": label, "value": value, "low": low, "high": high, "series": color})
    frame, said = enc.capped(frame)

    def part(rows: pl.DataFrame) -> Any:
        base = _rows(rows, frame, width)
        across = {"type": "quantitative", "title": axis or None, "scale": enc.span(frame, 0.0)}
        bar = base.mark_bar(opacity=0.85).encode(alt.X(field="value", **across), color=enc.colors(frame))
        ends = alt.X(field="low", **across), alt.X2(field="high")
        rule = base.transform_filter(_both_ends()).mark_rule(strokeWidth=1.5, color=INK).encode(*ends)
        return bar + rule

    return _saying(_in_sight(frame, part), said)


def lines_with_band(
    table: pl.DataFrame,
    *,
    x: str,
    y: str,
    low: str | None = None,
    high: str | None = None,
    color: str | None = "system",
    reference: float | None = None,
    x_axis: str = "",
    y_axis: str = "",
    width: int = WIDTH,
    height: int = 320,
) -> Any:
    """Draw one line per series, with a band between `low` and `high`."""
    import altair as alt

    frame = enc.renamed(table, {"x": x, "y": y, "low": low, "high": high, "series": color})
    across = _across(frame, x_axis or x)
    up = alt.Y(field="y", type="quantitative", title=y_axis or y)
    base = alt.Chart(frame, width=width, height=height).encode(across, color=enc.colors(frame))
    layers = [enc.reference_line(reference, "y")]
    if low and high:
        ends = alt.Y(field="low", type="quantitative", title=y_axis or y), alt.Y2(field="high")
        layers.append(base.mark_area(opacity=0.16).encode(*ends))
    layers.append(base.mark_line(strokeWidth=2).encode(up, strokeDash=enc.dashes(frame)))
    if frame.height <= 200:
        layers.append(base.mark_point(filled=True, size=45, opacity=1).encode(up, shape=enc.shapes(frame)))
    return alt.layer(*layers)


def _both_ends() -> str:
    return "isValid(datum.low) && isValid(datum.high)"


def _saying(chart: Any, said: str) -> Any:
    return chart.properties(title=saying(said)) if said else chart


def _across(frame: pl.DataFrame, title: str) -> Any:
    import altair as alt

    kind = enc.kind_of(frame["x"].dtype)
    scale = alt.Scale(zero=False, nice=False) if kind == "quantitative" else alt.Undefined
    return alt.X(field="x", type=kind, title=title, sort=None, axis=alt.Axis(grid=False), scale=scale)
