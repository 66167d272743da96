"""What the charts share: how rows are named, coloured, shaped and kept to a number that can be read."""

from __future__ import annotations

from typing import Any

import polars as pl

from portrayal.errors import PortrayalError, nearest
from portrayal.report.theme import MUTED, PALETTE, SHAPES

MOST_ROWS = 120  # of a forest or a bar chart: more cannot be read
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3])


def renamed(table: pl.DataFrame, columns: dict[str, str | None]) -> pl.DataFrame:
    """Return the table under our own column names; a column not asked for is null, a series is never."""
    for name in columns.values():
        if name is not None and name not in table.columns:
            found = ", ".join(table.columns)
            raise PortrayalError(
                f"a chart lacks column {name!r} (found: {found}).{nearest(name, table.columns)}"
            )
    taken = [
        pl.col(name).alias(own) if name else pl.lit(None, dtype=pl.Float64).alias(own)
        for own, name in columns.items()
    ]
    text = [pl.col(name).cast(pl.String).fill_null("–") for name in ("label", "series") if columns.get(name)]
    frame = table.select(taken).with_columns(text)
    return frame if columns.get("series") else frame.with_columns(pl.lit("all").alias("series"))


def capped(frame: pl.DataFrame) -> tuple[pl.DataFrame, str]:
    """Keep the rows farthest from zero when there are more than can be read, and say so."""
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

    axis = alt.Axis(grid=True, tickBand="extent", labelLimit=240)
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

    return alt.Step(26) if _alone(frame) else alt.Step(15, **{"for": "offset"})


def colors(frame: pl.DataFrame) -> Any:
    """Return a colour per series, in order of appearance; the first one when there is only one."""
    import altair as alt

    if _alone(frame):
        return alt.value(PALETTE[0])
    return alt.Color(
        field="series", type="nominal", title=None, scale=_scale(frame, PALETTE), legend=_legend(frame)
    )


def shapes(frame: pl.DataFrame) -> Any:
    """Return a shape per series, so that colour is never the only difference."""
    import altair as alt

    if _alone(frame):
        return alt.value("circle")
    return alt.Shape(
        field="series", type="nominal", title=None, scale=_scale(frame, SHAPES), legend=_legend(frame)
    )


def dashes(frame: pl.DataFrame) -> Any:
    """Return a way of dashing per series."""
    import altair as alt

    if _alone(frame):
        return alt.value([1, 0])
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
    return alt.Scale(domain=names, range=[values[place % len(values)] for place in range(len(names))])


def _legend(frame: pl.DataFrame) -> Any:
    """Return a legend with as many columns as the names leave room for: it must not be wider than the plot."""
    import altair as alt

    longest = max(map(len, _names(frame)))
    return alt.Legend(columns=max(1, min(4, 84 // (longest + 6))))


def _names(frame: pl.DataFrame) -> list[str]:
    return frame["series"].unique(maintain_order=True).to_list()


def _alone(frame: pl.DataFrame) -> bool:
    return frame["series"].n_unique() <= 1


def _placed(name: str, cells: int) -> pl.Expr:
    """Move a number to the middle of its cell; numbers all alike stay where they are."""
    column = pl.col(name).cast(pl.Float64)
    step = (column.max() - column.min()) / cells
    moved = column.min() + ((column - column.min()) / step).round() * step
    return pl.when(step > 0).then(moved).otherwise(column).alias(name)
