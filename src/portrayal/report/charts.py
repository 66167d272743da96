"""Charts every audit draws with: a polars table in, an altair chart out, one look for all.

Columns are named by the caller and renamed inside, so that a column called 'a.b' or 'a:Q' is no trouble.
altair is imported when the first chart is made. `to_svg` and `to_png` draw what any of these return.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from portrayal.errors import PortrayalError, nearest
from portrayal.report.drawing import to_png, to_svg
from portrayal.report.theme import DIVERGING, GRID, INK, MUTED, PALETTE, SEQUENTIAL, SHAPES

__all__ = [
    "bars_with_intervals",
    "forest",
    "heatmap",
    "lines_with_band",
    "scatter_with_fit",
    "to_png",
    "to_svg",
]

WIDTH = 520
MOST_ROWS = 120  # of a forest or a bar chart: more cannot be read
MOST_POINTS = 3000  # of a scatter: more are counted in a grid


def forest(
    table: pl.DataFrame,
    *,
    label: str = "contrast",
    value: str = "value",
    low: str = "low",
    high: str = "high",
    color: str | None = "system",
    reference: float | None = 0.0,
    axis: str = "",
    width: int = WIDTH,
) -> Any:
    """Draw one estimate with its interval per row, coloured and shaped by system, with a line at `reference`.

    Parameters
    ----------
    table
        One row per estimate; ends of intervals may be null.
    label, value, low, high
        The columns of the row's name, the estimate and the ends of its interval.
    color
        The column that tells systems apart, or None.
    reference
        Where to draw the line of no difference, or None.
    axis
        What the numbers are, under the axis.
    width
        Of the plot, in pixels.
    """
    import altair as alt

    frame = _renamed(table, {"label": label, "value": value, "low": low, "high": high, "series": color})
    frame, subtitle = _capped(frame)
    base = alt.Chart(frame, width=width).encode(y=_labels(frame), yOffset=_offsets(frame))
    rule = base.mark_rule(strokeWidth=2, strokeCap="round").encode(
        x=alt.X(field="low", type="quantitative", title=axis or None),
        x2=alt.X2(field="high"),
        color=_colors(frame),
    )
    point = base.mark_point(filled=True, size=70, opacity=1).encode(
        x=alt.X(field="value", type="quantitative", title=axis or None),
        color=_colors(frame),
        shape=_shapes(frame),
    )
    return _titled(_reference(reference, "x") + rule + point, subtitle)


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
    """Draw a bar from zero per row, with its interval; for shares and counts, where zero means none.

    Parameters
    ----------
    table, label, value, low, high, color, axis, width
        As for `forest`.
    """
    import altair as alt

    frame = _renamed(table, {"label": label, "value": value, "low": low, "high": high, "series": color})
    frame, subtitle = _capped(frame)
    base = alt.Chart(frame, width=width).encode(y=_labels(frame), yOffset=_offsets(frame))
    bar = base.mark_bar(opacity=0.85).encode(
        x=alt.X(field="value", type="quantitative", title=axis or None), color=_colors(frame)
    )
    rule = base.mark_rule(strokeWidth=1.5, color=INK).encode(
        x=alt.X(field="low", type="quantitative"), x2=alt.X2(field="high")
    )
    return _titled(bar + rule, subtitle)


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
    width: int = WIDTH,
    height: int = 340,
) -> Any:
    """Draw points and a line through them.

    Parameters
    ----------
    table
        One row per point. Above 3,000 points they are counted in a grid; the line still uses all.
    x, y
        The columns of the two numbers.
    color, label
        The columns of series and of the name written beside a point, or None.
    fit
        The line to draw, with columns x, y and, for its band, low and high. None draws least squares,
        a guide for the eye without an interval.
    x_axis, y_axis
        What the numbers are.
    width, height
        Of the plot, in pixels.
    """
    import altair as alt

    frame = _renamed(table, {"x": x, "y": y, "series": color, "label": label}).drop_nulls(["x", "y"])
    across = alt.X(field="x", type="quantitative", title=x_axis or x, scale=alt.Scale(zero=False))
    up = alt.Y(field="y", type="quantitative", title=y_axis or y, scale=alt.Scale(zero=False))
    layers = [_line(fit if fit is not None else least_squares(frame), across, up)]
    shown = _counted(frame) if frame.height > MOST_POINTS else frame
    points = alt.Chart(shown).mark_point(filled=True, opacity=0.75).encode(across, up, color=_colors(frame))
    if "count" in shown.columns:
        layers.append(points.encode(size=alt.Size(field="count", type="quantitative", title="points")))
    else:
        layers.append(points.encode(shape=_shapes(frame)))
        if label:
            text = alt.Chart(shown).mark_text(align="left", dx=7, fontSize=11, color=MUTED)
            layers.append(text.encode(across, up, text=alt.Text(field="label", type="nominal")))
    return alt.layer(*layers).properties(width=width, height=height)


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
    """Draw one line per series, with the band between `low` and `high` where there is one.

    Parameters
    ----------
    table
        One row per point of a line; `x` is a number, a date or an ordered name.
    x, y, low, high, color
        The columns; `low`, `high` and `color` may be None.
    reference
        Where to draw the line of no difference, or None.
    x_axis, y_axis
        What the numbers are.
    width, height
        Of the plot, in pixels.
    """
    import altair as alt

    frame = _renamed(table, {"x": x, "y": y, "low": low, "high": high, "series": color})
    kind = _kind(frame["x"].dtype)
    across = alt.X(
        field="x",
        type=kind,
        title=x_axis or x,
        sort=None,
        axis=alt.Axis(grid=False),
        scale=alt.Scale(zero=False) if kind == "quantitative" else alt.Undefined,
    )
    up = alt.Y(field="y", type="quantitative", title=y_axis or y)
    base = alt.Chart(frame, width=width, height=height).encode(across, color=_colors(frame))
    layers = [_reference(reference, "y"), base.mark_line(strokeWidth=2).encode(up, strokeDash=_dashes(frame))]
    if frame["low"].null_count() < frame.height:
        layers.insert(
            1, base.mark_area(opacity=0.18).encode(alt.Y(field="low", title=up.title), alt.Y2(field="high"))
        )
    if frame.height <= 200:
        layers.append(base.mark_point(filled=True, size=45, opacity=1).encode(up, shape=_shapes(frame)))
    return alt.layer(*layers)


def heatmap(
    table: pl.DataFrame,
    *,
    x: str,
    y: str,
    value: str,
    middle: float | None = None,
    numbers: bool | None = None,
    axis: str = "",
    cell: int = 34,
) -> Any:
    """Draw a value per pair as a colour, with the number written in where there is room.

    Parameters
    ----------
    table
        One row per cell; a missing value leaves the cell empty.
    x, y, value
        The columns.
    middle
        Where the colours turn, 0 for differences; None for values that only grow.
    numbers
        Whether to write the numbers in; None does so up to 150 cells.
    axis
        What the numbers are.
    cell
        The size of a cell, in pixels.
    """
    import altair as alt

    frame = _renamed(table, {"x": x, "y": y, "value": value})
    scale = _heat(frame, middle)
    size = alt.Step(cell if frame.height <= 900 else 8)
    base = alt.Chart(frame, width=alt.Step(cell + 16 if frame.height <= 900 else 8), height=size).encode(
        alt.X(
            field="x", type="nominal", title=None, sort=None, axis=alt.Axis(labelAngle=-40, orient="bottom")
        ),
        alt.Y(field="y", type="nominal", title=None, sort=None),
    )
    legend = alt.Legend(title=axis or value.replace("_", " "), gradientLength=160)
    cells = base.mark_rect(stroke=GRID).encode(
        color=alt.Color(field="value", type="quantitative", scale=scale, legend=legend)
    )
    if not (frame.height <= 150 if numbers is None else numbers):
        return cells
    # Dark cells get light figures; the threshold is on the same scale as the colours.
    light = f"abs(datum.value - {middle or 0.0}) > {0.6 * _reach(frame, middle)}"
    color = alt.condition(light, alt.value("#fefefe"), alt.value("#1d2734"))
    return cells + base.mark_text(fontSize=11).encode(
        text=alt.Text(field="value", type="quantitative", format=".2f"), color=color
    )


def least_squares(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the two ends of the least-squares line through columns x and y, or nothing when there is none."""
    across, up = frame["x"].cast(pl.Float64), frame["y"].cast(pl.Float64)
    spread = float(across.var() or 0.0) if frame.height > 1 else 0.0  # type: ignore[arg-type]
    if not spread:
        return pl.DataFrame(schema={"x": pl.Float64, "y": pl.Float64})
    slope = float(((across - across.mean()) * (up - up.mean())).sum()) / (spread * (frame.height - 1))
    ends = [float(across.min()), float(across.max())]  # type: ignore[arg-type]
    middle = (float(across.mean()), float(up.mean()))  # type: ignore[arg-type]
    return pl.DataFrame({"x": ends, "y": [middle[1] + slope * (end - middle[0]) for end in ends]})


