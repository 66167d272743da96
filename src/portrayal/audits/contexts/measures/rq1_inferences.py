"""RQ1: inferred genders by place (Barlas et al. 2020, Sections 4.5.3 and 5.1, Table 7)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.contexts.measures.design import Design
from portrayal.audits.contexts.measures.views import BASELINE, DIFFERENCES, NEUTRAL, Rows, View
from portrayal.stats.decisions.decision import NOT_TESTED
from portrayal.stats.decisions.multiplicity import LEVEL
from portrayal.stats.intervals.shares import bounded_mean, clustered_share
from portrayal.stats.tests.people import Permuted, deal_pictures

TOO_MANY = "the exact test deals single pictures, and there may be millions"
DRAWN = "p from random ways to deal the pictures, since there are too many to count"
TOO_FEW = "the inferred gender of too few people changed for any difference to be found"


def inferences(view: View, design: Design) -> Rows:
    """Yield `inferred_count`, `inferred_change` and `inferred_of_group` rows."""
    places = [BASELINE, *view.places] if len(view.alone) else view.places
    outcomes = (*design.named, NEUTRAL)
    for place in design.wanted("inferred_change", places):
        here, about = view.at[place], {"system": view.system, "place": place}
        for outcome in outcomes:
            if design.describes:
                yield _share(outcome, here, about, counted=True)
            if place != BASELINE and len(view.alone):
                yield _change(outcome, here.answered, view.alone.answered, about)
        if design.describes and design.gender in here.table.columns:
            for group in here[design.gender].drop_nulls().unique().sort():
                part = here.where(pl.col(design.gender) == group)
                yield from (_share(outcome, part, {**about, "group": group}) for outcome in outcomes)


def _share(outcome: str, here: View, about: dict[str, Any], counted: bool = False) -> dict[str, Any]:
    """Return the share, or the number, of pictures that are inferred so."""
    (lost, why), answered = here.missing, here.answered
    share = clustered_share(answered.counts(answered.inferred(outcome)), answered.each)
    name, unit = "inferred_of_group", "share"
    if counted:
        name, unit, share = "inferred_count", "pictures", share.map(lambda end: end * answered.count)
        hits = float((answered.inferred(outcome) * answered.alike).sum())
        share = replace(share, value=hits if answered.count else np.nan)
    return share.row(name, inferred=outcome, n_missing=lost, unit=unit, counted="pictures", note=why, **about)


def _change(outcome: str, after: View, before: View, about: dict[str, Any]) -> dict[str, Any]:
    hits = [part.counts(part.inferred(outcome)) for part in (after, before)]
    there = (after.each > 0) & (before.each > 0)
    now, then, here, alone = (each[there] for each in (*hits, after.each, before.each))
    shifts = now / here - then / alone
    vary = (now + then > 0) & (now + then < here + alone)  # the others are dealt one way only
    tested = Permuted(np.nan, 1.0)
    if after.single and vary.any():
        tested = deal_pictures(now[vary], here[vary], then[vary], alone[vary])
    few = tested.floor >= LEVEL
    reason = {"decision": NOT_TESTED, "reason": TOO_FEW if after.single else TOO_MANY} if few and len(shifts) else {}
    # Flipped together with others only where a person's pictures alone and in the place could change hands.
    flips = {} if few or (here != alone).any() else {DIFFERENCES: (after.people[there], shifts)}
    return bounded_mean(shifts, round(after.count / max(after.n_people, 1))).row(
        "inferred_change", inferred=outcome, p=np.nan if few else tested.p, p_floor=tested.floor,
        n_missing=len(after.people) - len(shifts), unit="points", counted="people", note=DRAWN if tested.drawn else "",
        **reason, **flips, **about,
    )  # fmt: skip
