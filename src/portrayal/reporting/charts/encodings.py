"""Encodings that charts share: names, colours, shapes, number of rows."""

from __future__ import annotations

import textwrap
from typing import Any

import polars as pl

from portrayal.errors import PortrayalError, nearest
from portrayal.reporting.charts.theme import DASHES, MUTED, PALETTE, SHAPES

MOST_ROWS = 120  # of a forest or a bar chart: more cannot be read
NOBODY = "all"  # the series of a chart that tells none apart
ROW, OFFSET, CLOSE = 26, 13, 10  # pixels of a row, of a series in one, and of one where they are many
LINE = 34  # letters of a row's name before it goes on in a second line
IN_SIGHT = 520  # pixels of a chart before its axis comes again


def renamed(table: pl.DataFrame, columns: dict[str, str | None]) -> pl.DataFrame:
    """Return the table under our own column names; a missing series stays missing."""
    for name in columns.values():
        if name is not None and name not in table.columns:
            found = ", ".join(table.columns)
            raise PortrayalError(f"a chart lacks column {name!r} (found: {found}).{nearest(name, table.columns)}")
    taken = [
        pl.col(name).alias(own) if name else pl.lit(None, dtype=pl.Float64).alias(own) for own, name in columns.items()
    ]
    text = [pl.col(name).cast(pl.String).fill_null("–") for name in ("label", "series") if columns.get(name)]
    frame = table.select(taken).with_columns(text)
    if columns.get("label"):
        lines = {name: _in_lines(name) for name in frame["label"].unique()}
        frame = frame.with_columns(pl.col("label").replace(lines))
    return frame if columns.get("series") else frame.with_columns(pl.lit(NOBODY).alias("series"))


def _in_lines(name: str) -> str:
    """Break a long name in two lines of about the same length."""
    if len(name) <= LINE:
        return name
    return "\n".join(textwrap.wrap(name, max(LINE, -(-len(name) // 2) + 4)))


def capped(frame: pl.DataFrame) -> tuple[pl.DataFrame, str]:
    """Keep the rows farthest from zero where there are too many to read."""
    if frame.height <= MOST_ROWS:
        return frame, ""
    order = frame.with_row_index("row").sort(pl.col("value").abs(), descending=True, nulls_last=True)
    kept = order.head(MOST_ROWS).sort("row").drop("row")
    return kept, f"The {MOST_ROWS} rows farthest from zero, of {frame.height:,}."


def counted(frame: pl.DataFrame, cells: int = 60) -> pl.DataFrame:
    """Count the points of a scatter in a grid of cells, per series."""
    placed = frame.with_columns(_placed("x", cells), _placed("y", cells))
    return placed.group_by("series", "x", "y", maintain_order=True).agg(pl.len().alias("count"))


def labels() -> Any:
    """Return the axis of row names, top to bottom in the table's order."""
    import altair as alt

    axis = alt.Axis(
        grid=True, tickBand="extent", labelLimit=250, labelExpr="split(datum.label, '\\n')", labelLineHeight=12
    )
    return alt.Y(field="label", type="nominal", title=None, sort=None, axis=axis)


def offsets(frame: pl.DataFrame) -> Any:
    """Return the shift that keeps the series of one row apart."""
    import altair as alt

    if _alone(frame):
        return alt.Undefined
    scale = alt.Scale(domain=_names(frame), paddingOuter=0.4)
    return alt.YOffset(field="series", type="nominal", sort=None, scale=scale)


def steps(frame: pl.DataFrame) -> Any:
    """Return the height of the plot: enough for each row and each series in it."""
    import altair as alt

    return alt.Step(ROW) if _alone(frame) else alt.Step(_offset(frame), **{"for": "offset"})


def in_sight(frame: pl.DataFrame) -> list[pl.DataFrame]:
    """Return the rows in parts that are low enough to keep the axis in sight."""
    names = frame["label"].unique(maintain_order=True)
    height = ROW if _alone(frame) else _offset(frame) * (frame["series"].n_unique() + 0.8)
    most = max(3, int(IN_SIGHT // height))
    count = -(-len(names) // most) or 1
    size = -(-len(names) // count) or 1  # parts of even length
    return [
        frame.filter(pl.col("label").is_in(names[start : start + size].to_list()))
        for start in range(0, max(1, len(names)), size)
    ]


def span(frame: pl.DataFrame, *further: float | None) -> Any:
    """Return the scale that all parts of one chart share."""
    import altair as alt

    numbers = pl.concat([frame[name].cast(pl.Float64) for name in ("value", "low", "high")]).drop_nulls()
    held = [*numbers.filter(numbers.is_finite()), *(0.0 if one is None else one for one in further)]
    return alt.Scale(domain=[min(held), max(held)], nice=True, padding=5) if held else alt.Undefined


def colors(frame: pl.DataFrame) -> Any:
    """Return a colour per series; systems keep theirs throughout a report."""
    import altair as alt

    return alt.Color(field="series", type="nominal", title=None, scale=_scale(frame, PALETTE), legend=_legend(frame))


def shapes(frame: pl.DataFrame) -> Any:
    """Return a shape per series, so that colour is never the only difference."""
    import altair as alt

    return alt.Shape(field="series", type="nominal", title=None, scale=_scale(frame, SHAPES), legend=_legend(frame))


def dashes(frame: pl.DataFrame) -> Any:
    """Return a way of dashing per series."""
    import altair as alt

    return alt.StrokeDash(
        field="series", type="nominal", title=None, scale=_scale(frame, DASHES), legend=_legend(frame)
    )


def reference_line(value: float | None, channel: str) -> Any:
    """Return a dashed line at `value` across the plot; none when it is None."""
    import altair as alt

    frame = pl.DataFrame({"at": [] if value is None else [value]}, schema={"at": pl.Float64})
    place = (alt.X if channel == "x" else alt.Y)(field="at", type="quantitative")
    return alt.Chart(frame).mark_rule(color=MUTED, strokeDash=[3, 3]).encode(place)


def kind_of(dtype: Any) -> Any:
    """Return altair's word for a column of this type."""
    return "quantitative" if dtype.is_numeric() else "temporal" if dtype.is_temporal() else "nominal"


def _scale(frame: pl.DataFrame, values: Any) -> Any:
    import altair as alt

    names = _names(frame)
    worn = [values[place % len(values)] for place in range(len(names))]
    return alt.Scale(domain=names, range=[list(one) if isinstance(one, tuple) else one for one in worn])


def _legend(frame: pl.DataFrame) -> Any:
    """Return a legend that is no wider than the plot."""
    import altair as alt

    if _names(frame) == [NOBODY]:
        return None
    longest = max(map(len, _names(frame)), default=0)
    return alt.Legend(columns=max(1, min(4, 84 // (longest + 6))))


def _names(frame: pl.DataFrame) -> list[str]:
    return frame["series"].unique(maintain_order=True).to_list()


def _offset(frame: pl.DataFrame) -> int:
    return OFFSET if frame["series"].n_unique() < 3 else CLOSE


def _alone(frame: pl.DataFrame) -> bool:
    return frame["series"].n_unique() <= 1


def _placed(name: str, cells: int) -> pl.Expr:
    """Move a number to the middle of its cell; equal numbers stay."""
    column = pl.col(name).cast(pl.Float64)
    step = (column.max() - column.min()) / cells
    moved = column.min() + ((column - column.min()) / step).round() * step
    return pl.when(step > 0).then(moved).otherwise(column).alias(name)