def _renamed(table: pl.DataFrame, columns: dict[str, str | None]) -> pl.DataFrame:
    """Return the table with our own column names; a column not asked for is null, series has one value."""
    for name in columns.values():
        if name is not None and name not in table.columns:
            found = ", ".join(table.columns)
            raise PortrayalError(
                f"a chart lacks column {name!r} (found: {found}).{nearest(name, table.columns)}"
            )
    if columns.get("series") not in (None, *table.columns):
        columns = {**columns, "series": None}
    taken = [pl.col(name).alias(own) if name else pl.lit(None).alias(own) for own, name in columns.items()]
    frame = table.select(taken)
    if "series" in columns:
        frame = frame.with_columns(pl.col("series").cast(pl.String).fill_null("all"))
    return frame.with_columns(pl.col(name).cast(pl.String) for name in ("label",) if name in frame.columns)


def _capped(frame: pl.DataFrame) -> tuple[pl.DataFrame, str]:
    """Keep the rows farthest from zero when there are more than can be read, and say so."""
    if frame.height <= MOST_ROWS:
        return frame, ""
    order = frame.with_row_index("row").sort(pl.col("value").abs(), descending=True, nulls_last=True)
    kept = order.head(MOST_ROWS).sort("row").drop("row")
    return kept, f"The {MOST_ROWS} rows farthest from zero, of {frame.height:,}."


