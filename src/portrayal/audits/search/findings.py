"""Sentences for readers: one for each claim of a system, over all rulers."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from operator import itemgetter
from pathlib import Path
from typing import Any

import polars as pl

from portrayal.audits.search.measures.reinforcement import COMMON
from portrayal.audits.search.measures.scored_runs import PERFECT, REFERENCES
from portrayal.audits.search.settings import SearchSettings
from portrayal.reporting.words.sentences import Claim, Row, figures, say, written
from portrayal.stats.decisions.decision import CONFIRMATORY, FOUND, NOT_FOUND, is_found
from portrayal.study.audit import Finding, Measured
from portrayal.text.formatting import estimate

TEXTS: Mapping[str, Any] = tomllib.loads((Path(__file__).parent / "sentences.toml").read_text(encoding="utf-8"))


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
    slopes = _slopes(measured)
    ruled: dict[str, Any] = {"where": "measurements with {ruler}", "always_where": True}

    def slope(system: str, other: str, row: Row) -> str:
        common = slopes.get((system, other, row["ruler"]))
        return estimate(slopes.get((system, None, row["ruler"])) if common is None else common)

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
            positive=f"amplifies {lean} beyond a perfect ranking, {on}",
            negative=f"ranks documents less along {lean} than a perfect ranking would, {on}",
            asks=f"ranks documents more or less along {lean} than a perfect ranking would",
            after=lambda row: (
                f"Its GSR is {slope(row['system'], PERFECT, row)}, the perfect system's {slope(PERFECT, row['system'], row)}.{rulers(row)}"
            ),
            figure="its stereotype score (GSR) less a perfect ranking's is",
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
            after=lambda row: (
                f"GSR goes from {slope(row['versus'], row['system'], row)} to {slope(row['system'], row['versus'], row)}."
                f"{rulers(row)}"
            ),
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


def _slopes(measured: Measured) -> dict[tuple[str, str | None, str], Any]:
    """Return slopes by system, the other system and ruler."""
    rows = measured.results.filter(pl.col("measure").is_in(["gsr", COMMON])).iter_rows(named=True)
    return {
        (row["system"], row["versus"] if row["measure"] == COMMON else None, row["ruler"]): row["value"] for row in rows
    }


def _beside(other: Mapping[str, Any], row: Row) -> str:
    """Say the result of another ruler for the same claim."""
    ruler = f"With the word vectors {other['ruler']}"
    if is_found(other):
        way = "it is found too" if other["value"] * row["value"] > 0 else "the opposite is found"
        return f"{ruler} {way}: {figures(other)}."
    if other["decision"] == NOT_FOUND:
        way = "same" if other["value"] * row["value"] > 0 else "other"
        sign = f", of the {way} sign" if set(written(other)[0]) & set("123456789") else ""  # a printed 0.00 has none
        return f"{ruler} it is not found: {figures(other)}{sign}."
    return f"{ruler} it cannot be said: {other['reason']}."
