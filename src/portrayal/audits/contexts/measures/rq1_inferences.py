"""RQ1: which gender the tagger infers, alone and in each place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.contexts.measures.people import (
    DIFFERENCES,
    condition,
    missing_note,
    people_of,
    per_person,
    person_means,
    places_of,
)
from portrayal.audits.contexts.measures.pictures import BASELINE, NEUTRAL, by_system, usable
from portrayal.stats.decision import NOT_TESTED
from portrayal.stats.permutation import sign_flip
from portrayal.stats.shares import bounded_mean, clustered_share

Rows = Iterator[dict[str, Any]]
LEAST = 6  # people who change: of five, all in one direction, comes about in 2 of 32 flips, which is over .05
TOO_FEW = f"the inferred gender of fewer than {LEAST} people changed"


def inferences(pictures: pl.DataFrame, genders: Sequence[str], gender: str = "gender") -> Rows:
    """Yield `inferred_count`, `inferred_change` and `inferred_of_group` rows (Table 7).

    `inferred_count` is the number of usable pictures inferred as each gender cluster or as neutral. `inferred_change`
    is the change of that share from the same people's baseline, with an interval over people and a two-sided sign-flip
    p. `inferred_of_group` is the share of each depicted group inferred as each cluster.
    """
    for system, part in by_system(pictures).items():
        people = people_of(part)
        alone = condition(part, BASELINE)
        before = usable(alone)
        for place in [BASELINE, *places_of(part)] if alone.height else places_of(part):
            here, about = condition(part, place), {"system": system, "place": place}
            answered, missing = usable(here), missing_note(here)
            for outcome in (*genders, NEUTRAL):
                yield _count(outcome, answered, missing, people, about)
                if place != BASELINE and alone.height:
                    yield _change(outcome, answered, before, people, about)
            yield from _of_groups(here, people, genders, gender, about)


def _count(
    outcome: str,
    answered: pl.DataFrame,
    missing: tuple[int, str],
    people: np.ndarray,
    about: dict[str, str],
) -> dict[str, Any]:
    lost, why = missing
    hits = per_person(answered, people, (answered["inferred"] == outcome).to_numpy())
    share = clustered_share(hits, per_person(answered, people, np.ones(answered.height)))
    count = replace(
        share.map(lambda end: end * answered.height), value=hits.sum() if answered.height else np.nan
    )
    return count.row(
        "inferred_count", inferred=outcome, n_missing=lost, unit="pictures", counted="pictures", note=why, **about
    )  # fmt: skip


def _change(
    outcome: str, after: pl.DataFrame, first: pl.DataFrame, people: np.ndarray, about: dict[str, str]
) -> dict[str, Any]:
    now = person_means(after, people, (after["inferred"] == outcome).to_numpy())
    then = person_means(first, people, (first["inferred"] == outcome).to_numpy())
    there = ~np.isnan(now - then)
    shifts = (now - then)[there]
    few = np.count_nonzero(shifts) < LEAST
    reason = {"decision": NOT_TESTED, "reason": TOO_FEW} if few and len(shifts) else {}
    tested = {} if few else {DIFFERENCES: dict(zip(people[there], shifts, strict=True))}
    return bounded_mean(shifts, _each(after)).row(
        "inferred_change", inferred=outcome, p=np.nan if few else sign_flip(shifts, alternative="two-sided").p,
        n_missing=len(people) - len(shifts), unit="points", counted="people", **reason, **tested, **about,
    )  # fmt: skip


def _each(pictures: pl.DataFrame) -> int:
    """How many pictures there are of a person."""
    return round(pictures.height / max(pictures["person"].n_unique(), 1))


def _of_groups(
    here: pl.DataFrame, people: np.ndarray, genders: Sequence[str], gender: str, about: dict[str, str]
) -> Rows:
    if gender not in here.columns:
        return
    for (group,), part in here.drop_nulls(gender).sort(gender).group_by(gender, maintain_order=True):
        answered = usable(part)
        totals = per_person(answered, people, np.ones(answered.height))
        lost, why = missing_note(part)
        for outcome in (*genders, NEUTRAL):
            hits = per_person(answered, people, (answered["inferred"] == outcome).to_numpy())
            yield clustered_share(hits, totals).row(
                "inferred_of_group", group=group, inferred=outcome, n_missing=lost, unit="share",
                counted="pictures", note=why, **about,
            )  # fmt: skip
