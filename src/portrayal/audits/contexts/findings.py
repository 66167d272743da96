"""Findings in words: a claim for each measure of the family."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import polars as pl

from portrayal.audits.contexts.measures.confidence import VARIANT
from portrayal.audits.contexts.measures.rq2_recognition import A_GENDER, NO_GENDER
from portrayal.audits.contexts.measures.views import NEUTRAL
from portrayal.audits.contexts.settings import ContextsSettings
from portrayal.reporting.words.sentences import Claim, Row, say
from portrayal.study.audit import Finding, Measured
from portrayal.text.formatting import listed

NAMES = {A_GENDER: "names a gender", NO_GENDER: "names none", NEUTRAL: "names no gender"}


def find_sentences(measured: Measured, settings: ContextsSettings) -> list[Finding]:
    """Return a sentence for every test that found something, and shared ones for the others."""
    results = measured.results
    claims = {name: replace(claim, after=lambda row: _when_sure(results, row)) for name, claim in CLAIMS.items()}
    both = lambda row: f"{_other_vectors(results, row)} {_when_sure(results, row)}".strip()  # noqa: E731
    return say(measured, {**claims, "distance_anova": replace(CLAIMS["distance_anova"], after=both)})


def say_pictures(group: str, axis: str, within: str | None) -> str:
    """Name the pictures of a group, for sentences about silence."""
    where = f" in the {within}" if within else ""
    return f"pictures in the {group}" if axis == "place" else f"pictures of {group} people{where}"


def _clause(text: str) -> Callable[[Row], str]:
    """Return a clause filled with a row's columns and the words for them."""

    def fill(row: Row) -> str:
        place = f"the {row['place']}" if row["place"] else ""
        words = {
            "tags": f"{'demographic' if row['attribute'] == 'demographics' else row['attribute']} tags",
            "sees": _sees(row["inferred"]),
            "one": _sees(row["group"]),
            "other": _sees(row["versus"]),
            "places": place or "places",
            "all_places": place or "all places",
        }
        return text.format_map({**row, **words})

    return fill


def _sees(gender: str | None) -> str:
    """Say that the tagger sees a person of this gender, or names none."""
    named = gender or ""
    return NAMES.get(named) or f"sees {'an' if named[:1] in 'aeiou' else 'a'} {named} person"


def _other_vectors(results: pl.DataFrame, row: Row) -> str:
    """Say with which other clusters of tags the interval of the same test reaches 0."""
    same = {name: row[name] for name in ("system", "place", "factor")}
    others = results.filter(pl.col("low").is_null() | (pl.col("low") <= 0), measure="distance_variant", **same)
    reached = listed(others["vector"].to_list())
    return f"Counted with other clusters of tags ({reached}), the interval reaches 0." if reached else ""


def _when_sure(results: pl.DataFrame, row: Row) -> str:
    """Say at which thresholds of confidence the interval of the same test reaches 0."""
    names = ("system", "group", "versus", "place", "inferred", "attribute", "factor")
    same = [pl.col(name).eq_missing(pl.lit(row[name], pl.String)) for name in names]
    again = results.filter(pl.col("measure") == VARIANT, pl.col("of") == row["measure"], *same)
    clear = (pl.col("low") > 0) if row["value"] > 0 else (pl.col("high") < 0)
    reached = again.filter(~clear.fill_null(False))["confidence"].to_list()
    if reached:
        return f"Counted with tags of a confidence of {listed(reached)} alone, the interval reaches 0."
    return (
        f"It holds with tags of a confidence of {listed(again['confidence'].to_list())} alone." if again.height else ""
    )


CLAIMS = {
    "congruence": Claim(
        positive="names the gender of a place's stereotype more often than the other, whoever is shown there",
        negative="names the gender of a place's stereotype less often than the other, whoever is shown there",
        asks="follows the stereotype of a place when it names a gender",
    ),
    "inferred_change": Claim(
        positive=_clause("{sees} more often in the {place} than in pictures of the same people alone"),
        negative=_clause("{sees} less often in the {place} than in pictures of the same people alone"),
        asks="names genders otherwise in a place than of the same people alone",
        where="the {place}: {inferred}",
    ),
    "recognition_independence": Claim(
        positive=_clause("recognises {places} more often where it {one} than where it {other}"),
        negative=_clause("recognises {places} less often where it {one} than where it {other}"),
        asks="recognises a place more often with one inferred gender than with another, or none",
        where=_clause("{all_places}: {group} and {versus}"),
    ),
    "distance_anova": Claim(
        positive="changes its descriptions by different amounts for groups of {factor} in the {place}",
        asks="changes its descriptions in places by different amounts for different groups",
        where="the {place} by {factor}",
        figure="partial eta squared",
    ),
    "attribute_within": Claim(
        positive=_clause(
            "shifts more towards {tags} for {group} people than for {versus} people when the same people are put in the {place}"
        ),
        negative=_clause(
            "shifts less towards {tags} for {group} people than for {versus} people when the same people are put in the {place}"
        ),
        asks="shifts its kinds of tags differently for different groups of people in a place",
        where=_clause("the {place}: {tags}"),
    ),
    "attribute_between": Claim(
        positive=_clause("describes {group} people with more {tags} than {versus} people in the {place}"),
        negative=_clause("describes {group} people with fewer {tags} than {versus} people in the {place}"),
        asks="uses different kinds of tags for different groups of people in a place",
        where=_clause("the {place}: {tags}"),
    ),
    "expectancy": Claim(
        positive="describes people who fit the place more abstractly than people who do not",
        negative="describes people who fit the place more concretely than people who do not",
        asks="describes people who fit the place more abstractly, or more concretely, than people who do not",
    ),
}
