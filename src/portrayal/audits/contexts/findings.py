"""Findings in words, a claim for each measure of the family; and warnings."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from portrayal.audits.contexts.measures.coding import NEITHER
from portrayal.audits.contexts.measures.questions import GENDERED, VARIANT
from portrayal.audits.contexts.measures.rq2_recognition import A_GENDER, NO_GENDER, RARE
from portrayal.audits.contexts.measures.rq4_descriptions import LEAST
from portrayal.audits.contexts.measures.views import NEUTRAL
from portrayal.audits.contexts.settings import ContextsSettings
from portrayal.reporting.words.sentences import Claim, Row, say
from portrayal.study.audit import Finding, Measured
from portrayal.text.formatting import listed, number, percent, plural

TEXTS: Mapping[str, Any] = tomllib.loads((Path(__file__).parent / "sentences.toml").read_text(encoding="utf-8"))
KNOWN = 0.8  # of the tags, under which a warning says so
NAMES = {A_GENDER: "names a gender", NO_GENDER: "names none", NEUTRAL: "names no gender"}


def find_sentences(measured: Measured, settings: ContextsSettings) -> list[Finding]:
    """Return a sentence for every test that found something, and shared ones for the others."""

    def after(row: Row) -> str:
        vectors = _other_vectors(measured.results, row) if row["measure"] == "distance_anova" else ""
        return " ".join(filter(None, [vectors, _by_group(measured.results, row), _when_sure(measured.results, row)]))

    claims = {name: replace(claim, after=after) for name, claim in CLAIMS.items()}
    return say(measured, claims, ~pl.col("row").is_in(_told_as_misgendered(measured.results)))


def _told_as_misgendered(results: pl.DataFrame) -> list[int]:
    """Return rows of unnamed genders that repeat those of misgendering."""
    same = ["system", "factor", "group", "versus", "value", "p", "decision"]
    wrong = results.filter(measure="misgendered_worst_group").select(same)
    unnamed = results.with_row_index("row").filter(measure="unnamed_worst_group")
    return unnamed.join(wrong, on=same, how="semi", nulls_equal=True)["row"].to_list()


def say_pictures(group: str, axis: str, within: str | None) -> str:
    """Name the pictures of a group, for sentences about silence."""
    where = f" in the {within}" if within else ""
    return f"pictures in the {group}" if axis == "place" else f"pictures of {group} people{where}"


def _clause(text: str) -> Callable[[Row], str]:
    """Return a clause filled with a row's columns and the words for them."""

    def sees(gender: str | None) -> str:
        article = "an" if (gender or "")[:1] in "aeiou" else "a"
        return NAMES.get(gender or "") or f"sees {article} {gender or ''} person"

    def fill(row: Row) -> str:
        place = f"the {row['place']}" if row["place"] else ""
        words = {
            "tags": f"{'demographic' if row['attribute'] == 'demographics' else row['attribute']} tags",
            "sees": sees(row["inferred"]), "one": sees(row["group"]), "other": sees(row["versus"]),
            "places": place or "places", "all_places": place or "all places", "tolerance": percent(row["null"] or 0.0),
        }  # fmt: skip
        return text.format_map({**row, **words})

    return fill


def _claim(texts: Mapping[str, str]) -> Claim:
    """Return the claim of a measure from its texts."""
    plain = {name: text for name, text in texts.items() if name in ("figure", "several")}
    clauses: dict[str, Any] = {name: _clause(text) for name, text in texts.items() if name not in plain}
    return Claim(**clauses, figure=plain.get("figure", ""), several=plain.get("several"))


CLAIMS = {measure: _claim(texts) for measure, texts in TEXTS["claims"].items()}


def _other_vectors(results: pl.DataFrame, row: Row) -> str:
    """Say with which other clusters of tags the interval of the same test reaches 0."""
    same = {name: row[name] for name in ("system", "place", "factor")}
    others = results.filter(pl.col("low").is_null() | (pl.col("low") <= 0), measure="distance_variant", **same)
    reached = listed(others["vector"].to_list())
    return f"Counted with other clusters of tags ({reached}), the interval reaches 0." if reached else ""


def _by_group(results: pl.DataFrame, row: Row) -> str:
    """Say the shares of all groups beside that of the worst, the largest first."""
    name = row["measure"].removesuffix("_worst_group")
    if name == row["measure"]:
        return ""
    mine = results.filter(pl.col("measure") == f"{name}_of_group", system=row["system"], factor=row["factor"])
    shares = mine.sort("value", descending=True, nulls_last=True).select("group", "value").rows()
    return f"By group: {listed([f'{group} {percent(value)}' for group, value in shares])}." if shares else ""


