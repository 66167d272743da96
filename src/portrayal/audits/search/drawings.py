"""Drawings only this audit has: panels with two lines, coloured terms, stacked outcomes, a strip of words."""

from __future__ import annotations

from typing import Any

import polars as pl

from portrayal.audits.search.measures.entities import NEITHER, UNDEFINED
from portrayal.reporting.charts.theme import GRID, INK, MUTED, PALETTE

POSITIVE, NEGATIVE = "#7b4ba0", "#d55e00"  # the paper's purple and orange, told apart by colour-blind readers
SIZE = 190  # pixels of a panel

GROUPS = {"jobs_m": "jobs of men", "jobs_f": "jobs of women"}  # as the word list calls them, and in words


def panels(points: pl.DataFrame, fits: pl.DataFrame) -> Any:
    """Draw a panel per system: queries, their fit, and the perfect system's fit as a dashed line."""
    import altair as alt

    rows = points.select("system", x="query_score", y="list_score", kind=pl.lit("query"))
    ends = [points["query_score"].min(), points["query_score"].max()]
    systems = points["system"].unique(maintain_order=True)
    lines = [_line(system, fits, system, "fit", ends) for system in systems]
    lines += [_line(system, fits, "perfect", "perfect", ends) for system in systems]
    frame = pl.concat([rows, *(line for line in lines if line is not None)])
    base = alt.Chart().encode(
        alt.X(field="x", type="quantitative", title="g(q)", scale=alt.Scale(zero=False)),
        alt.Y(field="y", type="quantitative", title="g(L)", scale=alt.Scale(zero=False)),
    )
    dots = base.mark_point(filled=True, size=18, opacity=0.55, color=PALETTE[0]).transform_filter(
        "datum.kind == 'query'"
    )
    solid = base.mark_line(color=INK, strokeWidth=2).transform_filter("datum.kind == 'fit'")
    dashed = base.mark_line(color=MUTED, strokeDash=[4, 3]).transform_filter("datum.kind == 'perfect'")
    layered = alt.layer(dots, solid, dashed, data=frame).properties(width=SIZE, height=SIZE)
    return _by_system(layered)


def reference_panels(points: pl.DataFrame) -> Any:
    """Draw the three reference systems side by side, occupations coloured by their pole."""
    import altair as alt

    frame = points.select("system", "query", "pole", x="query_score", y="list_score")
    base = alt.Chart().encode(
        alt.X(field="x", type="quantitative", title="g(q)", scale=alt.Scale(zero=False)),
        alt.Y(field="y", type="quantitative", title="g(L)"),
    )
    dots = base.mark_point(filled=True, size=30).encode(*_poles("predominantly"))
    line = base.mark_line(color=INK, strokeDash=[2, 2]).transform_regression("x", "y")
    layered = alt.layer(dots, line, data=frame).properties(width=SIZE, height=SIZE)
    return _by_system(layered)


def coloured_terms(table: pl.DataFrame) -> Any:
    """Draw each query as a row of its terms, coloured by genderedness, the number under each term."""
    import altair as alt

    frame = table.select("query", "place", "term", "score")
    reach = float(frame["score"].abs().max() or 1.0)  # type: ignore[arg-type]
    base = alt.Chart(frame, width=alt.Step(86), height=alt.Step(40)).encode(
        alt.X(field="place", type="ordinal", axis=None), alt.Y(field="query", type="nominal", sort=None, title=None)
    )
    scale = alt.Scale(domain=[-reach, 0, reach], range=[NEGATIVE, "#f5f5f5", POSITIVE])
    known = alt.Color(field="score", type="quantitative", scale=scale, title="genderedness")
    tiles = base.mark_rect(stroke="#ffffff", strokeWidth=2, invalid=None).encode(
        color=alt.condition("isValid(datum.score)", known, alt.value(GRID))
    )
    strong = alt.condition(f"abs(datum.score) > {0.55 * reach}", alt.value("#ffffff"), alt.value("#1d2734"))
    words = base.mark_text(dy=-6, fontSize=12, limit=82).encode(
        text=alt.Text(field="term", type="nominal"), color=strong
    )
    numbers = base.mark_text(dy=9, fontSize=10).encode(
        text=alt.Text(field="score", type="quantitative", format="+.2f"), color=strong
    )
    return tiles + words + numbers.transform_filter("isValid(datum.score)")


