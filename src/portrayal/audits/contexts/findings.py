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

FEATURES = {"demographics": "demographic", "concrete": "concrete", "abstract": "abstract"}


def find_sentences(measured: Measured, settings: ContextsSettings) -> list[Finding]:
    """Return a sentence for every test that found something, and shared ones for the others."""
    results = measured.results
    sure = {name: replace(claim, after=lambda row: _when_sure(results, row)) for name, claim in CLAIMS.items()}
    return say(measured, {**sure, "distance_anova": _distance(results)})


def say_pictures(group: str, axis: str, within: str | None) -> str:
    """Name the pictures of a group, for sentences about silence."""
    where = f" in the {within}" if within else ""
    return f"pictures in the {group}" if axis == "place" else f"pictures of {group} people{where}"


def _inferred(how: str) -> Callable[[Row], str]:
    """Say that a gender, or none, is inferred more or less often in a place."""

    def clause(row: Row) -> str:
        named = "names no gender" if row["inferred"] == NEUTRAL else f"sees {_person(row['inferred'])}"
        return f"{named} {how} often in the {row['place']} than in pictures of the same people alone"

    return clause


def _recognises(how: str) -> Callable[[Row], str]:
    def clause(row: Row) -> str:
        first, second = (_named(row[side]) for side in ("group", "versus"))
        return f"recognises {_place(row, 'places')} {how} often where it {first} than where it {second}"

    return clause


def _place(row: Row, everywhere: str) -> str:
    return f"the {row['place']}" if row["place"] else everywhere


def _named(side: str) -> str:
    return {A_GENDER: "names a gender", NO_GENDER: "names none"}.get(side) or f"sees {_person(side)}"


def _person(gender: str) -> str:
    return f"{'an' if gender[:1] in 'aeiou' else 'a'} {gender} person"


def _within(how: str) -> Callable[[Row], str]:
    return lambda row: (
        f"shifts {how} towards {_tags(row)} for {row['group']} people than for {row['versus']} people when the"
        f" same people are put in the {row['place']}"
    )


def _between(how: str) -> Callable[[Row], str]:
    return lambda row: (
        f"describes {row['group']} people with {how} {_tags(row)} than {row['versus']} people in the {row['place']}"
    )


def _tags(row: Row) -> str:
    return f"{FEATURES.get(row['attribute'], row['attribute'])} tags"


def _distance(results: pl.DataFrame) -> Claim:
    return Claim(
        positive="changes its descriptions by different amounts for groups of {factor} in the {place}",
        asks="changes its descriptions in places by different amounts for different groups",
        where="the {place} by {factor}",
        figure="partial eta squared",
        after=lambda row: f"{_other_vectors(results, row)} {_when_sure(results, row)}".strip(),
    )


def _other_vectors(results: pl.DataFrame, row: Row) -> str:
    """Say with which other clusters of tags the interval of the same test reaches 0."""
    same = [pl.col(name) == row[name] for name in ("system", "place", "factor")]
    others = results.filter(pl.col("measure") == "distance_variant", *same)
    reached = others.filter(pl.col("low").is_null() | (pl.col("low") <= 0))["vector"].to_list()
    if not reached:
        return ""
    return f"Counted with other clusters of tags ({listed(reached)}), the interval reaches 0."


def _when_sure(results: pl.DataFrame, row: Row) -> str:
    """Say at which thresholds of confidence the interval of the same test reaches 0."""
    same = [
        pl.col(name).eq_missing(pl.lit(row[name], pl.String))
        for name in ("system", "group", "versus", "place", "inferred", "attribute", "factor")
    ]
    again = results.filter(pl.col("measure") == VARIANT, pl.col("of") == row["measure"], *same)
    clear = (pl.col("low") > 0) if row["value"] > 0 else (pl.col("high") < 0)
    reached = again.filter(~clear.fill_null(False))["confidence"].to_list()
    if reached:
        return f"Counted with tags of a confidence of {listed(reached)} alone, the interval reaches 0."
    tried = again["confidence"].to_list()
    return f"It holds with tags of a confidence of {listed(tried)} alone." if tried else ""


CLAIMS = {
    "congruence": Claim(
        positive="names the gender of a place's stereotype more often than the other, whoever is shown there",
        negative="names the gender of a place's stereotype less often than the other, whoever is shown there",
        asks="follows the stereotype of a place when it names a gender",
    ),
    "inferred_change": Claim(
        positive=_inferred("more"),
        negative=_inferred("less"),
        asks="names genders otherwise in a place than of the same people alone",
        where=lambda row: f"the {row['place']}: {row['inferred']}",
    ),
    "recognition_independence": Claim(
        positive=_recognises("more"),
        negative=_recognises("less"),
        asks="recognises a place more often with one inferred gender than with another, or none",
        where=lambda row: f"{_place(row, 'all places')}: {row['group']} and {row['versus']}",
    ),
    "attribute_within": Claim(
        positive=_within("more"),
        negative=_within("less"),
        asks="shifts its kinds of tags differently for different groups of people in a place",
        where=lambda row: f"the {row['place']}: {_tags(row)}",
    ),
    "attribute_between": Claim(
        positive=_between("more"),
        negative=_between("fewer"),
        asks="uses different kinds of tags for different groups of people in a place",
        where=lambda row: f"the {row['place']}: {_tags(row)}",
    ),
    "expectancy": Claim(
        positive="describes people who fit the place more abstractly than people who do not",
        negative="describes people who fit the place more concretely than people who do not",
        asks="describes people who fit the place more abstractly, or more concretely, than people who do not",
    ),
}
