"""Charts of measures over the waves of a study."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl

from portrayal.reporting.charts.drawing import to_svg
from portrayal.reporting.charts.encodings import reference_line
from portrayal.reporting.charts.theme import PALETTE, SHAPES, alt
from portrayal.stats.decisions.decision import FOUND
from portrayal.text.formatting import listed
from portrayal.waves.waves import Wave

MOST = 12  # rows drawn
WIDTH, HEIGHT = 200, 130  # of a plot, in pixels: two or three beside each other, one on a phone
POINTS = {"value": pl.Float64, "low": pl.Float64, "high": pl.Float64}


def wave_charts(
    measures: pl.DataFrame, waves: Sequence[Wave], about: Callable[[Mapping[str, Any]], str]
) -> list[dict[str, str]]:
    """Draw rows over all waves: those that moved first, then by p."""
    labels = pl.Series([about(row) for row in measures.iter_rows(named=True)], dtype=pl.String)
    marked = measures.with_columns(_label=labels, _moved=pl.col("decision") == FOUND)
    order = marked.sort("_moved", "p", descending=[True, False], nulls_last=True)
    systems = measures["system"].unique(maintain_order=True).to_list()
    # What is the same in every row is left out of the titles.
    telling = {"system", "measure", *(name for name in measures.columns if measures[name].n_unique() > 1)}
    rows = {wave.name: wave.measured.results.drop_nulls("value").iter_rows(named=True) for wave in waves}
    values = {name: {about(row): {end: row[end] for end in POINTS} for row in mine} for name, mine in rows.items()}
    charts = []
    drawn = order["_label"].unique(maintain_order=True)
    for label in drawn.filter(drawn.is_in(list({name for rows in values.values() for name in rows}))).head(MOST):
        mine = order.filter(pl.col("_label") == label)
        moved = mine.filter("_moved")["to"].to_list()
        points = [{"wave": wave.name, **values[wave.name].get(label, {})} for wave in waves]
        frame = pl.DataFrame(points, {"wave": pl.String, **POINTS}).with_columns(moved=pl.col("wave").is_in(moved))
        row = mine.row(0, named=True)
        note = f"moved by {listed(moved)}" if moved else "no change beyond noise"
        svg = to_svg(_chart(frame, systems.index(row["system"])), f"{label} in each wave, with 95% intervals: {note}")
        charts.append({"title": about({name: row[name] for name in row if name in telling}), "said": note, "svg": svg})
    return charts


def _chart(frame: pl.DataFrame, place: int) -> Any:
    """Draw a point and its interval for each wave, filled where it moved."""
    color, shape = PALETTE[place % len(PALETTE)], SHAPES[place % len(SHAPES)]
    names = frame["wave"].to_list()
    level = max(map(len, names)) * 7 < WIDTH / len(names)
    axis = alt.Axis(grid=False, labelAngle=0 if level else -40, labelLimit=90)
    across = alt.X(field="wave", type="nominal", title=None, sort=None, axis=axis, scale=alt.Scale(domain=names))
    up = alt.Y(field="value", type="quantitative", title=None, axis=alt.Axis(tickCount=4), scale=alt.Scale(zero=False))
    low = alt.Y(field="low", type="quantitative", title=None)
    there = alt.Chart(frame, width=WIDTH, height=HEIGHT).encode(across).transform_filter("isValid(datum.value)")
    spans = there.transform_filter("isValid(datum.low) && isValid(datum.high)").mark_rule(color=color, aria=False)
    filled = alt.condition("datum.moved", alt.value(1), alt.value(0))
    points = there.mark_point(size=60, opacity=1, shape=shape, stroke=color, fill=color, aria=False)
    ends = [end for name in POINTS for end in frame[name].drop_nulls()]
    zero = 0.0 if ends and min(ends) <= 0 <= max(ends) else None
    # The figure has a text of its own; its marks are not read out one by one.
    return alt.layer(
        reference_line(zero, "y", aria=False),
        there.mark_line(color=color, strokeWidth=1, opacity=0.5, aria=False).encode(up),
        spans.encode(low, alt.Y2(field="high")),
        points.encode(up, fillOpacity=filled),
    )