def _when_sure(results: pl.DataFrame, row: Row) -> str:
    """Say at which thresholds of confidence the interval of the same test reaches 0."""
    names = ("system", "group", "versus", "place", "inferred", "attribute", "factor")
    same = [pl.col(name).eq_missing(pl.lit(row[name], pl.String)) for name in names]
    again = results.filter(pl.col("measure") == VARIANT, pl.col("of") == row["measure"], *same)
    clear = (pl.col("low") > 0) if row["value"] > 0 else (pl.col("high") < 0)
    if reached := again.filter(~clear.fill_null(False))["confidence"].to_list():
        return f"Counted with tags of a confidence of {listed(reached)} alone, the interval reaches 0."
    clear_of = listed(again["confidence"].to_list())
    return f"It holds with tags of a confidence of {clear_of} alone." if again.height else ""


def warnings_of(results: pl.DataFrame, inputs: Mapping[str, Any]) -> list[str]:
    """Return the warnings at the top of the report."""
    low = results.filter(pl.col("value") < KNOWN, measure="coverage", attribute="known").select("system", "value")
    text = "The typology knows {} of {}'s tags; the others wait in reviews.csv."
    unknown = [text.format(percent(value), system) for system, value in low.iter_rows()]
    return [*_gendered_places(results), *_rated_otherwise(results, inputs.get("contexts")), *unknown]


def remarks_of(results: pl.DataFrame, inputs: Mapping[str, Any], factors: Sequence[str]) -> list[str]:
    """Return the remarks of the section: people left out, places not recognised, small groups."""
    remarks = [f"{person} was left out: {reason}" for person, reason in inputs.get("unusable", ())]
    if people := inputs.get("cut_heads", ()):
        remarks.append(
            f"The heads of {listed(list(people))} are cut off by the edges of their own pictures. They are shown larger than the others, so"
            " that the cut lies at the edge of the frame; what differs between them and others may be their size."
        )
    return [*remarks, *_unrecognised(results), *_small_cells(results, factors)]


def _gendered_places(results: pl.DataFrame) -> list[str]:
    """Say where a tagger names a gender in a place with nobody in it."""
    rows = results.filter(pl.col("value") > 0, measure=GENDERED)
    texts = []
    for system, value, n in rows.filter(pl.col("place").is_null()).select("system", "value", "n").iter_rows():
        placed = rows.filter(pl.col("place").is_not_null(), system=system).select("place", "inferred")
        where = listed([f"{gender} in the {place}" for place, gender in placed.iter_rows()])
        pictures = f"{round(value * n)} of {plural(n, 'picture')}"
        texts.append(f"{system} names a gender in {pictures} of places with nobody in them ({where}).")
    return texts


def _rated_otherwise(results: pl.DataFrame, contexts: pl.DataFrame | None) -> list[str]:
    """Name places that the study's own raters do not find gendered as assumed."""
    rows = results.filter(pl.col("group").is_null(), measure="place_rating").drop_nulls("value")
    if contexts is None or rows.is_empty():
        return []
    expected = dict(contexts.select("name", "stereotype").iter_rows())
    return [
        f"The study's raters put the {place} at {number(median)} between 0 (feminine) and {2 * NEITHER} (masculine),"
        f" although its stereotype is taken to be {expected[place]}."
        for place, median in rows.select("place", "value").iter_rows()
        if (median >= NEITHER if expected.get(place) == "feminine" else median <= NEITHER)
        and expected.get(place) in ("feminine", "masculine")
    ]


def _unrecognised(results: pl.DataFrame) -> list[str]:
    rows = results.filter(measure="recognised_background").drop_nulls("value")
    texts = []
    for (system,), part in rows.group_by("system", maintain_order=True):
        rare = part.filter(pl.col("value") < RARE)["background"].to_list()
        named = f" ({', '.join(rare)})" if len(rare) <= 6 else ""
        seen = f"{len(rare)} of {part.height} backgrounds{named} in under {percent(RARE)} of pictures"
        texts += [f"{system} recognises {seen}."] if rare else []
    return texts


def _small_cells(results: pl.DataFrame, factors: Sequence[str]) -> list[str]:
    """Name groups of fewer than three people, shown or with tags that are read."""
    cells = results.filter(pl.col("group").is_not_null(), pl.col("value").is_null(), measure="distance")
    people = pl.col("n") + pl.col("n_missing")
    small = cells.filter(people < LEAST)["group"].unique().sort()
    texts = []
    if len(small):
        texts.append(f"Groups of {' and '.join(factors)} with fewer than three people are NA: {'; '.join(small)}.")
    lost = cells.filter(people >= LEAST, ~pl.col("group").is_in(small.implode()))
    for (system,), part in lost.group_by("system", maintain_order=True):
        where, groups = plural(part["place"].n_unique(), "place"), "; ".join(part["group"].unique().sort())
        few = f"{system} gave tags that are read about fewer than three people of a group in {where}"
        texts.append(f"{few}, which are NA there: {groups}.")
    return texts