def _counted(frame: pl.DataFrame, cells: int = 60) -> pl.DataFrame:
    """Count points in a grid of cells, per series."""
    placed = frame.with_columns(_placed("x", cells), _placed("y", cells))
    return placed.group_by("series", "x", "y", maintain_order=True).agg(pl.len().alias("count"))


def _placed(name: str, cells: int) -> pl.Expr:
    column = pl.col(name).cast(pl.Float64)
    step = (column.max() - column.min()) / cells
    return (column.min() + ((column - column.min()) / step).round() * step).fill_nan(column.min()).alias(name)


def _line(fit: pl.DataFrame, across: Any, up: Any) -> Any:
    import altair as alt

    drawn = alt.Chart(fit).mark_line(color=MUTED, strokeWidth=1.5, strokeDash=[5, 4]).encode(across, up)
    if {"low", "high"} <= set(fit.columns):
        ends = alt.Y(field="low", type="quantitative", title=up.title), alt.Y2(field="high")
        drawn = alt.Chart(fit).mark_area(color=MUTED, opacity=0.18).encode(across, *ends) + drawn
    return drawn


def _titled(chart: Any, subtitle: str) -> Any:
    return chart.properties(title={"text": "", "subtitle": subtitle}) if subtitle else chart


def _labels(frame: pl.DataFrame) -> Any:
    import altair as alt

    step = max(18, 13 * _series(frame) + 8)
    return (
        alt.Y(
            field="label",
            type="nominal",
            title=None,
            sort=None,
            axis=alt.Axis(grid=True, tickBand="extent", labelLimit=240),
            scale=alt.Scale(paddingOuter=0.1),
        )
        if step
        else alt.Undefined
    )


def _offsets(frame: pl.DataFrame) -> Any:
    import altair as alt

    if _series(frame) == 1:
        return alt.Undefined
    return alt.YOffset(field="series", type="nominal", sort=None, scale=alt.Scale(paddingOuter=0.3))


def _series(frame: pl.DataFrame) -> int:
    return frame["series"].n_unique()


def _names(frame: pl.DataFrame) -> list[str]:
    return frame["series"].unique(maintain_order=True).to_list()


def _colors(frame: pl.DataFrame) -> Any:
    import altair as alt

    names = _names(frame)
    if len(names) == 1:
        return alt.value(PALETTE[0])
    scale = alt.Scale(domain=names, range=[PALETTE[place % len(PALETTE)] for place in range(len(names))])
    return alt.Color(field="series", type="nominal", title=None, scale=scale)


def _shapes(frame: pl.DataFrame) -> Any:
    import altair as alt

    names = _names(frame)
    if len(names) == 1:
        return alt.value("circle")
    scale = alt.Scale(domain=names, range=[SHAPES[place % len(SHAPES)] for place in range(len(names))])
    return alt.Shape(field="series", type="nominal", title=None, scale=scale)


def _dashes(frame: pl.DataFrame) -> Any:
    import altair as alt

    names = _names(frame)
    if len(names) == 1:
        return alt.value([1, 0])
    kinds = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3]]
    scale = alt.Scale(domain=names, range=[kinds[place % len(kinds)] for place in range(len(names))])
    return alt.StrokeDash(field="series", type="nominal", title=None, scale=scale)


def _reference(value: float | None, channel: str) -> Any:
    import altair as alt

    frame = pl.DataFrame({"at": [] if value is None else [value]}, schema={"at": pl.Float64})
    place = (alt.X if channel == "x" else alt.Y)(field="at", type="quantitative")
    return alt.Chart(frame).mark_rule(color=MUTED, strokeDash=[3, 3]).encode(place)


def _kind(dtype: pl.DataType) -> str:
    return "quantitative" if dtype.is_numeric() else "temporal" if dtype.is_temporal() else "nominal"


def _reach(frame: pl.DataFrame, middle: float | None) -> float:
    return float((frame["value"].cast(pl.Float64) - (middle or 0.0)).abs().max() or 1.0)  # type: ignore[arg-type]


def _heat(frame: pl.DataFrame, middle: float | None) -> Any:
    import altair as alt

    reach = _reach(frame, middle)
    if middle is None:
        return alt.Scale(domain=[min(0.0, float(frame["value"].min() or 0.0)), reach], range=list(SEQUENTIAL))  # type: ignore[arg-type]
    return alt.Scale(domain=[middle - reach, middle, middle + reach], range=list(DIVERGING))