def outcome_bars(table: pl.DataFrame) -> Any:
    """Draw, per system and bin of query genderedness, the shares of the outcomes, stacked."""
    import altair as alt

    outcomes = table["outcome"].unique(maintain_order=True).to_list()
    places = {name: place for place, name in enumerate(outcomes)}
    frame = table.with_columns(order=pl.col("outcome").replace_strict(places, return_dtype=pl.Int64))
    scale = alt.Scale(domain=outcomes, range=_tones(outcomes))
    bars = (
        alt.Chart(frame, width=SIZE, height=SIZE)
        .mark_bar()
        .encode(
            alt.X(field="bin", type="nominal", sort=None, title="g(q)", axis=alt.Axis(labelAngle=-40)),
            alt.Y(field="share", type="quantitative", title="share of queries", scale=alt.Scale(domain=[0, 1])),
            alt.Color(field="outcome", type="nominal", sort=outcomes, scale=scale, title="more than relevant"),
            alt.Order(field="order", type="quantitative"),
        )
    )
    return _by_system(bars)


def strip(words: pl.DataFrame) -> Any:
    """Draw the words of each group along the direction, with the group's mean as a tick."""
    import altair as alt

    frame = words.select("word", pl.col("group").replace(GROUPS), "pole", "score", "dichotomy")
    base = alt.Chart(frame, width=430, height=alt.Step(26)).encode(
        alt.Y(field="group", type="nominal", sort=None, title=None)
    )
    across = alt.X(field="score", type="quantitative", title="genderedness")
    mean = alt.X(field="score", aggregate="mean", type="quantitative")
    colour, shape = _poles("stereotype")
    dots = base.mark_point(filled=True, opacity=0.6, size=35).encode(across, colour, shape)
    means = base.mark_tick(thickness=3, size=20).encode(mean, colour)
    zero = alt.Chart(pl.DataFrame({"zero": [0.0]})).mark_rule(strokeDash=[3, 3])
    return zero.encode(alt.X(field="zero", type="quantitative")) + dots + means


def _by_system(chart: Any) -> Any:
    """Set a chart once for each system, three beside each other."""
    import altair as alt

    return chart.facet(facet=alt.Facet(field="system", type="nominal", title=None, sort=None), columns=3)


def _poles(title: str) -> tuple[Any, Any]:
    """Return the colours and shapes of the two genders of the paper's lists; one scale, so one legend."""
    import altair as alt

    names = ["female", "male"]
    colours = alt.Scale(domain=names, range=[POSITIVE, NEGATIVE])
    colour = alt.Color(field="pole", type="nominal", scale=colours, title=title)
    return colour, alt.Shape(field="pole", type="nominal", scale=alt.Scale(domain=names), title=title)


def _tones(outcomes: list[str]) -> list[str]:
    """Return a colour per outcome: the poles come first, the others are grey."""
    grey = {NEITHER: "#c4cad1", UNDEFINED: "#8d97a3"}
    return [grey.get(name, (POSITIVE, NEGATIVE)[min(place, 1)]) for place, name in enumerate(outcomes)]


def _line(system: str, fits: pl.DataFrame, of: str, kind: str, ends: list[Any]) -> pl.DataFrame | None:
    """Return the two ends of a fitted line, put into the panel of `system`; nothing when there is no fit."""
    found = fits.filter(pl.col("system") == of).drop_nulls().filter(pl.col("slope").is_not_nan())
    if found.is_empty() or None in ends:
        return None
    slope, intercept = found["slope"][0], found["intercept"][0]
    columns = {"system": [system] * 2, "x": ends, "y": [intercept + slope * end for end in ends], "kind": [kind] * 2}
    return pl.DataFrame(columns, schema={"system": pl.String, "x": pl.Float64, "y": pl.Float64, "kind": pl.String})
