"""Sentences and tables for readers, each traced to a result row."""

from __future__ import annotations

from typing import Any

import polars as pl

from portrayal.audits.base import Finding, Measured, ReportTable
from portrayal.audits.search.published import published_tables
from portrayal.audits.search.rows import INSTRUMENT
from portrayal.report.words import estimate, interval, p_value

VALIDITY = (
    "Positive GSR is not by itself harm: relevant documents share their query's domain and so its "
    "words. Read a system against the "
    "perfect one, which holds all and only the relevant documents.",
    "GSR is a slope over queries. It says nothing about a single query or document, and is noisy on "
    "small collections.",
    "The direction is a proxy learnt from text of one time and language. It knows two poles; people "
    "who are neither are not measured.",
    "A mean of word scores does not see negation, irony or syntax: 'not a nurse' counts as 'nurse'. A "
    "word of two meanings "
    "(labor) gets the mean of both.",
    "Queries that name a gender themselves (women in parliaments) need care: a low GSR there may go "
    "against what was asked.",
    "Taking the direction out of a ranker's vectors does not take the stereotype out: what is left is "
    "measured here with "
    "vectors that were not changed.",
    "A ranker that optimised GSR could be gamed by writers of documents; GSR is for auditing, not for "
    "ranking.",
)


def findings(measured: Measured) -> list[Finding]:
    """Return the findings: systems above or below the perfect one, then what variants changed."""
    rows = measured.results.with_row_index("row")
    told = (
        rows.filter(pl.col("measure") == "gsr_difference").drop_nulls("value").sort("value", descending=True)
    )
    measure = _difference
    if told.is_empty():
        told, measure = (
            rows.filter(pl.col("measure") == "gsr", pl.col("system") != "random").drop_nulls("value"),
            _absolute,
        )
    first = told["group"].first() if told.height else None
    made = [
        Finding(measure(row), row["row"])
        for row in told.filter(pl.col("group") == first).iter_rows(named=True)
    ]
    changed = rows.filter(pl.col("measure") == "gsr_change", pl.col("group") == first).drop_nulls("value")
    made += [Finding(_change(row), row["row"]) for row in changed.iter_rows(named=True)]
    return made + _checked(rows)


def tables(measured: Measured) -> list[ReportTable]:
    """Return the grid of Table 2, the quality of Table 3, and the queries that could not be used."""
    made = [
        _grid(measured),
        _quality(measured),
        *published_tables(measured),
        *_specifications(measured),
        _unused(measured),
    ]
    return [table for table in made if not table.table.is_empty()]


def _difference(row: dict[str, Any]) -> str:
    number = estimate(row["value"], row["low"], row["high"])
    ends = interval(row["value"], row["low"], row["high"])
    if not _clear(row):
        return (
            f"{row['system']} is not told apart from the perfect system: its GSR differs by {number} {ends}, "
            f"measured with {row['group']}."
        )
    what = "reinforces gender stereotypes beyond" if row["value"] > 0 else "stays below"
    return (
        f"{row['system']} {what} what the relevant documents bring along: its GSR is {number} {ends} "
        f"{'above' if row['value'] > 0 else 'from'} the perfect system's (p {_p(row)}), measured with "
        f"{row['group']}."
    )


def _absolute(row: dict[str, Any]) -> str:
    number, ends = (
        estimate(row["value"], row["low"], row["high"]),
        interval(row["value"], row["low"], row["high"]),
    )
    clear = (
        "answers along the gender of the query" if _clear(row) and row["value"] > 0 else "has no clear slope"
    )
    return (
        f"{row['system']} {clear}: GSR {number} {ends} (p {_p(row)}), measured with {row['group']}; "
        "no judgments to compare with."
    )


def _change(row: dict[str, Any]) -> str:
    number, ends = (
        estimate(row["value"], row["low"], row["high"]),
        interval(row["value"], row["low"], row["high"]),
    )
    return f"{row['contrast'].replace(' - ', ' against ')}: GSR changes by {number} {ends}, measured with {row['group']}."


def _checked(rows: pl.DataFrame) -> list[Finding]:
    """Say how the ruler did on known stereotypes."""
    tested = rows.filter(pl.col("measure") == "dichotomy")
    made = []
    for (vectors,), part in tested.group_by("group", maintain_order=True):
        passed = int((part["p"] < 0.05).sum())
        sentence = (
            f"The ruler {vectors} shows {passed} of {part.height} known gender stereotypes (one-sided p "
            "under .05)."
        )
        made.append(Finding(sentence, part["row"][0]))
    return made


def _clear(row: dict[str, Any]) -> bool:
    """Whether the interval leaves out zero and the corrected p is under 5%."""
    p = row["p_adjusted"] if row["p_adjusted"] is not None else row["p"]
    return row["low"] is not None and not row["low"] <= 0 <= row["high"] and p is not None and p < 0.05


def _p(row: dict[str, Any]) -> str:
    return p_value(row["p_adjusted"] if row["p_adjusted"] is not None else row["p"])


def _grid(measured: Measured) -> ReportTable:
    """Return GSR, difference and relative value of each system under each set of vectors."""
    wanted = measured.results.filter(pl.col("measure").is_in(["gsr", "gsr_difference", "gsr_ratio"]))
    columns = wanted.filter(pl.col("system") != INSTRUMENT).select(
        "system", key=pl.col("measure") + " (" + pl.col("group") + ")", value="value"
    )
    table = columns.pivot(on="key", index="system", values="value", aggregate_function="first")
    ratios = [name for name in table.columns if name.startswith("gsr_ratio")]
    relative = [
        (100 * (pl.col(name) - 1)).alias(name.replace("gsr_ratio", "relative, percent")) for name in ratios
    ]
    text = (
        "GSR of every system, its difference to the perfect system, and the relative value of the paper's "
        "Table 2 (ratio less 1)."
    )
    return ReportTable(
        "grid", "GSR of all systems (Table 2)", text, table.with_columns(relative).drop(ratios)
    )


def _quality(measured: Measured) -> ReportTable:
    names = ("map", "ndcg_cut_100", "P_10", "map_change", "ndcg_cut_100_change", "P_10_change")
    table = measured.results.filter(pl.col("measure").is_in(names))
    text = "Quality of the rankings; for variants the mean change with Student's paired t-test."
    return ReportTable(
        "quality",
        "Quality (Table 3)",
        text,
        table.select("system", "measure", "contrast", "value", "low", "high", "p", "n"),
    )


def _specifications(measured: Measured) -> list[ReportTable]:
    """Return, per system, the share of ways of measuring that put it above the perfect system."""
    if "specifications" not in measured.tables:
        return []
    table = (
        measured.tables["specifications"]
        .group_by("system", maintain_order=True)
        .agg(
            ways=pl.len(),
            share_above=pl.col("supports").mean(),
            lowest=pl.col("value").min(),
            highest=pl.col("value").max(),
        )
    )
    text = (
        "Of all ways of measuring, the share whose interval lies above the perfect system's GSR (above "
        "zero without judgments)."
    )
    return [ReportTable("specification_shares", "How many ways of measuring agree", text, table)]


def _unused(measured: Measured) -> ReportTable:
    table = measured.tables["queries"].filter(
        pl.col("reason") != "", ~pl.col("system").is_in(["perfect", "random"])
    )
    text = "Queries that could not be used, with the reason; they are missing, not zero."
    return ReportTable(
        "unused", "Queries not used", text, table.select("vectors", "system", "query", "text", "reason")
    )
