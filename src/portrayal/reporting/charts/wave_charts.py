"""Charts of measures over the waves of a study."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from portrayal.reporting.charts.drawing import to_svg
from portrayal.reporting.charts.theme import MUTED, PALETTE, SHAPES
from portrayal.stats.decisions.decision import FOUND
from portrayal.text.formatting import listed
from portrayal.waves.waves import Wave

MOST = 12  # rows drawn
WIDTH, HEIGHT = 200, 130  # of a plot, in pixels: two or three beside each other, one on a phone
POINTS = {"value": pl.Float64, "low": pl.Float64, "high": pl.Float64}


@dataclass(frozen=True)
class WaveChart:
    """One row of the results over all waves, with its drawing."""

    title: str
    said: str
    svg: str


def wave_charts(
    measures: pl.DataFrame, waves: Sequence[Wave], about: Callable[[Mapping[str, Any]], str]
) -> list[WaveChart]:
    """Draw rows over all waves: those that moved first, then by p."""
    labels = pl.Series([about(row) for row in measures.iter_rows(named=True)], dtype=pl.String)
    marked = measures.with_columns(_label=labels, _moved=pl.col("decision") == FOUND)
    order = marked.sort("_moved", "p", descending=[True, False], nulls_last=True)
    systems = measures["system"].unique(maintain_order=True).to_list()
    # What is the same in every row is left out of the titles.
    telling = {"system", "measure", *(name for name in measures.columns if measures[name].n_unique() > 1)}
    values = [_values(wave, about) for wave in waves]
    drawn = []
    for label in order["_label"].unique(maintain_order=True).head(MOST):
        mine = order.filter(pl.col("_label") == label)
        points = [{"wave": wave.name, **found.get(label, {})} for wave, found in zip(waves, values, strict=True)]
        row = mine.row(0, named=True)
        title = about({name: row[name] for name in row if name in telling})
        drawn.append(_drawn(title, mine, points, systems.index(row["system"])))
    return drawn


def _values(wave: Wave, about: Callable[[Mapping[str, Any]], str]) -> dict[str, dict[str, float]]:
    rows = wave.measured.results.drop_nulls("value").iter_rows(named=True)
    return {about(row): {name: row[name] for name in POINTS} for row in rows}


def _drawn(label: str, mine: pl.DataFrame, points: Sequence[Mapping[str, Any]], place: int) -> WaveChart:
    moved = mine.filter("_moved")["to"].to_list()
    said = f"moved by {listed(moved)}" if moved else "no change beyond noise"
    frame = pl.DataFrame(points, {"wave": pl.String, **POINTS})
    frame = frame.with_columns(moved=pl.col("wave").is_in(moved))
    return WaveChart(label, said, to_svg(_chart(frame, place), f"{label} in each wave, with 95% intervals: {said}"))


def _chart(frame: pl.DataFrame, place: int) -> Any:
    """Draw a point and its interval for each wave, filled where it moved."""
    import altair as alt

    color, shape = PALETTE[place % len(PALETTE)], SHAPES[place % len(SHAPES)]
    base = alt.Chart(frame, width=WIDTH, height=HEIGHT).encode(_across(frame))
    up = alt.Y(field="value", type="quantitative", title=None, axis=alt.Axis(tickCount=4), scale=alt.Scale(zero=False))
    low = alt.Y(field="low", type="quantitative", title=None)
    there = base.transform_filter("isValid(datum.value)")
    spans = there.transform_filter("isValid(datum.low) && isValid(datum.high)").mark_rule(color=color, aria=False)
    filled = alt.condition("datum.moved", alt.value(1), alt.value(0))
    # The figure has a text of its own; its marks are not read out one by one.
    return alt.layer(
        _zero(frame),
        there.mark_line(color=color, strokeWidth=1, opacity=0.5, aria=False).encode(up),
        spans.encode(low, alt.Y2(field="high")),
        there.mark_point(size=60, opacity=1, shape=shape, stroke=color, fill=color, aria=False).encode(
            up, fillOpacity=filled
        ),
    )


def _across(frame: pl.DataFrame) -> Any:
    """Return the axis of waves, every one of them, in their order."""
    import altair as alt

    names = frame["wave"].to_list()
    level = max(map(len, names)) * 7 < WIDTH / len(names)
    axis = alt.Axis(grid=False, labelAngle=0 if level else -40, labelLimit=90)
    return alt.X(field="wave", type="nominal", title=None, sort=None, axis=axis, scale=alt.Scale(domain=names))


def _zero(frame: pl.DataFrame) -> Any:
    """Return a dashed line at 0, where an interval or value reaches it."""
    import altair as alt

    ends = [end for name in POINTS for end in frame[name].drop_nulls()]
    at = [0.0] if ends and min(ends) <= 0 <= max(ends) else []
    line = alt.Chart(pl.DataFrame({"at": at}, {"at": pl.Float64})).mark_rule(color=MUTED, strokeDash=[3, 3], aria=False)
    return line.encode(alt.Y(field="at", type="quantitative"))
