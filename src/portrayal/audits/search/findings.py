"""Sentences and tables for readers, each traced to a result row."""

from __future__ import annotations

from typing import Any

import polars as pl

from portrayal.audits.search.measures.scored_runs import INSTRUMENT
from portrayal.audits.search.published import published_tables
from portrayal.audits.search.settings import SearchSettings
from portrayal.report.words import estimate, interval, listed, p_value, plural
from portrayal.runs.audit import Finding, Measured, ReportTable
from portrayal.stats.multiplicity import corrected_p, is_significant

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


def findings(measured: Measured, settings: SearchSettings) -> list[Finding]:
    """Return what is clear of each system, which show no clear difference, what variants changed, and how the ruler did."""
    rows = measured.results.with_row_index("row")
    compared = rows.filter(pl.col("measure") == "gsr_difference").drop_nulls("value")
    if compared.is_empty():
        compared = rows.filter(pl.col("measure") == "gsr", pl.col("system") != "random").drop_nulls("value")
    first = compared["group"].first() if compared.height else None
    shown = compared.filter(pl.col("group") == first).sort("value", descending=True).iter_rows(named=True)
    changed = rows.filter(pl.col("measure") == "gsr_change", pl.col("group") == first).drop_nulls("value")
    slopes = {
        (row["system"], row["group"]): row["value"]
        for row in rows.filter(measure="gsr").iter_rows(named=True)
    }
    changes = [Finding(_change(row, slopes), row["row"]) for row in changed.iter_rows(named=True)]
    return _of_systems(list(shown)) + changes + _checked(rows)


def _of_systems(rows: list[dict[str, Any]]) -> list[Finding]:
    """Write one sentence per clear system and one for all that are not."""
    say = {"gsr_difference": _difference, "gsr": _absolute}
    made = [Finding(say[row["measure"]](row), row["row"]) for row in rows if _clear(row)]
    unclear = [row for row in rows if not _clear(row)]
    if unclear:
        names = listed([f"{row['system']} ({' '.join(_written(row))})" for row in unclear])
        what = "the perfect system" if unclear[0]["measure"] == "gsr_difference" else "a slope of zero"
        sizes = {row["n"] for row in unclear}
        count = ("up to " if len(sizes) > 1 else "") + plural(max(sizes), "query", "queries")
        sentence = (
            f"No clear difference from {what} with {count}, measured with {unclear[0]['group']}: {names}."
        )
        made.append(Finding(sentence, unclear[0]["row"]))
    return made


def tables(measured: Measured, settings: SearchSettings) -> list[ReportTable]:
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
    number, ends = _written(row)
    way = (
        "along the gender of the query, beyond"
        if row["value"] > 0
        else "less along the gender of the query than"
    )
    return (
        f"{row['system']} ranks documents {way} what the relevant documents bring along: its GSR less "
        "the perfect system's is "
        f"{number} {ends} ({plural(row['n'], 'query', 'queries')}, adjusted p {p_value(corrected_p(row))}), measured with "
        f"{row['group']}."
    )


def _absolute(row: dict[str, Any]) -> str:
    number, ends = _written(row)
    way = "along" if row["value"] > 0 else "against"
    return (
        f"{row['system']} ranks documents {way} the gender of the query: GSR {number} {ends} "
        f"({plural(row['n'], 'query', 'queries')}, adjusted p {p_value(corrected_p(row))}), measured with {row['group']}; there "
        "are no judgments to compare with."
    )


def _written(row: dict[str, Any]) -> tuple[str, str]:
    """Return the estimate and its interval as text."""
    ends = row["value"], row["low"], row["high"]
    return estimate(*ends), interval(*ends)


def _change(row: dict[str, Any], slopes: dict[tuple[str, str], float]) -> str:
    """Say what a variant left of the slope, not only what it took away."""
    number, ends = _written(row)
    base = row["contrast"].removeprefix(f"{row['system']} - ")
    before, after = (estimate(slopes.get((name, row["group"]))) for name in (base, row["system"]))
    return (
        f"From {base} to {row['system']} GSR goes from {before} to {after}, a change of {number} {ends} "
        f"({plural(row['n'], 'query', 'queries')}), measured with {row['group']}."
    )


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
    return row["low"] is not None and not row["low"] <= 0 <= row["high"] and is_significant(row)


def _grid(measured: Measured) -> ReportTable:
    """Return GSR, difference and relative value of each system under each set of vectors."""
    wanted = measured.results.filter(pl.col("measure").is_in(["gsr", "gsr_difference", "gsr_ratio"]))
    # A ratio to a slope that may be zero says nothing; its note says so and the cell stays empty.
    vague = (pl.col("measure") == "gsr_ratio") & (pl.col("note") != "")
    wanted = wanted.with_columns(value=pl.when(vague).then(None).otherwise(pl.col("value")))
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
