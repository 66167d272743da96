"""Scatter chart: points, or counts where there are many, and a line."""

from __future__ import annotations

from typing import Any

import polars as pl

from portrayal.reporting.charts import encodings as enc
from portrayal.reporting.charts.theme import MUTED

MOST_POINTS = 3000  # more are counted in a grid


def scatter_with_fit(
    table: pl.DataFrame,
    *,
    x: str,
    y: str,
    color: str | None = None,
    label: str | None = None,
    fit: pl.DataFrame | None = None,
    x_axis: str = "",
    y_axis: str = "",
    width: int = 440,
    height: int = 320,
) -> Any:
    """Draw points and a line through them."""
    import altair as alt

    frame = enc.renamed(table, {"x": x, "y": y, "series": color, "label": label}).drop_nulls(["x", "y"])
    places = (
        alt.X(field="x", type="quantitative", title=x_axis or x, scale=alt.Scale(zero=False, padding=14)),
        alt.Y(field="y", type="quantitative", title=y_axis or y, scale=alt.Scale(zero=False, padding=14)),
    )
    line = _line(least_squares(frame) if fit is None else fit, places, y_axis or y)
    return alt.layer(line, *_points(frame, places, bool(label))).properties(width=width, height=height)


def least_squares(frame: pl.DataFrame) -> pl.DataFrame:
    """Return both ends of the least-squares line through columns x and y."""
    across, up = frame["x"].cast(pl.Float64), frame["y"].cast(pl.Float64)
    spread = float(across.var() or 0.0) if frame.height > 1 else 0.0  # type: ignore[arg-type]
    if not spread:
        return pl.DataFrame(schema={"x": pl.Float64, "y": pl.Float64})
    middle = float(across.mean()), float(up.mean())  # type: ignore[arg-type]
    slope = float(((across - middle[0]) * (up - middle[1])).sum()) / (spread * (frame.height - 1))
    ends = [float(across.min()), float(across.max())]  # type: ignore[arg-type]
    return pl.DataFrame({"x": ends, "y": [middle[1] + slope * (end - middle[0]) for end in ends]})


def _line(fit: pl.DataFrame, places: Any, title: str) -> Any:
    import altair as alt

    drawn = alt.Chart(fit).mark_line(color=MUTED, strokeWidth=1.5, strokeDash=[5, 4]).encode(*places)
    if not {"low", "high"} <= set(fit.columns):
        return drawn
    ends = alt.Y(field="low", type="quantitative", title=title), alt.Y2(field="high")
    return alt.Chart(fit).mark_area(color=MUTED, opacity=0.18).encode(places[0], *ends) + drawn


def _points(frame: pl.DataFrame, places: Any, named: bool) -> list[Any]:
    import altair as alt

    if frame.height > MOST_POINTS:
        size = alt.Size(field="count", type="quantitative", title="points")
        grid = alt.Chart(enc.counted(frame)).mark_circle(opacity=0.7)
        return [grid.encode(*places, color=enc.colors(frame), size=size)]
    marks = alt.Chart(frame).mark_point(filled=True, size=55, opacity=0.8)
    points = marks.encode(*places, color=enc.colors(frame), shape=enc.shapes(frame))
    if not named:
        return [points]
    text = alt.Chart(frame).mark_text(align="left", dx=7, fontSize=11, color=MUTED)
    return [points, text.encode(*places, text=alt.Text(field="label", type="nominal"))]
