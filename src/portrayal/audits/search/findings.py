"""Sentences for readers: one for each claim of a system, over all rulers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    claims = _claims(measured, settings)
    rows = measured.results.with_row_index("row").filter(
        pl.col("measure").is_in(_spoken_measures(measured, list(claims))), ~pl.col("system").is_in(REFERENCES)
    )
    spoken: list[int] = []
    for _, mine in rows.group_by("measure", "system", "versus", maintain_order=True):
        clear = mine.filter(pl.col("decision") == FOUND)["row"].to_list()
        spoken += clear[:1] or mine["row"].to_list()
    return say(measured, claims, pl.col("row").is_in(spoken))


def _spoken_measures(measured: Measured, claims: Sequence[str]) -> list[str]:
    """Return the measures of sentences: a system's own slope only without a perfect system."""
    tested = set(measured.results.filter(pl.col("family") == CONFIRMATORY)["measure"])
    there = set(measured.results["measure"])
    main = "gsr_difference" if "gsr_difference" in there else "gsr"
    return [name for name in claims if name in tested or name in (main, "gsr_change")]


def _claims(measured: Measured, settings: SearchSettings) -> dict[str, Claim]:
    """Return the claim of each measure, about gender or other poles."""
    high, low = settings.poles
    lean = "the gender of the query" if settings.about_gender else f"the query's lean to {high} or {low}"
    on = "measured with the word vectors {ruler}"
    others = _Others(measured)
    ruled = {"where": "measurements with {ruler}", "always_where": True}
    return {
        "gsr_difference": Claim(
            positive=f"ranks documents along {lean} beyond what the relevant documents bring along, {on}",
            negative=f"ranks documents less along {lean} than the relevant documents would, {on}",
            asks=f"ranks documents more or less along {lean} than the relevant documents would",
            **ruled,
            after=others.difference,
            figure="its GSR less the perfect system's is",
        ),
        "gsr": Claim(
            positive=f"ranks documents along {lean}, {on}",
            negative=f"ranks documents against {lean}, {on}",
            asks=f"ranks documents along or against {lean}",
            **ruled,
            after=others.absolute,
            figure="GSR",
        ),
        "gsr_change": Claim(
            positive=lambda row: others.changed(row, f"more along {lean} than", on),
            negative=lambda row: others.changed(row, f"less along {lean} than", on),
            asks=lambda row: others.changed(row, f"more or less along {lean} than"),
            **ruled,
            after=others.change,
            figure="its GSR less that of the other is",
        ),
        "over_representation_trend": Claim(
            positive=f"over-represents documents about the people the query leans to ({high} or {low})",
            negative=f"over-represents documents about other people than the query leans to ({high} or {low})",
            asks=f"over-represents documents about {high} or {low} people along or against the lean of the query",
            figure="Pearson's r",
        ),
    }


class _Others:
    """The figures beside a finding: the two slopes, and the results of the other rulers."""

    def __init__(self, measured: Measured) -> None:
        self.measured = measured
        self.rows = measured.results.rows(named=True)
        self.slopes = {(row["system"], row["ruler"]): row["value"] for row in self.rows if row["measure"] == "gsr"}

    def difference(self, row: Row) -> str:
        """Say both slopes, and the other rulers."""
        own, perfect = self._slope(row["system"], row), self._slope(PERFECT, row)
        return f"Its GSR is {own}, the perfect system's {perfect}.{self._rulers(row)}"

    def absolute(self, row: Row) -> str:
        """Say that there is nothing to compare with, and the other rulers."""
        return f"There are no judgments to tell how much of it is plain relevance.{self._rulers(row)}"

    def change(self, row: Row) -> str:
        """Say both slopes of a variant, and the other rulers."""
        before, after = self._slope(row["versus"], row), self._slope(row["system"], row)
        return f"GSR goes from {before} to {after}.{self._rulers(row)}"

    def changed(self, row: Row, than: str, on: str = "") -> str:
        """Say that a variant ranks another way than its original."""
        text = f"ranks documents {than} {self.measured.shown(row['versus'])}"
        return f"{text}, {on.format_map(row)}" if on else text

    def _slope(self, system: str, row: Row) -> str:
        return estimate(self.slopes.get((system, row["ruler"])))

    def _rulers(self, row: Row) -> str:
        """Say whether the study's other rulers show the same."""
        claim = itemgetter("measure", "system", "versus")
        others = (other for other in self.rows if claim(other) == claim(row) and other["ruler"] != row["ruler"])
        return "".join(f" {_beside(other, row)}" for other in others)


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
