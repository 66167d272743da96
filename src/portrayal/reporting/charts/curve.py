"""Specification curve: sorted estimates above the choices behind them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import polars as pl

from portrayal.errors import PortrayalError
from portrayal.reporting.charts.encodings import reference_line
from portrayal.reporting.charts.theme import GRID, MUTED, PALETTE, alt, saying

CLAIMS = ("supports the claim", "does not")
MOST = 600  # specifications drawn; more are thinned evenly along the curve
WIDTH = 440


def specification_curve(
    table: pl.DataFrame,
    *,
    choices: Sequence[str],
    low: str | None = "low",
    high: str | None = "high",
    supports: str | None = None,
    axis: str = "",
) -> Any:
    """Draw all specifications in order of size, with their choices below."""
    frame = ranked(table, choices, low, high, supports)
    scale = alt.Scale(zero=False, nice=False, padding=8)
    across = alt.X(field="rank", type="quantitative", title=None, axis=None, scale=scale)
    upper = _estimates(frame, across, axis).properties(width=WIDTH, height=210)
    # One row per specification and choice, named 'prompt: a photo of ...'.
    made = {name: pl.format("{}: {}", pl.lit(name.replace("_", " ")), f"choice {name}") for name in choices}
    long = pl.concat([frame.select(pl.col("rank").cast(pl.Int64), made=text) for text in made.values()])
    up = alt.Y(
        field="made", type="nominal", title=None, sort=_in_order(long["made"].unique(maintain_order=True).to_list())
    )
    tick = alt.Chart(long, height=alt.Step(15)).mark_tick(thickness=1.5, height=9, color=MUTED).encode(across, up)
    lower = tick.properties(view={"stroke": GRID}, width=WIDTH)
    return saying(alt.vconcat(upper, lower, spacing=6), _summary(frame, table.height))


def ranked(
    table: pl.DataFrame,
    choices: Sequence[str],
    low: str | None = None,
    high: str | None = None,
    supports: str | None = None,
) -> pl.DataFrame:
    """Return the specifications in order of size, thinned, with rank and support."""
    wanted = [*choices, *(name for name in ("value", low, high, supports) if name)]
    missing = [name for name in wanted if name not in table.columns]
    if missing:
        present = ", ".join(table.columns)
        raise PortrayalError(f"a specification curve lacks column {missing[0]!r} (found: {present}).")
    ends = [(pl.col(name) if name else pl.lit(None)).cast(pl.Float64) for name in (low, high)]
    frame = table.select(
        pl.col("value").cast(pl.Float64),
        low=ends[0],
        high=ends[1],
        supports=(pl.col(supports) if supports else (ends[0] > 0) | (ends[1] < 0)).fill_null(False),
        **{f"choice {name}": pl.col(name).cast(pl.String).fill_null("–") for name in choices},
    )
    frame = frame.drop_nulls("value").sort("value", maintain_order=True).with_row_index("rank")
    frame = frame.with_columns(share=pl.col("supports").mean())
    return frame.gather_every(-(-frame.height // MOST)) if frame.height > MOST else frame


def _estimates(frame: pl.DataFrame, across: Any, axis: str) -> Any:
    claim = pl.when("supports").then(pl.lit(CLAIMS[0])).otherwise(pl.lit(CLAIMS[1]))
    legend = alt.Legend(symbolOpacity=1, symbolType="circle", symbolStrokeWidth=0, symbolFillColor=None)
    scale = alt.Scale(domain=list(CLAIMS), range=[PALETTE[0], "#87909a"])
    color = alt.Color(field="claim", type="nominal", title=None, scale=scale, legend=legend)
    base = alt.Chart(frame.with_columns(claim=claim)).encode(across, color=color)
    known = base.transform_filter("isValid(datum.low) && isValid(datum.high)")
    ends = alt.Y(field="low", type="quantitative", title=axis or None), alt.Y2(field="high")
    points = base.mark_point(filled=True, size=36 if frame.height <= 120 else 12, opacity=1)
    return (
        reference_line(0.0, "y")
        + known.mark_rule(opacity=0.45).encode(*ends)
        + points.encode(alt.Y(field="value", type="quantitative", title=axis or None))
    )


def _in_order(names: list[str]) -> list[str]:
    """Keep choices of one kind together, in the kinds' order, 'weat2' before 'weat10'."""
    kinds = list(dict.fromkeys(name.partition(":")[0] for name in names))

    def place(name: str) -> tuple[int, list[tuple[int, str]]]:
        parts = re.split(r"(\d+)", name)
        return kinds.index(name.partition(":")[0]), [(int(one), "") if one.isdigit() else (-1, one) for one in parts]

    return sorted(names, key=place)


def _summary(frame: pl.DataFrame, height: int) -> str:
    if frame.is_empty():
        return "No specification gave an estimate."
    share = f"{100 * float(frame['share'][0]):.0f}% of {height:,} specifications support the claim"
    step = int(frame["rank"][1]) - int(frame["rank"][0]) if frame.height > 1 else 1
    return f"{share}; one in {step} is drawn." if step > 1 else f"{share}."
