"""RQ2: whether the place is recognised, and whether that depends on the gender inferred.

Barlas et al. (2020), To "See" is to Stereotype, CSCW3, Sections 4.5.2, 4.5.3 and 5.2, Table 8.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.contexts.measures.design import Design
from portrayal.audits.contexts.measures.views import NEUTRAL, Rows, View
from portrayal.stats.decisions.decision import NOT_TESTED
from portrayal.stats.decisions.multiplicity import LEVEL
from portrayal.stats.estimate import Estimate
from portrayal.stats.intervals.shares import Share, change, clustered_share
from portrayal.stats.tests.people import Permuted, permute_people
from portrayal.text.formatting import percent

RARE = 0.1  # a background recognised in a smaller share of its pictures is flagged
A_GENDER, NO_GENDER = "a gender", "no gender"
NAME = "recognition_independence"


def recognition(view: View, design: Design) -> Rows:
    """Yield `recognised`, `recognition_independence`, `recognised_background` and `place_share` rows.

    A place is recognised when at least one tag is in its dictionary. `recognised` is Pr(Bg) (any) and Pr(Bg | inferred
    gender). `recognition_independence` is the difference of two of these, where any gender and where none is inferred,
    and between each two genders, in each place and as the mean over places, tested by permuting people; it needs single
    pictures. `place_share` is the mean share of tags that speak of the place.
    """
    for place in design.wanted(NAME, view.places):
        here, about = view.at[place], {"system": view.system, "place": place}
        if view.single:
            yield from _independence(here.answered, design, about)
        if design.describes:
            yield from _describe(here, design, about)
    if view.single and len(view.places) > 1 and design.wanted(NAME, [None]):
        yield from _independence(view.placed.answered, design, {"system": view.system})


def _describe(here: View, design: Design, about: dict[str, Any]) -> Rows:
    """Yield how often a place is recognised, given whom, on which background."""
    answered, (lost, why) = here.answered, here.missing
    given = {outcome: answered.inferred(outcome) for outcome in (*design.named, NEUTRAL)}
    for outcome, chosen in {"any": np.ones(len(answered), bool), **given}.items():
        share = seen(answered, chosen)
        note = why if share.n else f"NA: no picture was inferred as {outcome}"
        yield share.row(
            "recognised", inferred=outcome, n_missing=lost, unit="share", counted="pictures", note=note, **about
        )
    tags = [answered[name].fill_null(0).to_numpy() for name in ("place", "tags")]
    share = clustered_share(*map(answered.per_person, tags))
    yield share.row("place_share", n=answered.count, n_missing=lost, unit="share", counted="pictures", **about)
    rare = f"recognised in under {percent(RARE)} of its pictures: read its other rows with care"
    for name in here["background"].unique().sort():
        chosen, among = (part["background"].eq_missing(name).to_numpy() for part in (answered, here))
        share = seen(answered, chosen)
        yield share.row(
            "recognised_background", background=name, unit="share", counted="pictures",
            n_missing=int((among * here.alike).sum() - (chosen * answered.alike).sum()),
            note=rare if share.value < RARE else "", **about,
        )  # fmt: skip


def seen(answered: View, chosen: np.ndarray) -> Share:
    """Return the share of the chosen pictures whose place was recognised, clustered by person."""
    return clustered_share(answered.counts(answered.recognised & chosen), answered.counts(chosen))


def _independence(answered: View, design: Design, about: dict[str, Any]) -> Rows:
    """Yield the differences between pictures with and without an inferred gender, and between two genders."""
    none = answered.inferred(NEUTRAL)
    sides = {A_GENDER: ~none, NO_GENDER: none} | {name: answered.inferred(name) for name in design.named}
    slots = _slots(answered)
    for first, second in [(A_GENDER, NO_GENDER), *combinations(sorted(design.named), 2)]:
        yield independence(answered, sides[first], sides[second], design.seed, slots).row(
            NAME, group=first, versus=second, n_missing=len(answered.people) - answered.n_people, unit="points",
            counted="people", **about,
        )  # fmt: skip


def independence(
    answered: View, first: np.ndarray, second: np.ndarray, seed: int = 0, slots: np.ndarray | None = None
) -> Estimate:
    """Return the difference in recognising places between the `first` and the `second` pictures.

    Of several places it is the mean of their differences. Whole people are permuted for p, so that several pictures of
    one person stay together.
    """
    n, contexts = answered.n_people, answered["context"]
    places = [contexts.eq_missing(place).to_numpy() for place in contexts.unique(maintain_order=True)]
    both = [here for here in places if (first & here).any() and (second & here).any()]
    tested = _permute(answered, both, first, second, seed, _slots(answered) if slots is None else slots)
    reason = _why_not(bool(both), tested)
    shares = [[seen(answered, side & here) for side in (first, second)] for here in both]
    gap = _mean_gap(shares) if len(shares) > 1 else change(*shares[0]) if shares else Estimate()
    found = replace(gap, p=tested.p, n=n, p_floor=tested.floor)
    return replace(found, p=np.nan, decision=NOT_TESTED, reason=reason) if n and reason else found


def _mean_gap(shares: Sequence[Sequence[Share]]) -> Estimate:
    """Return the mean difference of shares, with a t interval over people."""
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


def _permute(
    answered: View, places: Sequence[np.ndarray], first: np.ndarray, second: np.ndarray, seed: int, slots: np.ndarray
) -> Permuted:
    """Permute people over picture slots; zero where a person lacks a picture."""
    if not places:
        return Permuted(np.nan, 1.0)
    weights = np.zeros(len(first))
    for here in places:
        weights[here] = (first[here] / (first & here).sum()) - (second[here] / (second & here).sum())
    used = np.any(places, axis=0)
    values = np.stack([answered.recognised, weights, np.ones(len(weights))], axis=1).astype(float)[used]
    people, row = np.unique(answered.positions[used], return_inverse=True)
    kinds, at = np.unique(slots[used], return_inverse=True)
    grid = np.zeros((len(people), len(kinds), values.shape[1]))
    grid[row, at] = values
    return permute_people(grid[..., 0], grid[..., 1], grid[..., 2] > 0, seed)


def _slots(answered: View) -> np.ndarray:
    """Number the places, backgrounds and repeats of the pictures."""
    return answered.table.select(pl.struct("context", "background", "repeat").rank("dense")).to_series().to_numpy()
