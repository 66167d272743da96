"""RQ2: whether the place is recognised, and whether that depends on the gender inferred."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.contexts.measures.people import (
    condition,
    count_per_person,
    missing_note,
    people_of,
    per_person,
    places_of,
    positions,
)
from portrayal.audits.contexts.measures.pictures import NEUTRAL, alike, by_system, how_many, is_inferred, usable
from portrayal.audits.contexts.measures.sharing import shared
from portrayal.reporting.words.words import percent
from portrayal.stats.decisions.decision import NOT_TESTED
from portrayal.stats.decisions.multiplicity import LEVEL
from portrayal.stats.estimate import Estimate
from portrayal.stats.intervals.shares import Share, change, clustered_share
from portrayal.stats.tests.people import Permuted, permute_people

Rows = Iterator[dict[str, Any]]
RARE = 0.1  # a background recognised in a smaller share of its pictures is flagged
A_GENDER, NO_GENDER = "a gender", "no gender"


def recognition(
    pictures: pl.DataFrame,
    genders: Sequence[str],
    seed: int = 0,
    only: Collection[str | None] | None = None,
    described: bool = True,
    tested: bool = True,
) -> Rows:
    """Yield `recognised`, `recognition_independence`, `recognised_background` and `place_share` rows (Table 8).

    A place is recognised when at least one tag is in its dictionary. `recognised` is Pr(Bg) (any) and Pr(Bg | inferred
    gender). `recognition_independence` is the difference of two of these, where any gender and where none is inferred, and
    between each two genders, in each place and as the mean over places, tested by permuting people. `place_share` is the
    mean share of tags that speak of the place. With `only`, of these places alone; None among them is the mean over places. Not
    `described`, the tests alone; not `tested`, none of them, for they ask which picture of whom is which.
    """
    for system, part in by_system(pictures).items():
        people = people_of(part)
        places = places_of(part)
        for place in places if only is None else [place for place in places if place in only]:
            here = condition(part, place)
            answered, about = usable(here), {"system": system, "place": place}
            if tested:
                yield from _independence(answered, people, genders, seed, about)
            if described:
                yield from _described(here, answered, people, genders, about)
        if tested and len(places) > 1 and (only is None or None in only):
            placed = usable(part.filter(pl.col("role") == "composite"))
            yield from _independence(placed, people, genders, seed, {"system": system})


def _described(
    here: pl.DataFrame, answered: pl.DataFrame, people: np.ndarray, genders: Sequence[str], about: dict[str, str]
) -> Rows:
    """Yield what is not tested of a place: how often it is recognised, given whom, on which background."""
    given = {outcome: is_inferred(answered, outcome) for outcome in (*genders, NEUTRAL)}
    for outcome, chosen in {"any": np.ones(answered.height, bool), **given}.items():
        yield _recognised(outcome, seen(answered, people, chosen), missing_note(here), about)
    yield _place_share(answered, here, people, about)
    yield from _backgrounds(here, answered, people, about)


def seen(answered: pl.DataFrame, people: np.ndarray, chosen: np.ndarray) -> Share:
    """Return the share of the chosen pictures whose place was recognised, clustered by person."""
    hits = _recognised_in(answered) & chosen
    return clustered_share(count_per_person(answered, people, hits), count_per_person(answered, people, chosen))


@shared
def _recognised_in(answered: pl.DataFrame) -> np.ndarray:
    """Say in which of the pictures the place was recognised."""
    return answered["recognised"].fill_null(False).to_numpy()


@shared
def _people_in(answered: pl.DataFrame) -> int:
    return answered["person"].n_unique()


def _recognised(outcome: str, share: Share, missing: tuple[int, str], about: dict[str, str]) -> dict[str, Any]:
    lost, why = missing
    note = why if share.n else f"NA: no picture was inferred as {outcome}"
    return share.row(
        "recognised", inferred=outcome, n_missing=lost, unit="share", counted="pictures", note=note, **about
    )


def _independence(
    answered: pl.DataFrame, people: np.ndarray, genders: Sequence[str], seed: int, about: dict[str, str]
) -> Rows:
    """Yield the difference between pictures with and without an inferred gender, and between each two genders."""
    none = is_inferred(answered, NEUTRAL)
    sides = {A_GENDER: ~none, NO_GENDER: none} | {name: is_inferred(answered, name) for name in genders}
    for first, second in [(A_GENDER, NO_GENDER), *combinations(sorted(genders), 2)]:
        found = independence(answered, people, sides[first], sides[second], seed)
        yield found.row(
            "recognition_independence", group=first, versus=second,
            n_missing=len(people) - _people_in(answered), unit="points", counted="people", **about,
        )  # fmt: skip


def independence(
    answered: pl.DataFrame, people: np.ndarray, first: np.ndarray, second: np.ndarray, seed: int = 0
) -> Estimate:
    """Return how much more often places are recognised in the `first` pictures than in the `second`.

    Of several places it is the mean of their differences. Whole people are permuted for p, so that several pictures of one
    person stay together.
    """
    n = _people_in(answered)
    contexts = answered["context"]
    places = [contexts.eq_missing(place).to_numpy() for place in contexts.unique(maintain_order=True)]
    both = [here for here in places if (first & here).any() and (second & here).any()]
    tested = _permuted(answered, positions(answered, people), both, first, second, seed)
    reason = _why_not(bool(both), tested)
    shares = [[seen(answered, people, side & here) for side in (first, second)] for here in both]
    gap = _mean_gap(shares) if len(shares) > 1 else change(*shares[0]) if shares else Estimate()
    found = replace(gap, p=tested.p, n=n, p_floor=tested.floor)
    return replace(found, p=np.nan, decision=NOT_TESTED, reason=reason) if n and reason else found


def _mean_gap(shares: Sequence[Sequence[Share]]) -> Estimate:
    """Return the mean of differences of shares of the same people, with a t interval over people."""
    from scipy import special

    gaps = [one.value - two.value for one, two in shares]
    influence = np.mean([one.influence - two.influence for one, two in shares], axis=0)
    people = int(np.count_nonzero(influence))
    error = np.sqrt(people / max(people - 1, 1) * np.sum(influence**2))
    half = float(special.stdtrit(max(people - 1, 1), 0.975) * error)
    value = float(np.mean(gaps))
    return Estimate(value, max(value - half, -1.0), min(value + half, 1.0)) if half else Estimate(value)


def _why_not(both: bool, tested: Permuted) -> str:
    if not both:
        return "it infers only one of the two"
    if np.isnan(tested.p):
        return "the place was recognised always or never"
    return "too few pictures of one kind for any difference to be found" if tested.floor >= LEVEL else ""


def _permuted(
    answered: pl.DataFrame,
    who: np.ndarray,
    places: Sequence[np.ndarray],
    first: np.ndarray,
    second: np.ndarray,
    seed: int,
) -> Permuted:
    if not places:
        return Permuted(np.nan, 1.0)
    weights = np.zeros(len(first))
    for here in places:
        weights[here] = (first[here] / (first & here).sum()) - (second[here] / (second & here).sum())
    used = np.any(places, axis=0)
    columns = [_recognised_in(answered), weights, np.ones(len(weights))]
    grid = _grid(who[used], _slots(answered)[used], np.stack(columns, axis=1).astype(float)[used])
    return permute_people(grid[..., 0], grid[..., 1], grid[..., 2] > 0, seed)


def _grid(who: np.ndarray, slots: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Values by person and picture slot (place, background, repeat), zero where a person lacks a picture."""
    people, row = np.unique(who, return_inverse=True)
    kinds, column = np.unique(slots, return_inverse=True)
    grid = np.zeros((len(people), len(kinds), values.shape[1]))
    grid[row, column] = values
    return grid


