"""Figures and tables of the contexts audit: Figures 4 to 7, trade-off, contact sheet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from portrayal.audits.contexts.findings import TEXTS
from portrayal.audits.contexts.settings import ContextsSettings
from portrayal.reporting.charts.charts import bars_with_intervals, forest
from portrayal.reporting.charts.encodings import colors, renamed, shapes
from portrayal.reporting.charts.theme import MUTED
from portrayal.reporting.page.section import file_name
from portrayal.stats.decisions.decision import STILL
from portrayal.study.audit import Chart, Measured, ReportTable

X_TITLE = "F1 of the gender named, mean over depicted groups"
TRADED = {"gender_f1_overall": "f1", "congruence": "congruence", "neutral_share": "neutral"}
Y_TITLE = "congruent minus incongruent"
WORDS: Mapping[str, tuple[str, str]] = {name: (title, text) for name, (title, text) in TEXTS["charts"].items()}
ERRORS = ("misgendered_of_group", "unnamed_of_group", "gender_f1_of_group")


def all_charts(measured: Measured, settings: ContextsSettings) -> list[Chart]:
    """Return the charts of a report, without those that show only zeros."""
    pictures = [name for name in ("places", "contact_sheet") if name in measured.pictures]
    charts = [Chart(name, *WORDS[name], png=measured.pictures[name]) for name in pictures]
    table = tradeoff_table(measured.results)
    if table.height:
        charts.append(Chart("tradeoff", *WORDS["tradeoff"], _crosses(table), of=tuple(TRADED), main=True))
    inferred = _moving(measured.results, "inferred_change").sort("place", "inferred", maintain_order=True)
    if inferred.height:
        drawn = inferred.with_columns(label=pl.concat_str("place", pl.lit(": "), "inferred"))
        chart = forest(drawn, label="label", axis="change of share from baseline")
        charts.append(Chart("inferred_change", *WORDS["inferred_change"], chart, of=("inferred_change",)))
    for system in _moving(measured.results, "attribute_change")["system"].unique(maintain_order=True):
        title, text = WORDS["changes"]
        about: dict[str, Any] = {"of": ("attribute_change",), "system": system}
        chart = change_chart(measured.results, system)
        charts.append(Chart(file_name("changes", system), f"{system}: {title}", text, chart, **about))
    return charts


def _moving(results: pl.DataFrame, measure: str) -> pl.DataFrame:
    """Return a measure's rows with a value, of systems of whom something differs from zero."""
    rows = results.filter(pl.col("value").is_not_null(), measure=measure)
    return rows.filter((pl.col("value").abs() > STILL).any().over("system"))


def change_chart(results: pl.DataFrame, system: str, place: str | None = None) -> Any:
    """Return Figures 4 to 7 for a tagger: mean change of tag use by group."""
    rows = results.filter(pl.col("value").is_not_null(), measure="attribute_change", system=system)
    chosen = rows if place is None else rows.filter(place=place)
    label = pl.concat_str("place", pl.lit(": "), "group") if place is None else pl.col("group")
    drawn = chosen.with_columns(label=label).sort("place", "group", maintain_order=True)
    return bars_with_intervals(drawn, label="label", color="attribute", axis="change of share of tags from baseline")


def tradeoff_table(results: pl.DataFrame) -> pl.DataFrame:
    """Return one row per system: gender F1, stereotype congruence and the share of neutral answers."""
    rows = results.filter(pl.col("measure").is_in(list(TRADED)), pl.col("place").is_null())
    if rows["measure"].n_unique() < len(TRADED):
        return pl.DataFrame(schema={"system": pl.String, **dict.fromkeys(TRADED.values(), pl.Float64)})
    wide = rows.pivot("measure", index="system", values=["value", "low", "high"])
    return wide.select(
        "system",
        *(pl.col(f"value_{measure}").alias(name) for measure, name in TRADED.items()),
        *(pl.col(f"{end}_congruence").alias(f"congruence_{end}") for end in ("low", "high")),
        *(pl.col(f"{end}_gender_f1_overall").alias(f"f1_{end}") for end in ("low", "high")),
    ).drop_nulls(["f1", "congruence"])


def _crosses(table: pl.DataFrame) -> Any:
    """Draw a cross of two intervals for each system, over a line at no congruence."""
    import altair as alt

    base = alt.Chart(table.with_columns(series="system"), width=440, height=230)
    x = alt.X("f1:Q", title=X_TITLE, scale=alt.Scale(domain=[0, 1]))
    y = alt.Y("congruence:Q", title=Y_TITLE, scale=alt.Scale(domain=[-1, 1]))
    named = renamed(table, {"series": "system"})
    color, shape = colors(named), shapes(named)
    sizes = alt.Scale(domain=[0, 1], range=[60, 600])
    legend = alt.Legend(columns=6, symbolFillColor=MUTED, symbolStrokeWidth=0)
    size = alt.Size("neutral:Q", title="share neutral", scale=sizes, legend=legend)
    points = base.mark_point(filled=True, opacity=0.9).encode(x, y, color=color, shape=shape, size=size)
    low, left = alt.Y("congruence_low:Q", title=Y_TITLE), alt.X("f1_low:Q", title=X_TITLE)
    up = base.mark_rule().encode(x, y=low, y2="congruence_high:Q", color=color)
    across = base.mark_rule().encode(left, x2="f1_high:Q", y=y, color=color)
    zero = alt.Chart(pl.DataFrame({"y": [0.0]})).mark_rule(strokeDash=[4, 4])
    return zero.encode(alt.Y("y:Q", title=Y_TITLE)) + up + across + points


def report_tables(measured: Measured, settings: ContextsSettings) -> list[ReportTable]:
    """Return the trade-off's numbers, the tags in no cluster, coverage, and raters' words."""
    columns = ("system", "factor", "group", "measure", "value", "low", "high", "n", "unit")
    ratings = measured.tables.get("ratings", pl.DataFrame()).head(100)
    tables = {
        "tradeoff_numbers": tradeoff_table(measured.results),
        "errors": measured.results.filter(pl.col("measure").is_in(ERRORS)).select(columns),
        "unknown_tags": measured.tables["unknown_tags"].head(50),
        "coverage": measured.tables["coverage"],
        **({} if ratings.is_empty() else {"ratings": ratings}),
    }
    filled = {name: table for name, table in tables.items() if table.height or name in ("unknown_tags", "coverage")}
    return [ReportTable(name.removesuffix("_numbers"), *WORDS[name], table) for name, table in filled.items()]
