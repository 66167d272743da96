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
from portrayal.reporting.charts.theme import CARD, INK, MUTED, alt, saying
from portrayal.stats.decisions.decision import FOUND

__all__ = ["bars_with_intervals", "forest", "lines_with_band", "scatter_with_fit", "specification_curve", "to_svg"]

WIDTH, HEIGHT = 440, 320
BOTH_ENDS = "isValid(datum.low) && isValid(datum.high)"
MOST_POINTS = 3000  # of a scatter; more are counted in a grid


def forest(
    table: pl.DataFrame,
    *,
    label: str = "group",
    value: str = "value",
    color: str | None = "system",
    reference: float | None = 0.0,
    axis: str = "",
) -> Any:
    """Draw one estimate with its interval per row, with a line at `reference`.

    A filled point was found, by the `decision` of its row; every other point is hollow, as all are of a table without decisions.
    """
    is_found = pl.col("decision") == FOUND if "decision" in table.columns else pl.lit(False)

    def part(base: Any, frame: pl.DataFrame, across: dict[str, Any], ends: Any) -> Any:
        base = base.encode(color=enc.colors(frame))
        rule = base.transform_filter(BOTH_ENDS).mark_rule(strokeWidth=2, strokeCap="round").encode(*ends)
        at = base.encode(alt.X(field="value", **across), shape=enc.shapes(frame))
        hollow = {"filled": False, "fill": CARD, "size": 60, "opacity": 1, "strokeWidth": 2}
        open_points = at.transform_filter("!datum.found").mark_point(**hollow)
        filled = at.transform_filter("datum.found").mark_point(filled=True, size=75, opacity=1)
        return enc.reference_line(reference, "x") + rule + open_points + filled

    marked = table.with_columns(is_found.fill_null(False).alias("was found"))
    return _in_sight(
        marked, {"label": label, "value": value, "series": color, "found": "was found"}, reference, axis, part
    )


def bars_with_intervals(
    table: pl.DataFrame, *, label: str = "group", color: str | None = "system", axis: str = ""
) -> Any:
    """Draw a bar from zero per row, with its interval."""

    def part(base: Any, frame: pl.DataFrame, across: dict[str, Any], ends: Any) -> Any:
        bar = base.mark_bar(opacity=0.85).encode(alt.X(field="value", **across), color=enc.colors(frame))
        return bar + base.transform_filter(BOTH_ENDS).mark_rule(strokeWidth=1.5, color=INK).encode(*ends)

    return _in_sight(table, {"label": label, "value": "value", "series": color}, 0.0, axis, part)


def _in_sight(
    table: pl.DataFrame, columns: dict[str, str | None], reference: float | None, axis: str, part: Callable[..., Any]
) -> Any:
    """Draw rows with intervals, a long chart in parts with an axis each."""
    frame, sentence = enc.capped(enc.renamed(table, {**columns, "low": "low", "high": "high"}))
    across = {"type": "quantitative", "title": axis or None, "scale": enc.span(frame, reference)}
    ends = alt.X(field="low", **across), alt.X2(field="high")
    parts = [part(enc.rows(rows, frame, WIDTH), frame, across, ends) for rows in enc.in_sight(frame)]
    return saying(parts[0] if len(parts) == 1 else alt.vconcat(*parts, spacing=14), sentence)


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
) -> Any:
    """Draw one line per series, with a band between `low` and `high`."""
    frame = enc.renamed(table, {"x": x, "y": y, "low": low, "high": high, "series": color})
    dtype = frame["x"].dtype
    kind = "quantitative" if dtype.is_numeric() else "temporal" if dtype.is_temporal() else "nominal"
    scale = alt.Scale(zero=False, nice=False) if kind == "quantitative" else alt.Undefined
    across = alt.X(field="x", type=kind, title=x_axis or x, sort=None, axis=alt.Axis(grid=False), scale=scale)
    up = alt.Y(field="y", type="quantitative", title=y_axis or y)
    base = alt.Chart(frame, width=WIDTH, height=HEIGHT).encode(across, color=enc.colors(frame))
    layers = [enc.reference_line(reference, "y")]
    if low and high:
        ends = alt.Y(field="low", type="quantitative", title=y_axis or y), alt.Y2(field="high")
        layers.append(base.mark_area(opacity=0.16).encode(*ends))
    layers.append(base.mark_line(strokeWidth=2).encode(up, strokeDash=enc.dashes(frame)))
    if frame.height <= 200:
        layers.append(base.mark_point(filled=True, size=45, opacity=1).encode(up, shape=enc.shapes(frame)))
    return alt.layer(*layers)


def scatter_with_fit(
    table: pl.DataFrame, *, x: str, y: str, color: str | None = None, x_axis: str = "", y_axis: str = ""
) -> Any:
    """Draw points, or counts where there are many, and a line through them."""
    frame = enc.renamed(table, {"x": x, "y": y, "series": color}).drop_nulls(["x", "y"])
    scale = alt.Scale(zero=False, padding=14)
    places = (
        alt.X(field="x", type="quantitative", title=x_axis or x, scale=scale),
        alt.Y(field="y", type="quantitative", title=y_axis or y, scale=scale),
    )
    line = alt.Chart(least_squares(frame)).mark_line(color=MUTED, strokeWidth=1.5, strokeDash=[5, 4]).encode(*places)
    if frame.height > MOST_POINTS:
        size = alt.Size(field="count", type="quantitative", title="points")
        points = alt.Chart(enc.counted(frame)).mark_circle(opacity=0.7).encode(size=size)
    else:
        points = alt.Chart(frame).mark_point(filled=True, size=55, opacity=0.8).encode(shape=enc.shapes(frame))
    return alt.layer(line, points.encode(*places, color=enc.colors(frame))).properties(width=WIDTH, height=HEIGHT)


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
