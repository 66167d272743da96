"""Specification curve: sorted estimates above the choices behind them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import polars as pl

from portrayal.errors import PortrayalError
from portrayal.reporting.charts.theme import GRID, MUTED, PALETTE, saying

CLAIMS = ("supports the claim", "does not")
MOST = 600  # specifications drawn; more are thinned evenly along the curve


def specification_curve(
    table: pl.DataFrame,
    *,
    choices: Sequence[str],
    value: str = "value",
    low: str | None = "low",
    high: str | None = "high",
    supports: str | None = None,
    reference: float = 0.0,
    axis: str = "",
    width: int = 440,
) -> Any:
    """Draw all specifications in order of size, with their choices below."""
    import altair as alt

    frame = ranked(table, choices, value, low, high, supports, reference)
    across = alt.X(
        field="rank", type="quantitative", title=None, axis=None, scale=alt.Scale(zero=False, nice=False, padding=8)
    )
    upper = _estimates(frame, across, reference, axis).properties(width=width, height=210)
    lower = _choices(_long(frame, choices), across).properties(width=width)
    return alt.vconcat(upper, lower, spacing=6).properties(title=saying(_said(frame, table.height)))


def ranked(
    table: pl.DataFrame,
    choices: Sequence[str],
    value: str = "value",
    low: str | None = None,
    high: str | None = None,
    supports: str | None = None,
    reference: float = 0.0,
) -> pl.DataFrame:
    """Return the specifications in order of size, thinned, with rank and support."""
    wanted = [*choices, *(name for name in (value, low, high, supports) if name)]
    missing = [name for name in wanted if name not in table.columns]
    if missing:
        found = ", ".join(table.columns)
        raise PortrayalError(f"a specification curve lacks column {missing[0]!r} (found: {found}).")
    frame = table.select(
        pl.col(value).cast(pl.Float64).alias("value"),
        _or_null(low).alias("low"),
        _or_null(high).alias("high"),
        (pl.col(supports) if supports else _leaves_out(low, high, reference)).fill_null(False).alias("supports"),
        *(pl.col(name).cast(pl.String).fill_null("–").alias(f"choice {name}") for name in choices),
    )
    frame = frame.drop_nulls("value").sort("value", maintain_order=True).with_row_index("rank")
    frame = frame.with_columns(pl.col("supports").mean().alias("share"))
    return frame.gather_every(-(-frame.height // MOST)) if frame.height > MOST else frame


def _or_null(name: str | None) -> pl.Expr:
    return (pl.col(name) if name else pl.lit(None)).cast(pl.Float64)


def _leaves_out(low: str | None, high: str | None, reference: float) -> pl.Expr:
    return (_or_null(low) > reference) | (_or_null(high) < reference)


def _estimates(frame: pl.DataFrame, across: Any, reference: float, axis: str) -> Any:
    import altair as alt

    claim = pl.when("supports").then(pl.lit(CLAIMS[0])).otherwise(pl.lit(CLAIMS[1])).alias("claim")
    zero = alt.Chart(pl.DataFrame({"at": [reference]})).mark_rule(color=MUTED, strokeDash=[3, 3])
    base = alt.Chart(frame.with_columns(claim)).encode(across, color=_claims())
    known = base.transform_filter("isValid(datum.low) && isValid(datum.high)")
    ends = alt.Y(field="low", type="quantitative", title=axis or None), alt.Y2(field="high")
    points = base.mark_point(filled=True, size=36 if frame.height <= 120 else 12, opacity=1)
    return (
        zero.encode(alt.Y(field="at", type="quantitative"))
        + known.mark_rule(opacity=0.45).encode(*ends)
        + points.encode(alt.Y(field="value", type="quantitative", title=axis or None))
    )


def _claims() -> Any:
    import altair as alt

    scale = alt.Scale(domain=list(CLAIMS), range=[PALETTE[0], "#87909a"])
    legend = alt.Legend(symbolOpacity=1, symbolType="circle", symbolStrokeWidth=0, symbolFillColor=None)
    return alt.Color(field="claim", type="nominal", title=None, scale=scale, legend=legend)


def _long(frame: pl.DataFrame, choices: Sequence[str]) -> pl.DataFrame:
    """Return one row per specification and choice, named 'prompt: a photo of ...'."""
    parts = [
        frame.select("rank", pl.format("{}: {}", pl.lit(name.replace("_", " ")), f"choice {name}").alias("made"))
        for name in choices
    ]
    return pl.concat(parts).with_columns(pl.col("rank").cast(pl.Int64))


def _choices(long: pl.DataFrame, across: Any) -> Any:
    import altair as alt

    names = long["made"].unique(maintain_order=True).to_list()
    up = alt.Y(field="made", type="nominal", title=None, sort=sorted(names, key=_group_order(names)))
    tick = alt.Chart(long, height=alt.Step(15)).mark_tick(thickness=1.5, height=9, color=MUTED)
    return tick.encode(across, up).properties(view={"stroke": GRID})


def _group_order(names: list[str]) -> Any:
    """Keep choices of one kind together, in the order the kinds were given."""
    kinds = list(dict.fromkeys(name.partition(":")[0] for name in names))
    return lambda name: (kinds.index(name.partition(":")[0]), _natural(name))


def _natural(name: str) -> list[tuple[int, str]]:
    """Order 'weat2' before 'weat10'."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name)]


def _said(frame: pl.DataFrame, height: int) -> str:
    if frame.is_empty():
        return "No specification gave an estimate."
    share = f"{100 * float(frame['share'][0]):.0f}% of {height:,} specifications support the claim"
    step = int(frame["rank"][1]) - int(frame["rank"][0]) if frame.height > 1 else 1
    return f"{share}; one in {step} is drawn." if step > 1 else f"{share}."
