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
    return [*_gendered_places(results), *_rated_otherwise(results, inputs.get("contexts")), *_low_coverage(results)]


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
    rows = results.filter(pl.col("measure") == GENDERED, pl.col("value") > 0)
    found = []
    for system, value, n in rows.filter(pl.col("place").is_null()).select("system", "value", "n").iter_rows():
        placed = rows.filter(pl.col("place").is_not_null(), system=system)
        where = [f"{gender} in the {place}" for place, gender in placed.select("place", "inferred").iter_rows()]
        found.append(
            f"{system} names a gender in {round(value * n)} of {plural(n, 'picture')} of places with nobody in them ({listed(where)})."
        )
    return found


def _rated_otherwise(results: pl.DataFrame, contexts: pl.DataFrame | None) -> list[str]:
    """Name places that the study's own raters do not find gendered as assumed."""
    rows = results.filter(pl.col("measure") == "place_rating", pl.col("group").is_null())
    if contexts is None or rows.is_empty():
        return []
    expected = dict(contexts.select("name", "stereotype").iter_rows())
    return [
        f"The study's raters put the {place} at {number(median)} between 0 (feminine) and {2 * NEITHER} (masculine): its"
        f" stereotype is taken to be {expected[place]}."
        for place, median in rows.drop_nulls("value").select("place", "value").iter_rows()
        if (expected.get(place) == "feminine" and median >= NEITHER)
        or (expected.get(place) == "masculine" and median <= NEITHER)
    ]


def _unrecognised(results: pl.DataFrame) -> list[str]:
    rows = results.filter(pl.col("measure") == "recognised_background")
    found = []
    for (system,), part in rows.drop_nulls("value").group_by("system", maintain_order=True):
        rare = part.filter(pl.col("value") < RARE)["background"].to_list()
        if rare:
            named = f" ({', '.join(rare)})" if len(rare) <= 6 else ""
            found.append(
                f"{system} recognises {len(rare)} of {part.height} backgrounds{named} in under {percent(RARE)} of pictures."
            )
    return found


def _small_cells(results: pl.DataFrame, factors: Sequence[str]) -> list[str]:
    """Name groups of fewer than three people, shown or answered about."""
    rows = results.filter(
        pl.col("measure") == "distance", pl.col("group").is_not_null(), pl.col("value").is_null()
    ).with_columns(shown=pl.col("n") + pl.col("n_missing"))
    small = rows.filter(pl.col("shown") < LEAST)["group"].unique().sort().to_list()
    named = " and ".join(factors)
    found = [f"Groups of {named} with fewer than three people are NA: {'; '.join(small)}."] if small else []
    lost = rows.filter(pl.col("shown") >= LEAST, ~pl.col("group").is_in(small))
    return [
        *found,
        *(_unanswered(str(system), part) for (system,), part in lost.group_by("system", maintain_order=True)),
    ]


def _unanswered(system: str, part: pl.DataFrame) -> str:
    cells = "; ".join(part["group"].unique().sort())
    places = plural(part["place"].n_unique(), "place")
    return f"{system} answered about fewer than three people of a group in {places}, which are NA there: {cells}."


def _low_coverage(results: pl.DataFrame) -> list[str]:
    rows = results.filter(pl.col("measure") == "coverage", pl.col("attribute") == "known", pl.col("value") < KNOWN)
    return [
        f"The typology knows {percent(value)} of {system}'s tags; the others wait in reviews.csv."
        for system, value in rows.select("system", "value").iter_rows()
    ]
