"""Charts of the captions audit."""

from __future__ import annotations

import polars as pl

from portrayal.audits.captions.findings import SHARES
from portrayal.audits.captions.measures.audit import measure_name
from portrayal.audits.captions.measures.stages import SYSTEM_CAPTIONS
from portrayal.audits.captions.settings import CaptionsSettings
from portrayal.runs.audit import Chart, Measured

OUTCOMES = ("right group word", "wrong group word", "neutral wording", "person not mentioned")


def all_charts(measured: Measured, settings: CaptionsSettings) -> list[Chart]:
    """Return the harms per system, people not mentioned by group, and the four outcomes of group words."""
    table = measured.results.filter(pl.col("note").str.starts_with(SYSTEM_CAPTIONS))
    charts = [_harms(table), _omission(table), *(_outcome(table, name) for name in OUTCOMES[1:])]
    return [chart for chart in charts if chart is not None]


def _harms(table: pl.DataFrame) -> Chart | None:
    from portrayal.report.charts import forest

    whole = table.filter(pl.col("measure").is_in(list(SHARES)) & pl.col("contrast").is_null())
    whole = whole.filter((pl.col("group") == "all") | pl.col("measure").str.starts_with("erasing"))
    whole = whole.filter(~pl.col("note").str.contains("lower bound")).unique(
        ["measure", "system", "group"], maintain_order=True
    )
    if whole.is_empty():
        return None
    rows = whole.with_columns(
        pl.col("measure").str.split(": ").list.slice(0, 2).list.join(": ").alias("technique")
    )
    return Chart(
        "harms",
        "Harms in system captions",
        "Share of captions for each technique, with its 95% interval; most are upper bounds.",
        forest(rows, label="technique", axis="share of captions"),
    )


def _omission(table: pl.DataFrame) -> Chart | None:
    from portrayal.report.charts import forest

    rows = table.filter(
        (pl.col("measure") == measure_name("demeaning", "people not mentioned", "person not mentioned"))
        & pl.col("contrast").is_not_null()
    )
    if rows.is_empty():
        return None
    return Chart(
        "people_not_mentioned",
        "People depicted and not mentioned",
        "Difference between groups in the share of captions that do not mention a depicted person, with its 95% interval.",
        forest(rows, axis="difference of shares"),
    )


def _outcome(table: pl.DataFrame, quantity: str) -> Chart | None:
    from portrayal.report.charts import bars_with_intervals

    rows = table.filter(
        (pl.col("measure") == measure_name("beside every harm", "group words", quantity))
        & pl.col("contrast").is_null()
    )
    if rows.is_empty():
        return None
    return Chart(
        quantity.replace(" ", "_"),
        f"Group words: {quantity}",
        f"Share of captions by annotated group: {quantity}. The four outcomes sum to one.",
        bars_with_intervals(rows, axis="share of captions"),
    )