@shared
def _slots(answered: pl.DataFrame) -> np.ndarray:
    """Number the places, backgrounds and repeats of the pictures."""
    return answered.select(pl.struct("context", "background", "repeat").rank("dense")).to_series().to_numpy()


def _place_share(
    answered: pl.DataFrame, here: pl.DataFrame, people: np.ndarray, about: dict[str, str]
) -> dict[str, Any]:
    share = clustered_share(
        per_person(answered, people, answered["place"].fill_null(0).to_numpy()),
        per_person(answered, people, answered["tags"].to_numpy()),
    )
    lost = missing_note(here)[0]
    return share.row("place_share", n=how_many(answered), n_missing=lost, unit="share", counted="pictures", **about)


def _backgrounds(here: pl.DataFrame, answered: pl.DataFrame, people: np.ndarray, about: dict[str, str]) -> Rows:
    shown, said = here["background"], answered["background"]
    rare = f"recognised in under {percent(RARE)} of its pictures: read its other rows with care"
    for name in here["background"].unique().sort():
        chosen, among = said.eq_missing(name).to_numpy(), shown.eq_missing(name).to_numpy()
        share, lost = (seen(answered, people, chosen), (among * alike(here)).sum() - (chosen * alike(answered)).sum())
        yield share.row(
            "recognised_background", background=name, n_missing=int(lost),
            unit="share", counted="pictures", note=rare if share.value < RARE else "", **about,
        )  # fmt: skip
