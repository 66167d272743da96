"""Encodings that charts share: names, colours, shapes, number of rows."""

from __future__ import annotations

import textwrap
from typing import Any

import polars as pl

from portrayal.errors import PortrayalError, nearest
from portrayal.reporting.charts.theme import DASHES, MUTED, PALETTE, SHAPES, alt

MOST_ROWS = 120  # of a forest or a bar chart: more cannot be read
NOBODY = "all"  # the series of a chart that tells none apart
ROW, OFFSET, CLOSE = 26, 13, 10  # pixels of a row, of a series in one, and of one where they are many
LINE = 34  # letters of a row's name before it goes on in a second line
IN_SIGHT = 520  # pixels of a chart before its axis comes again


def renamed(table: pl.DataFrame, columns: dict[str, str | None]) -> pl.DataFrame:
    """Return the table under our own column names; a missing series stays missing."""
    for name in columns.values():
        if name is not None and name not in table.columns:
            present = ", ".join(table.columns)
            raise PortrayalError(f"a chart lacks column {name!r} (found: {present}).{nearest(name, table.columns)}")
    taken = [pl.col(name).alias(own) if name else pl.lit(None, pl.Float64).alias(own) for own, name in columns.items()]
    text = [pl.col(name).cast(pl.String).fill_null("–") for name in ("label", "series") if columns.get(name)]
    frame = table.select(taken).with_columns(text)
    if columns.get("label"):
        # A long name is broken into two lines of about the same length.
        long = [name for name in frame["label"].unique() if len(name) > LINE]
        lines = {name: "\n".join(textwrap.wrap(name, max(LINE, -(-len(name) // 2) + 4))) for name in long}
        frame = frame.with_columns(pl.col("label").replace(lines))
    return frame if columns.get("series") else frame.with_columns(series=pl.lit(NOBODY))


def capped(frame: pl.DataFrame) -> tuple[pl.DataFrame, str]:
    """Keep the rows farthest from zero where there are too many to read."""
    if frame.height <= MOST_ROWS:
        return frame, ""
    order = frame.with_row_index("row").sort(pl.col("value").abs(), descending=True, nulls_last=True)
    drawn = order.head(MOST_ROWS).sort("row").drop("row")
    return drawn, f"The {MOST_ROWS} rows farthest from zero, of {frame.height:,}."


def counted(frame: pl.DataFrame, cells: int = 60) -> pl.DataFrame:
    """Count the points of a scatter in a grid, per series; equal numbers stay."""

    def placed(name: str) -> pl.Expr:
        column = pl.col(name).cast(pl.Float64)
        step = (column.max() - column.min()) / cells
        moved = column.min() + ((column - column.min()) / step).round() * step
        return pl.when(step > 0).then(moved).otherwise(column).alias(name)

    grid = frame.with_columns(placed("x"), placed("y"))
    return grid.group_by("series", "x", "y", maintain_order=True).agg(pl.len().alias("count"))


def rows(part: pl.DataFrame, frame: pl.DataFrame, width: int) -> Any:
    """Return the base of a chart of rows, with names down the side."""
    lines = {"labelExpr": "split(datum.label, '\\n')", "labelLineHeight": 12}
    axis = alt.Axis(grid=True, tickBand="extent", labelLimit=250, **lines)
    names = alt.Y(field="label", type="nominal", title=None, sort=None, axis=axis)
    if frame["series"].n_unique() <= 1:
        return alt.Chart(part, width=width, height=alt.Step(ROW)).encode(y=names)
    scale = alt.Scale(domain=_names(frame), paddingOuter=0.4)
    height = alt.Step(_offset(frame), **{"for": "offset"})
    shift = alt.YOffset(field="series", type="nominal", sort=None, scale=scale)
    return alt.Chart(part, width=width, height=height).encode(y=names, yOffset=shift)


def in_sight(frame: pl.DataFrame) -> list[pl.DataFrame]:
    """Return the rows in parts that are low enough to keep the axis in sight."""
    names, series = frame["label"].unique(maintain_order=True), frame["series"].n_unique()
    most = max(3, int(IN_SIGHT // (ROW if series <= 1 else _offset(frame) * (series + 0.8))))
    count = -(-len(names) // most) or 1
    size = -(-len(names) // count) or 1  # parts of even length
    starts = range(0, max(1, len(names)), size)
    return [frame.filter(pl.col("label").is_in(names[start : start + size].to_list())) for start in starts]


def span(frame: pl.DataFrame, *further: float | None) -> Any:
    """Return the scale that all parts of one chart share."""
    numbers = pl.concat([frame[name].cast(pl.Float64) for name in ("value", "low", "high")]).drop_nulls()
    ends = [*numbers.filter(numbers.is_finite()), *(0.0 if one is None else one for one in further)]
    return alt.Scale(domain=[min(ends), max(ends)], nice=True, padding=5) if ends else alt.Undefined


def colors(frame: pl.DataFrame) -> Any:
    """Return a colour per series; systems keep theirs throughout a report."""
    return alt.Color(**_by_series(frame, PALETTE))


def shapes(frame: pl.DataFrame) -> Any:
    """Return a shape per series, so that colour is never the only difference."""
    return alt.Shape(**_by_series(frame, SHAPES))


def dashes(frame: pl.DataFrame) -> Any:
    """Return a way of dashing per series."""
    return alt.StrokeDash(**_by_series(frame, [list(one) for one in DASHES]))


def _by_series(frame: pl.DataFrame, values: Any) -> dict[str, Any]:
    """Return a channel with a value per series; its legend fits the plot."""
    names = _names(frame)
    columns = max(1, min(4, 84 // (max(map(len, names), default=0) + 6)))
    legend = None if names == [NOBODY] else alt.Legend(columns=columns)
    scale = alt.Scale(domain=names, range=[values[place % len(values)] for place in range(len(names))])
    return {"field": "series", "type": "nominal", "title": None, "scale": scale, "legend": legend}


def reference_line(value: float | None, channel: str, **mark: Any) -> Any:
    """Return a dashed line at `value` across the plot; none when it is None."""
    frame = pl.DataFrame({"at": [] if value is None else [value]}, schema={"at": pl.Float64})
    place = (alt.X if channel == "x" else alt.Y)(field="at", type="quantitative")
    return alt.Chart(frame).mark_rule(color=MUTED, strokeDash=[3, 3], **mark).encode(place)


def _names(frame: pl.DataFrame) -> list[str]:
    return frame["series"].unique(maintain_order=True).to_list()


def _offset(frame: pl.DataFrame) -> int:
    return OFFSET if frame["series"].n_unique() < 3 else CLOSE
