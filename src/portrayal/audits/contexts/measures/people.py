"""Pictures by person and place: who is in them, sums and means per person, and what has no answer."""

from __future__ import annotations

import numpy as np
import polars as pl

from portrayal.audits.contexts.measures.pictures import ALIKE, BASELINE, SAID, TAGGED, alike, how_many
from portrayal.audits.contexts.measures.sharing import shared

DIFFERENCES = "differences"  # of a row: each person's difference, for the tests that flip whole people


@shared
def people_of(pictures: pl.DataFrame) -> np.ndarray:
    """Return everybody in the pictures, once each, in order of name."""
    return pictures["person"].drop_nulls().unique().sort().to_numpy().astype(object)


def per_person(pictures: pl.DataFrame, people: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the sum of `values` (one per picture) for each of the `people`."""
    return np.bincount(positions(pictures, people), weights=np.asarray(values, float), minlength=len(people)).astype(
        float
    )


def count_per_person(pictures: pl.DataFrame, people: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Return how many of the `chosen` pictures (or how much of each) there are of each of the `people`."""
    return per_person(pictures, people, chosen * alike(pictures))


@shared
def positions(pictures: pl.DataFrame, people: np.ndarray) -> np.ndarray:
    """Return the place of each picture's person among the `people`."""
    # A look-up by hash; a search among sorted objects takes ten times as long.
    return pictures["person"].cast(_names(people)).to_physical().to_numpy().astype(int)


@shared
def _names(people: np.ndarray) -> pl.Enum:
    return pl.Enum(people.tolist())


def person_means(pictures: pl.DataFrame, people: np.ndarray, values: np.ndarray, counted: str = TAGGED) -> np.ndarray:
    """Return the mean of `values` over each person's pictures; NaN for a person without any, or with NaN only.

    The values of a tally are means over the pictures that its column `counted` counts: shares have those with a tag.
    """
    values = np.asarray(values, dtype=float)
    there = ~np.isnan(values)
    parts = there * (pictures[counted].to_numpy() if ALIKE in pictures.columns else 1)
    sums = per_person(pictures, people, np.where(there, values, 0.0) * parts)
    counts = per_person(pictures, people, parts)
    return np.divide(sums, counts, out=np.full(len(people), np.nan), where=counts > 0)


@shared
def condition(pictures: pl.DataFrame, name: str) -> pl.DataFrame:
    """Return the pictures of people alone (`baseline`) or in one place."""
    if name == BASELINE:
        return pictures.filter(pl.col("role") == BASELINE)
    return pictures.filter((pl.col("role") == "composite") & (pl.col("context") == name))


@shared
def places_of(pictures: pl.DataFrame) -> list[str]:
    """Return the contexts people were put in, in order of code."""
    composites = pictures.filter(pl.col("role") == "composite")
    return sorted(composites["context"].drop_nulls().unique().to_list())


@shared
def missing_note(pictures: pl.DataFrame) -> tuple[int, str]:
    """Return how many pictures have no answer, and how they break down."""
    lost = pictures.filter(~SAID)
    counted = lost.select("status", count=alike(lost)).group_by("status").sum()
    kinds = counted.sort("count", "status", descending=[True, False]).rows()
    return how_many(lost), ", ".join(f"{count} {status}" for status, count in kinds)
