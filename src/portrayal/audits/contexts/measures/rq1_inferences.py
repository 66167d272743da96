"""RQ1: which gender the tagger infers, alone and in each place."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.contexts.measures.people import (
    DIFFERENCES,
    condition,
    count_per_person,
    missing_note,
    people_of,
    per_person,
    places_of,
)
from portrayal.audits.contexts.measures.pictures import (
    BASELINE,
    NEUTRAL,
    alike,
    by_system,
    how_many,
    is_inferred,
    usable,
)
from portrayal.stats.decisions.decision import NOT_TESTED
from portrayal.stats.decisions.multiplicity import LEVEL
from portrayal.stats.intervals.shares import bounded_mean, clustered_share
from portrayal.stats.tests.people import Permuted, deal_pictures

TOO_MANY = "the exact test deals single pictures, and there may be millions"
Rows = Iterator[dict[str, Any]]
TOO_FEW = "the inferred gender of too few people changed for any difference to be found"


def inferences(
    pictures: pl.DataFrame,
    genders: Sequence[str],
    gender: str = "gender",
    only: Collection[str | None] | None = None,
    described: bool = True,
    tested: bool = True,
) -> Rows:
    """Yield `inferred_count`, `inferred_change` and `inferred_of_group` rows (Table 7).

    `inferred_count` is the number of usable pictures inferred as each gender cluster or as neutral. `inferred_change`
    is the change of that share from the same people's baseline, with an interval over people and an exact two-sided p
    over which of a person's pictures are the baseline. `inferred_of_group` is the share of each depicted group inferred as each cluster.
    With `only`, of these places alone; not `described`, the changes alone; not `tested`, the changes without a p.
    """
    for system, part in by_system(pictures).items():
        people = people_of(part)
        alone = condition(part, BASELINE)
        before = usable(alone)
        places = [BASELINE, *places_of(part)] if alone.height else places_of(part)
        for place in places if only is None else [place for place in places if place in only]:
            here, about = condition(part, place), {"system": system, "place": place}
            answered = usable(here)
            for outcome in (*genders, NEUTRAL):
                if described:
                    yield _count(outcome, answered, missing_note(here), people, about)
                if place != BASELINE and alone.height:
                    yield _change(outcome, answered, before, people, about, tested)
            if described:
                yield from _of_groups(here, people, genders, gender, about)


def _count(
    outcome: str, answered: pl.DataFrame, missing: tuple[int, str], people: np.ndarray, about: dict[str, str]
) -> dict[str, Any]:
    lost, why = missing
    total = how_many(answered)
    hits = count_per_person(answered, people, is_inferred(answered, outcome))
    share = clustered_share(hits, per_person(answered, people, alike(answered)))
    count = replace(share.map(lambda end: end * total), value=hits.sum() if total else np.nan)
    return count.row(
        "inferred_count", inferred=outcome, n_missing=lost, unit="pictures", counted="pictures", note=why, **about
    )  # fmt: skip


def _change(
    outcome: str, after: pl.DataFrame, first: pl.DataFrame, people: np.ndarray, about: dict[str, str], testing: bool
) -> dict[str, Any]:
    hits = [count_per_person(part, people, is_inferred(part, outcome)) for part in (after, first)]
    counts = [per_person(part, people, alike(part)) for part in (after, first)]
    there = (counts[0] > 0) & (counts[1] > 0)
    now, then, here, alone = (each[there] for each in (*hits, *counts))
    shifts = now / here - then / alone
    tested = _tested(now, here, then, alone) if testing and len(shifts) else Permuted(np.nan, 1.0)
    few = tested.floor >= LEVEL
    reason = {"decision": NOT_TESTED, "reason": TOO_FEW if testing else TOO_MANY} if few and len(shifts) else {}
    # Flipped together with others only where a person's pictures alone and in the place could change hands.
    flips = {} if few or (here != alone).any() else {DIFFERENCES: (people[there], shifts)}
    return bounded_mean(shifts, _each(after)).row(
        "inferred_change", inferred=outcome, p=np.nan if few else tested.p, p_floor=tested.floor,
        n_missing=len(people) - len(shifts), unit="points", counted="people", **reason, **flips, **about,
    )  # fmt: skip


def _tested(now: np.ndarray, here: np.ndarray, then: np.ndarray, alone: np.ndarray) -> Permuted:
    """Test the changes by which of a person's pictures could be those alone; people who never vary say nothing."""
    vary = (now + then > 0) & (now + then < here + alone)
    return deal_pictures(now[vary], here[vary], then[vary], alone[vary]) if vary.any() else Permuted(np.nan, 1.0)


def _each(pictures: pl.DataFrame) -> int:
    """How many pictures there are of a person."""
    return round(how_many(pictures) / max(pictures["person"].n_unique(), 1))


def _of_groups(
    here: pl.DataFrame, people: np.ndarray, genders: Sequence[str], gender: str, about: dict[str, str]
) -> Rows:
    if gender not in here.columns:
        return
    for group in here[gender].drop_nulls().unique().sort():
        part = here.filter(pl.col(gender) == group)
        answered = usable(part)
        totals = per_person(answered, people, alike(answered))
        lost, why = missing_note(part)
        for outcome in (*genders, NEUTRAL):
            hits = count_per_person(answered, people, is_inferred(answered, outcome))
            yield clustered_share(hits, totals).row(
                "inferred_of_group", group=group, inferred=outcome, n_missing=lost, unit="share",
                counted="pictures", note=why, **about,
            )  # fmt: skip
