"""Tables for readers: Tables 2 and 3, ways of measuring, queries not used."""

from __future__ import annotations

import polars as pl

from portrayal.audits.search.measures.scored_runs import INSTRUMENT, REFERENCES
from portrayal.audits.search.published import published_tables
from portrayal.audits.search.settings import SearchSettings
from portrayal.study.audit import Measured, ReportTable


def tables(measured: Measured, settings: SearchSettings) -> list[ReportTable]:
    """Return the tables that are not empty."""
    made = [
        _grid(measured),
        _quality(measured, settings),
        *published_tables(measured),
        *_specifications(measured),
        _unused(measured),
    ]
    return [table for table in made if not table.table.is_empty()]


def _grid(measured: Measured) -> ReportTable:
    """Return GSR, difference and relative value of each system under each set of vectors."""
    names = {"gsr": "GSR", "gsr_difference": "less the perfect system's", "gsr_ratio": "relative, percent"}
    wanted = measured.results.filter(pl.col("measure").is_in(list(names)), pl.col("system") != INSTRUMENT)
    percent = 100 * (pl.col("value") - 1)
    columns = wanted.select(
        "system",
        key=pl.format("{} ({})", pl.col("measure").replace(names), "ruler"),
        value=pl.when(pl.col("measure") == "gsr_ratio").then(percent).otherwise("value"),
    )
    table = columns.pivot(on="key", index="system", values="value", aggregate_function="first")
    text = (
        "GSR of every system, its difference to the perfect system, and the relative value of the paper's Table 2 (ratio less "
        "1), which is left out where the perfect system's own slope may be zero. In brackets the measuring word vectors."
    )
    return ReportTable("grid", "GSR of all systems (Table 2)", text, table)


def _quality(measured: Measured, settings: SearchSettings) -> ReportTable:
    names = [*settings.quality, *(f"{name}_change" for name in settings.quality)]
    table = measured.results.filter(pl.col("measure").is_in(names))
    text = "Quality of the rankings; for variants the mean change with Student's paired t-test."
    return ReportTable(
        "quality",
        "Quality (Table 3)",
        text,
        table.select("system", "measure", "versus", "value", "low", "high", "p", "n"),
    )


def _specifications(measured: Measured) -> list[ReportTable]:
    """Return the joint test of all ways of measuring, per system."""
    if "specification_tests" not in measured.tables:
        return []
    text = (
        "GSR less the perfect system's (GSR itself without judgments) in all ways of measuring that move it: how many intervals "
        "lie above and below zero, and the p of all ways together (queries flipped jointly, not corrected over systems)."
    )
    table = measured.tables["specification_tests"]
    return [ReportTable("specification_tests", "How many ways of measuring agree", text, table)]


def _unused(measured: Measured) -> ReportTable:
    table = measured.tables["queries"].filter(pl.col("reason") != "", ~pl.col("system").is_in(REFERENCES))
    text = "Queries that could not be used, with the reason; they are missing, not zero."
    return ReportTable("unused", "Queries not used", text, table.select("ruler", "system", "query", "text", "reason"))
