"""Stereotype congruence and linguistic expectancy (Barlas et al. 2020, CSCW3, Sections 3.5 and 6)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from portrayal.audits.contexts.measures.design import Design
from portrayal.audits.contexts.measures.views import ALIKE, DIFFERENCES, NEUTRAL, Rows, View
from portrayal.stats.decisions.decision import NOT_MEASURABLE, NOT_TESTED, STILL
from portrayal.stats.estimate import Estimate
from portrayal.stats.intervals.intervals import t_estimate
from portrayal.stats.intervals.shares import bounded_mean, clustered_share
from portrayal.stats.models.groups import welch
from portrayal.stats.tests.permutation import sign_flip
from portrayal.text.formatting import number

NO_ABSTRACT = "it gives no abstract tags, so its descriptions cannot be more or less abstract"
FITS, FITS_NOT = "people who fit the place", "people who do not"


def congruence(view: View, design: Design) -> Rows:
    """Yield `congruence` and `neutral_share` rows, one each per system.

    A picture scores 1 for the place's gender, -1 / (k - 1) for another of the k stereotyped ones, and 0 otherwise. A
    person's score is the mean over genders of their mean over that gender's places: only following the place scores.
    """
    if not design.wants("congruence"):
        return
    placed = view.placed.where(pl.col("context").is_in(list(design.stereotypes)))
    kinds = {design.stereotypes[place] for place in placed["context"].unique()}
    if len(kinds) < 2:
        return
    answered, (lost, _) = placed.answered.own, placed.missing
    scores = congruence_scores(answered, design.stereotypes, kinds)
    values = np.array(list(scores.values()))
    few = "fewer than two people were seen in places of every stereotype" if len(values) < 2 else None
    still = None if few or np.abs(values).max() > STILL else "nobody's pictures follow the places, or go against them"
    untested = {"decision": NOT_TESTED, "reason": few or still} if len(values) else {}
    yield bounded_mean(values, round(placed.count / max(placed.n_people, 1))).row(
        "congruence", system=view.system, p=np.nan if few or still else sign_flip(values, alternative="two-sided").p,
        n_missing=placed.n_people - len(values), unit="points", counted="people", note="one score per person",
        **(untested if few or still else {DIFFERENCES: (list(scores), values)}),
    )  # fmt: skip
    neutral = clustered_share(answered.counts(answered.inferred(NEUTRAL)), answered.each)
    yield neutral.row("neutral_share", system=view.system, n_missing=lost, unit="share", counted="pictures")


def congruence_scores(answered: View, stereotypes: Mapping[str, str], kinds: Collection[str]) -> dict[str, float]:
    """Return the score of everybody seen in places of all `kinds` of stereotype."""
    expected, inferred = answered["context"].replace_strict(stereotypes, return_dtype=pl.String), answered["inferred"]
    against = np.where(inferred.is_in(list(kinds)).to_numpy(), -1.0 / (len(kinds) - 1), 0.0)
    values = np.where((inferred == expected).to_numpy(), 1.0, against)
    parts = [expected == kind for kind in sorted(kinds)]
    scores = np.mean([answered.where(here).means(values[here.to_numpy()], ALIKE) for here in parts], axis=0)
    return {person: float(score) for person, score in zip(answered.people, scores, strict=True) if not np.isnan(score)}


def expectancy(view: View, design: Design) -> Rows:
    """Yield `expectancy` (all places) and `expectancy_of_place` rows."""
    levels = view.levels([design.gender]).get(design.gender)
    if levels is None or not design.wants("expectancy"):
        return
    own = np.array([design.cluster_of.get(label, "") for label in levels], dtype=object)
    about = {"system": view.system, "group": FITS, "versus": FITS_NOT, "unit": "points", "counted": "people"}
    abstract, used = {}, False
    for place in (place for place in view.places if place in design.stereotypes):
        here, stereotype = view.at[place].answered, design.stereotypes[place]
        of_abstract, of_concrete = (here.means(each) for each in here.shares(["abstract", "concrete"]).T)
        both = (
            of_abstract + of_concrete
        )  # the kinds that differ in abstractness: other tags may be as many as they like
        values = abstract[place] = np.divide(of_abstract, both, out=np.full(both.shape, np.nan), where=both > 0)
        used |= bool(np.nansum(of_abstract) > 0)
        known = ~np.isnan(values) & (own != "")
        gap = welch(values[known & (own == stereotype)], values[known & (own != stereotype)])
        note = f"Welch t = {number(gap.statistic)}, df = {number(gap.df)}"
        note = "not tested: too few people on a side, or nothing varies" if np.isnan(gap.p) else note
        yield gap.row("expectancy_of_place", place=place, n_missing=int((~known).sum()), note=note, **about)
    if abstract:
        gaps = expectancy_gaps(abstract, design.stereotypes, own)
        lost = int(np.isin(own, list(gaps)).sum()) - sum(map(len, gaps.values()))
        untold = {} if used else {"decision": NOT_MEASURABLE, "reason": NO_ABSTRACT}
        yield mean_of_groups(list(gaps.values())).row("expectancy", n_missing=lost, **about, **untold)


def expectancy_gaps(
    abstract: Mapping[str, np.ndarray], stereotypes: Mapping[str, str], own: np.ndarray
) -> dict[str, np.ndarray]:
    """Return by gender its people's abstractness in fitting places less other places."""
    kinds = sorted({stereotypes[place] for place in abstract})
    # Without a place's mean over people, somebody who lacks one place is compared in the others, not left out.
    centred = {place: values - _mean(values[None].T)[0] for place, values in abstract.items()}
    of_kind = {kind: [each for place, each in centred.items() if stereotypes[place] == kind] for kind in kinds}
    by_kind = {kind: _mean(np.stack(each)) for kind, each in of_kind.items()}
    gaps = {}
    for kind in kinds if len(kinds) > 1 else ():
        others = [by_kind[other] for other in kinds if other != kind]
        gap = (by_kind[kind] - np.mean(others, axis=0))[own == kind]
        gaps[kind] = gap[~np.isnan(gap)]
    return gaps


def _mean(rows: np.ndarray) -> np.ndarray:
    """Return the mean of each column's numbers; NaN where it has none."""
    there = ~np.isnan(rows)
    counts, sums = there.sum(axis=0), np.where(there, rows, 0.0).sum(axis=0)
    return np.divide(sums, counts, out=np.full(len(counts), np.nan), where=counts > 0)


def mean_of_groups(groups: Sequence[np.ndarray]) -> Estimate:
    """Return the plain mean of group means with Welch-Satterthwaite ends and p."""
    n = sum(map(len, groups))
    if len(groups) < 2 or min(map(len, groups)) < 2:
        few = "answers about fewer than two people of a group, or about one group only"
        return Estimate(n=n, decision=NOT_TESTED if n else None, reason=few if n else None)
    value = float(np.mean([group.mean() for group in groups]))
    parts = np.array([group.var(ddof=1) / len(group) for group in groups]) / len(groups) ** 2
    if parts.sum() <= STILL**2:
        return Estimate(value, n=n, decision=NOT_TESTED, reason="people of a group are all described alike")
    df = parts.sum() ** 2 / np.sum(parts**2 / np.array([len(group) - 1 for group in groups]))
    error = np.sqrt(parts.sum())
    return replace(t_estimate(value, error, df), n=n, note=f"t = {number(value / error)}, df = {number(df)}")
