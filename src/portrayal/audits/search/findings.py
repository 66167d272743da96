"""Sentences for readers: one for each claim of a system, over all rulers."""

from __future__ import annotations

from collections.abc import Mapping
from operator import itemgetter
from typing import Any

import polars as pl

from portrayal.audits.search.measures.scored_runs import PERFECT, REFERENCES
from portrayal.audits.search.settings import SearchSettings
from portrayal.reporting.words.sentences import Claim, Row, figures, say
from portrayal.stats.decisions.decision import CONFIRMATORY, FOUND, NOT_FOUND, is_found
from portrayal.study.audit import Finding, Measured
from portrayal.text.formatting import estimate

VALIDITY = (
    "Positive GSR is not by itself harm: relevant documents share their query's domain and so its words. Read a system against the "
    "perfect one, which holds all and only the relevant documents.",
    "GSR is a slope over queries. It says nothing about a single query or document, and is noisy on small collections.",
    "The direction is a proxy learnt from text of one time and language. It knows two poles; people who are neither are not measured.",
    "A mean of word scores does not see negation, irony or syntax: 'not a nurse' counts as 'nurse'. A word of two meanings (labor) "
    "gets the mean of both.",
    "Queries that name a gender themselves (women in parliaments) need care: a low GSR there may go against what was asked.",
    "Taking the direction out of a ranker's vectors does not take the stereotype out: what is left is measured here with vectors "
    "that were not changed.",
    "A ranker that optimised GSR could be gamed by writers of documents; GSR is for auditing, not for ranking.",
)


def findings(measured: Measured, settings: SearchSettings) -> list[Finding]:
    """Return a sentence for each claim of each system."""
    claims, results = _claims(measured, settings), measured.results
    tested, there = set(results.filter(pl.col("family") == CONFIRMATORY)["measure"]), set(results["measure"])
    main = "gsr_difference" if "gsr_difference" in there else "gsr"  # its own slope only without a perfect system
    names = [name for name in claims if name in tested or name in (main, "gsr_change")]
    rows = results.with_row_index("row").filter(pl.col("measure").is_in(names), ~pl.col("system").is_in(REFERENCES))
    spoken: list[int] = []
    for _, mine in rows.group_by("measure", "system", "versus", maintain_order=True):
        clear = mine.filter(pl.col("decision") == FOUND)["row"].to_list()
        spoken += clear[:1] or mine["row"].to_list()
    return say(measured, claims, pl.col("row").is_in(spoken))


def _claims(measured: Measured, settings: SearchSettings) -> dict[str, Claim]:
    """Return the claim of each measure, about gender or other poles."""
    high, low = settings.poles
    lean = "the gender of the query" if settings.about_gender else f"the query's lean to {high} or {low}"
    on = "measured with the word vectors {ruler}"
    rows = measured.results.rows(named=True)
    slopes = {(row["system"], row["ruler"]): row["value"] for row in rows if row["measure"] == "gsr"}
    ruled: dict[str, Any] = {"where": "measurements with {ruler}", "always_where": True}

    def slope(system: str, row: Row) -> str:
        return estimate(slopes.get((system, row["ruler"])))

    def rulers(row: Row) -> str:
        """Say whether the study's other rulers show the same."""
        claim = itemgetter("measure", "system", "versus")
        others = (other for other in rows if claim(other) == claim(row) and other["ruler"] != row["ruler"])
        return "".join(f" {_beside(other, row)}" for other in others)

    def changed(row: Row, than: str, on: str = "") -> str:
        text = f"ranks documents {than} {measured.shown(row['versus'])}"
        return f"{text}, {on.format_map(row)}" if on else text

    return {
        "gsr_difference": Claim(
            positive=f"ranks documents along {lean} beyond what the relevant documents bring along, {on}",
            negative=f"ranks documents less along {lean} than the relevant documents would, {on}",
            asks=f"ranks documents more or less along {lean} than the relevant documents would",
            after=lambda row: (
                f"Its GSR is {slope(row['system'], row)}, the perfect system's {slope(PERFECT, row)}.{rulers(row)}"
            ),
            figure="its GSR less the perfect system's is",
            **ruled,
        ),
        "gsr": Claim(
            positive=f"ranks documents along {lean}, {on}",
            negative=f"ranks documents against {lean}, {on}",
            asks=f"ranks documents along or against {lean}",
            after=lambda row: f"There are no judgments to tell how much of it is plain relevance.{rulers(row)}",
            figure="GSR",
            **ruled,
        ),
        "gsr_change": Claim(
            positive=lambda row: changed(row, f"more along {lean} than", on),
            negative=lambda row: changed(row, f"less along {lean} than", on),
            asks=lambda row: changed(row, f"more or less along {lean} than"),
            after=lambda row: f"GSR goes from {slope(row['versus'], row)} to {slope(row['system'], row)}.{rulers(row)}",
            figure="its GSR less that of the other is",
            **ruled,
        ),
        "over_representation_trend": Claim(
            positive=f"over-represents documents about the people the query leans to ({high} or {low})",
            negative=f"over-represents documents about other people than the query leans to ({high} or {low})",
            asks=f"over-represents documents about {high} or {low} people along or against the lean of the query",
            figure="Pearson's r",
        ),
    }


def _beside(other: Mapping[str, Any], row: Row) -> str:
    """Say the result of another ruler for the same claim."""
    ruler = f"With the word vectors {other['ruler']}"
    if is_found(other):
        way = "it is found too" if other["value"] * row["value"] > 0 else "the opposite is found"
        return f"{ruler} {way}: {figures(other)}."
    if other["decision"] == NOT_FOUND:
        way = "same" if other["value"] * row["value"] > 0 else "other"
        return f"{ruler} it is not found: {figures(other)}, of the {way} sign."
    return f"{ruler} it cannot be said: {other['reason']}."
