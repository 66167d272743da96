"""RQ1: which gender the tagger infers, alone and in each place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.contexts.measures.people import (
    condition,
    missing_note,
    people_of,
    per_person,
    person_means,
    places_of,
)
from portrayal.audits.contexts.measures.pictures import BASELINE, NEUTRAL, by_system, usable
from portrayal.stats.permutation import sign_flip
from portrayal.stats.shares import bounded_mean, clustered_share

Rows = Iterator[dict[str, Any]]


def inferences(pictures: pl.DataFrame, genders: Sequence[str], gender: str = "gender") -> Rows:
    """Yield `inferred_count`, `inferred_change` and `inferred_of_group` rows (Table 7).

    `inferred_count` is the number of usable pictures inferred as each gender cluster or as neutral. `inferred_change`
    is the change of that share from the same people's baseline, with an interval over people and an exact sign-flip
    p (two-sided). `inferred_of_group` is the share of each depicted group inferred as each cluster.
    """
    for system, part in by_system(pictures).items():
        people = people_of(part)
        alone = condition(part, BASELINE)
        before = usable(alone)
        for place in [BASELINE, *places_of(part)] if alone.height else places_of(part):
            here = condition(part, place)
            answered, missing = usable(here), missing_note(here)
            for outcome in (*genders, NEUTRAL):
                yield _count(system, place, outcome, answered, missing, people)
                if place != BASELINE and alone.height:
                    yield _change(system, place, outcome, answered, before, people)
            yield from _of_groups(system, place, here, people, genders, gender)


def _count(
    system: str,
    place: str,
    outcome: str,
    answered: pl.DataFrame,
    missing: tuple[int, str],
    people: np.ndarray,
) -> dict[str, Any]:
    lost, why = missing
    hits = per_person(answered, people, (answered["inferred"] == outcome).to_numpy())
    share = clustered_share(hits, per_person(answered, people, np.ones(answered.height)))
    count = replace(
        share.map(lambda end: end * answered.height), value=hits.sum() if answered.height else np.nan
    )
    about = {"system": system, "group": f"{place} | {outcome}", "n_missing": lost, "note": why}
    return count.row("inferred_count", unit="pictures", **about)


def _change(
    system: str, place: str, outcome: str, after: pl.DataFrame, first: pl.DataFrame, people: np.ndarray
) -> dict[str, Any]:
    now = person_means(after, people, (after["inferred"] == outcome).to_numpy())
    then = person_means(first, people, (first["inferred"] == outcome).to_numpy())
    shifts = (now - then)[~np.isnan(now - then)]
    p = sign_flip(shifts, alternative="two-sided").p if shifts.any() else np.nan
    return bounded_mean(shifts, _each(after)).row(
        "inferred_change", system=system, group=f"{place} | {outcome}", contrast=f"{place} minus {BASELINE}",
        p=p, n_missing=len(people) - len(shifts), unit="difference of shares",
        note="" if shifts.any() else "no person's picture changed",
    )  # fmt: skip


def _each(pictures: pl.DataFrame) -> int:
    """How many pictures there are of a person."""
    return round(pictures.height / max(pictures["person"].n_unique(), 1))


def _of_groups(
    system: str, place: str, here: pl.DataFrame, people: np.ndarray, genders: Sequence[str], gender: str
) -> Rows:
    if gender not in here.columns:
        return
    for (group,), part in here.drop_nulls(gender).sort(gender).group_by(gender, maintain_order=True):
        answered = usable(part)
        totals = per_person(answered, people, np.ones(answered.height))
        lost, why = missing_note(part)
        for outcome in (*genders, NEUTRAL):
            hits = per_person(answered, people, (answered["inferred"] == outcome).to_numpy())
            about = {
                "system": system,
                "group": f"{place} | {group} | {outcome}",
                "n_missing": lost,
                "note": why,
            }
            yield clustered_share(hits, totals).row("inferred_of_group", unit="share", **about)
