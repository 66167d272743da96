"""Warnings before the numbers: people left out, places not recognised, groups too small."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from portrayal.audits.contexts.measures.nobody import GENDERED
from portrayal.audits.contexts.measures.ratings import NEITHER
from portrayal.audits.contexts.measures.rq2_recognition import RARE
from portrayal.audits.contexts.measures.rq4_descriptions import LEAST
from portrayal.text.formatting import listed, number, percent, plural

KNOWN = 0.8  # of the tags, under which a warning says so


def warnings_of(results: pl.DataFrame, inputs: Mapping[str, Any]) -> list[str]:
    """Return the warnings at the top of the report."""
    low = results.filter(pl.col("value") < KNOWN, measure="coverage", attribute="known")
    return [
        *_gendered_places(results),
        *_rated_otherwise(results, inputs.get("contexts")),
        *(
            f"The typology knows {percent(value)} of {system}'s tags; the others wait in reviews.csv."
            for system, value in low.select("system", "value").iter_rows()
        ),
    ]


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
        texts.append(
            f"{system} names a gender in {round(value * n)} of {plural(n, 'picture')} of places with nobody in them ({where})."
        )
    return texts


def _rated_otherwise(results: pl.DataFrame, contexts: pl.DataFrame | None) -> list[str]:
    """Name places that the study's own raters do not find gendered as assumed."""
    rows = results.filter(pl.col("group").is_null(), measure="place_rating").drop_nulls("value")
    if contexts is None or rows.is_empty():
        return []
    expected = dict(contexts.select("name", "stereotype").iter_rows())
    return [
        f"The study's raters put the {place} at {number(median)} between 0 (feminine) and {2 * NEITHER} (masculine): its"
        f" stereotype is taken to be {expected[place]}."
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
        text = (
            f"{system} recognises {len(rare)} of {part.height} backgrounds{named} in under {percent(RARE)} of pictures."
        )
        texts += [text] if rare else []
    return texts


def _small_cells(results: pl.DataFrame, factors: Sequence[str]) -> list[str]:
    """Name groups of fewer than three people, shown or answered about."""
    cells = results.filter(pl.col("group").is_not_null(), pl.col("value").is_null(), measure="distance")
    shown = pl.col("n") + pl.col("n_missing")
    small = cells.filter(shown < LEAST)["group"].unique().sort()
    texts = []
    if len(small):
        texts.append(f"Groups of {' and '.join(factors)} with fewer than three people are NA: {'; '.join(small)}.")
    lost = cells.filter(shown >= LEAST, ~pl.col("group").is_in(small.implode()))
    for (system,), part in lost.group_by("system", maintain_order=True):
        places, groups = plural(part["place"].n_unique(), "place"), "; ".join(part["group"].unique().sort())
        texts.append(
            f"{system} answered about fewer than three people of a group in {places}, which are NA there: {groups}."
        )
    return texts
