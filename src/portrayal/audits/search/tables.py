"""Tables for readers: Tables 2 and 3, ways of measuring, queries not used."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from portrayal.audits.search.measures.comparison import published
from portrayal.audits.search.measures.scored_runs import INSTRUMENT, REFERENCES
from portrayal.audits.search.settings import SearchSettings
from portrayal.study.audit import Measured, ReportTable

PUBLISHED = {"map": "MAP", "ndcg_cut_100": "nDCG@100", "P_10": "P@10"}
GRID = {"gsr": "GSR", "gsr_difference": "less the perfect system's", "gsr_ratio": "relative, percent"}


def tables(measured: Measured, settings: SearchSettings) -> list[ReportTable]:
    """Return the tables that are not empty."""
    return [table for table in _tables(measured, settings) if not table.table.is_empty()]


def _tables(measured: Measured, settings: SearchSettings) -> Iterator[ReportTable]:
    results = measured.results
    names = [*settings.quality, *(f"{name}_change" for name in settings.quality)]
    quality = results.filter(pl.col("measure").is_in(names))
    columns = ("system", "measure", "versus", "value", "low", "high", "p", "n")
    text = (
        "GSR of every system, its difference to the perfect system, and the relative value of the paper's Table 2 (ratio less "
        "1), which is left out where the perfect system's own slope may be zero. In brackets the measuring word vectors."
    )
    wanted = results.filter(pl.col("measure").is_in(list(GRID)), pl.col("system") != INSTRUMENT)
    percent = 100 * (pl.col("value") - 1)
    cells = wanted.select(
        "system",
        key=pl.format("{} ({})", pl.col("measure").replace(GRID), "ruler"),
        value=pl.when(pl.col("measure") == "gsr_ratio").then(percent).otherwise("value"),
    )
    grid = cells.pivot(on="key", index="system", values="value", aggregate_function="first")
    yield ReportTable("grid", "GSR of all systems (Table 2)", text, grid)
    text = "Quality of the rankings; for variants the mean change with Student's paired t-test."
    yield ReportTable("quality", "Quality (Table 3)", text, quality.select(columns))
    yield from _published_tables(measured)
    if "specification_tests" in measured.tables:
        text = (
            "GSR less the perfect system's (GSR itself without judgments) in all ways of measuring that move it: how many intervals "
            "lie above and below zero, and the p of all ways together (queries flipped jointly, not corrected over systems)."
        )
        title = "How many ways of measuring agree"
        yield ReportTable("specification_tests", title, text, measured.tables["specification_tests"])
    unused = measured.tables["queries"].filter(pl.col("reason") != "", ~pl.col("system").is_in(REFERENCES))
    text = "Queries that could not be used, with the reason; they are missing, not zero."
    yield ReportTable("unused", "Queries not used", text, unused.select("ruler", "system", "query", "text", "reason"))


def _published_tables(measured: Measured) -> Iterator[ReportTable]:
    """Yield Tables 2 and 3 beside the systems of [search.published], where the study names some."""
    names = measured.tables.get("published")
    if names is None:
        return
    note = (
        "The paper's numbers are for Robust04 with word2vec (w2v) and FastText (ftt); ours are for this "
        "study's collection and vectors."
    )
    rows, measure = measured.results, pl.col("measure")
    kind = pl.when(measure == "gsr").then(pl.lit("GSR, ")).otherwise(pl.lit("ratio, "))
    slopes = rows.filter(measure.is_in(["gsr", "gsr_ratio"])).with_columns(key=kind + pl.col("ruler"))
    quality = rows.filter(measure.is_in(list(PUBLISHED))).with_columns(key=measure.replace(PUBLISHED))
    gsr = published("gsr").pivot(on="embedding", index="name", values=["absolute", "relative_percent"])
    means = published("quality").pivot(on="metric", index="name", values="value")
    for name, title, ours, paper in (
        ("published_gsr", "GSR beside the paper's Table 2", slopes, gsr),
        ("published_quality", "Quality beside the paper's Table 3", quality, means),
    ):
        wide = ours.pivot(on="key", index="system", values="value", aggregate_function="first")
        theirs = paper.rename({column: f"paper: {column.replace('_', ' ')}" for column in paper.columns[1:]})
        beside = names.join(wide, on="system", how="left").join(theirs, on="name", how="left")
        yield ReportTable(name, title, note, beside)
