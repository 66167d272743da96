"""Charts of the captions audit: a filled point was found, and what nobody does is not drawn."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from portrayal.audits.captions.measures import (
    context_rules,
    demeaning_words,
    group_words,
    identity_nouns,
    people_mentioned,
    self_identification,
    words_included,
)
from portrayal.audits.captions.measures.stages import SYSTEM_CAPTIONS
from portrayal.audits.captions.settings import CaptionsSettings
from portrayal.reporting.words.words import percent
from portrayal.study.audit import Chart, Measured

COUNTS = (
    demeaning_words.TEST, context_rules.TEST, identity_nouns.TEST, self_identification.TEST, words_included.TEST,
)  # fmt: skip
OUTCOMES = (group_words.WRONG, group_words.NEUTRAL, group_words.OMITTED)


def all_charts(measured: Measured, settings: CaptionsSettings) -> list[Chart]:
    """Return the harms per system, people not mentioned by group, and the outcomes of group words."""
    if "stage" not in measured.results.columns:
        return []
    table = measured.results.filter(pl.col("stage") == SYSTEM_CAPTIONS).drop_nulls("value")
    table = table.with_columns(pair=pl.format("{}: {} less {}", "axis", "group", "versus"))
    charts = [_counts(table), _omission(table), *(_outcome(table, name) for name in OUTCOMES)]
    return [chart for chart in charts if chart is not None]


def _is_empty(rows: pl.DataFrame) -> bool:
    """Tell whether there is nothing to draw: no row, or zeros alone."""
    return rows.filter(pl.col("value") != 0).is_empty()


def _counts(table: pl.DataFrame) -> Chart | None:
    from portrayal.reporting.charts.charts import forest

    rows = table.filter(pl.col("measure").is_in(COUNTS))
    if _is_empty(rows):
        return None
    rule = pl.when(pl.col("measure") == context_rules.TEST).then("subject").otherwise("technique")
    tolerance = rows["null"][0]
    return Chart(
        "harms",
        "Harms in system captions",
        "Share of images in whose captions each harm may occur, with its 95% interval. The line is the tolerance of"
        f" {percent(tolerance, 1)}; most are upper bounds.",
        forest(rows.with_columns(harm=rule), label="harm", reference=tolerance, axis="share of images"),
        of=COUNTS,
        main=True,
    )


def _omission(table: pl.DataFrame) -> Chart | None:
    from portrayal.reporting.charts.charts import forest

    rows = table.filter(pl.col("measure") == people_mentioned.TEST)
    if _is_empty(rows):
        return None
    return Chart(
        "people_not_mentioned",
        "People depicted and not mentioned",
        "Difference between groups in the share of captions that do not mention a depicted person, with its 95% interval.",
        forest(rows, label="pair", axis="difference of shares"),
        of=(people_mentioned.TEST,),
    )


def _outcome(table: pl.DataFrame, quantity: str) -> Chart | None:
    from portrayal.reporting.charts.charts import bars_with_intervals

    rows = table.filter(
        (pl.col("technique") == group_words.TECHNIQUE.name)
        & (pl.col("measure") == quantity)
        & pl.col("versus").is_null()
    )
    if _is_empty(rows):
        return None
    return Chart(
        quantity.replace(" ", "_"),
        f"Group words: {quantity}",
        f"Share of captions by annotated group: {quantity}. The four outcomes sum to one.",
        bars_with_intervals(_labelled(rows, ("axis", "group")), label="whom", axis="share of captions"),
        of=(quantity,),
    )


def _labelled(rows: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    return rows.with_columns(whom=pl.concat_str(columns, separator=": "))
