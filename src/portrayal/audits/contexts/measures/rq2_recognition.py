"""RQ2: recognised places by inferred gender (Barlas et al. 2020, Section 5.2, Table 8)."""

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
from portrayal.stats.intervals.intervals import t_quantile
from portrayal.stats.intervals.shares import Share, change, clustered_share
from portrayal.stats.tests.people import Permuted, permute_people
from portrayal.text.formatting import percent

RARE = 0.1  # a background recognised in a smaller share of its pictures is flagged
A_GENDER, NO_GENDER = "a gender", "no gender"
NAME = "recognition_independence"


def recognition(view: View, design: Design) -> Rows:
    """Yield `recognised`, `recognition_independence`, `recognised_background` and `place_share` rows."""
    for place in design.wanted(NAME, view.places):
        here, about = view.at[place], {"system": view.system, "place": place}
        if view.single:
            yield from _independence(here.answered, design, about)
        if design.describes:
            yield from _describe(here, design, about)
    if view.single and len(view.places) > 1 and design.wanted(NAME, [None]):
        yield from _independence(view.placed.answered, design, {"system": view.system})


def _describe(here: View, design: Design, about: dict[str, Any]) -> Rows:
    """Yield how often a place is recognised, by inferred gender and on each background."""
    answered, (lost, why) = here.answered, here.missing
    about = {**about, "n_missing": lost, "unit": "share", "counted": "pictures"}
    outcomes = {outcome: answered.inferred(outcome) for outcome in (*design.named, NEUTRAL)}
    for outcome, chosen in {"any": np.ones(len(answered), bool), **outcomes}.items():
        share = _seen(answered, chosen)
        note = why if share.n else f"NA: no picture was inferred as {outcome}"
        yield share.row("recognised", inferred=outcome, note=note, **about)
    of_place, tags = (answered.per_person(answered[name].fill_null(0).to_numpy()) for name in ("place", "tags"))
    yield clustered_share(of_place, tags).row("place_share", n=answered.count, **about)
    rare = f"recognised in under {percent(RARE)} of its pictures: read its other rows with care"
    for name in here["background"].unique().sort():
        chosen, among = (part["background"].eq_missing(name).to_numpy() for part in (answered, here))
        share = _seen(answered, chosen)
        silent = int((among * here.alike).sum() - (chosen * answered.alike).sum())
        note = rare if share.value < RARE else ""
        yield share.row("recognised_background", background=name, note=note, **{**about, "n_missing": silent})


def _seen(answered: View, chosen: np.ndarray) -> Share:
    """Return the share of the chosen pictures whose place was recognised, clustered by person."""
    return clustered_share(answered.counts(answered.recognised & chosen), answered.counts(chosen))


def _independence(answered: View, design: Design, about: dict[str, Any]) -> Rows:
    """Yield the differences between pictures with and without an inferred gender, and between two genders."""
    none = answered.inferred(NEUTRAL)
    sides = {A_GENDER: ~none, NO_GENDER: none} | {name: answered.inferred(name) for name in design.named}
    about = {**about, "n_missing": len(answered.people) - answered.n_people, "unit": "points", "counted": "people"}
    for first, second in [(A_GENDER, NO_GENDER), *combinations(sorted(design.named), 2)]:
        difference = independence(answered, sides[first], sides[second], design.seed)
        yield difference.row(NAME, group=first, versus=second, **about)


def independence(answered: View, first: np.ndarray, second: np.ndarray, seed: int = 0) -> Estimate:
    """Return the difference in recognising places between the `first` and the `second` pictures."""
    n, contexts = answered.n_people, answered["context"]
    places = [contexts.eq_missing(place).to_numpy() for place in contexts.unique(maintain_order=True)]
    both = [here for here in places if (first & here).any() and (second & here).any()]
    tested = _permute(answered, both, first, second, seed) if both else Permuted(np.nan, 1.0)
    shares = [[_seen(answered, side & here) for side in (first, second)] for here in both]
    gap = _mean_gap(shares) if len(shares) > 1 else change(*shares[0]) if shares else Estimate()
    reasons = {
        "it infers only one of the two": not both,
        "the place was recognised always or never": np.isnan(tested.p),
        "too few pictures of one kind for any difference to be found": tested.floor >= LEVEL,
    }
    reason = next((text for text, holds in reasons.items() if holds), "")
    untested = {"p": np.nan, "decision": NOT_TESTED, "reason": reason} if n and reason else {}
    return replace(gap, **{"p": tested.p, "n": n, "p_floor": tested.floor, **untested})


def _mean_gap(shares: Sequence[Sequence[Share]]) -> Estimate:
    """Return the mean difference of shares, with a t interval over people."""
    value = float(np.mean([one.value - two.value for one, two in shares]))
    influence = np.mean([one.influence - two.influence for one, two in shares], axis=0)
    people = int(np.count_nonzero(influence))
    half = t_quantile(max(people - 1, 1)) * np.sqrt(people / max(people - 1, 1) * np.sum(influence**2))
    return Estimate(value, max(value - half, -1.0), min(value + half, 1.0)) if half else Estimate(value)


def _permute(
    answered: View, places: Sequence[np.ndarray], first: np.ndarray, second: np.ndarray, seed: int
) -> Permuted:
    """Permute people over picture slots; zero where a person lacks a picture."""
    weights = np.zeros(len(first))
    for here in places:
        weights[here] = (first[here] / (first & here).sum()) - (second[here] / (second & here).sum())
    used = np.any(places, axis=0)
    values = np.stack([answered.recognised, weights, np.ones(len(weights))], axis=1).astype(float)[used]
    slots = answered.table.select(pl.struct("context", "background", "repeat").rank("dense")).to_series().to_numpy()
    (people, row), (kinds, at) = (np.unique(each[used], return_inverse=True) for each in (answered.positions, slots))
    grid = np.zeros((len(people), len(kinds), values.shape[1]))
    grid[row, at] = values
    return permute_people(grid[..., 0], grid[..., 1], grid[..., 2] > 0, seed)
