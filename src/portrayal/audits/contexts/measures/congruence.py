"""Stereotype congruence and linguistic expectancy: whether the tagger follows what is expected of a place."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
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
    person_means,
    places_of,
)
from portrayal.audits.contexts.measures.pictures import ALIKE, NEUTRAL, alike, by_system, how_many, shares, usable
from portrayal.audits.contexts.measures.rq4_descriptions import levels_of
from portrayal.reporting.words.words import number
from portrayal.stats.decisions.decision import NOT_TESTED, STILL
from portrayal.stats.estimate import Estimate
from portrayal.stats.intervals.shares import bounded_mean, clustered_share
from portrayal.stats.models.groups import welch
from portrayal.stats.tests.permutation import sign_flip

Rows = Iterator[dict[str, Any]]
FITS, FITS_NOT = "people who fit the place", "people who do not"


def congruence(pictures: pl.DataFrame, stereotypes: Mapping[str, str]) -> Rows:
    """Yield `congruence` and `neutral_share` rows, one each per system.

    In a place stereotyped to gender g a picture scores 1 when g is inferred, 0 when it is neutral or a gender that no place is
    stereotyped to, and -1 when another place's gender is (-1 / (k - 1) where places are stereotyped to k genders). A person's
    score is the mean over genders of their mean over that gender's places, so a tagger that always says one gender
    scores 0, and so does one that is always right about everybody: only following the place scores.
    """
    for system, part in by_system(pictures).items():
        placed = part.filter((pl.col("role") == "composite") & pl.col("context").is_in(list(stereotypes)))
        kinds = {stereotypes[place] for place in placed["context"].unique()}
        if len(kinds) < 2:
            continue
        yield _congruence_row(system, congruence_scores(usable(placed), stereotypes, kinds), placed)
        yield _neutral_row(system, usable(placed), placed)


def congruence_scores(
    answered: pl.DataFrame, stereotypes: Mapping[str, str], kinds: Collection[str]
) -> dict[str, float]:
    """Return the score of each person who was seen in places of all `kinds` of stereotype."""
    people = people_of(answered)
    expected, inferred = (answered["context"].replace_strict(stereotypes, return_dtype=pl.String), answered["inferred"])
    against = np.where(inferred.is_in(list(kinds)).to_numpy(), -1.0 / (len(kinds) - 1), 0.0)
    values = np.where((inferred == expected).to_numpy(), 1.0, against)
    columns = []
    for kind in sorted(kinds):
        here = expected == kind
        columns.append(person_means(answered.filter(here), people, values[here.to_numpy()], ALIKE))
    scores = np.mean(columns, axis=0)
    return {person: float(score) for person, score in zip(people, scores, strict=True) if not np.isnan(score)}


def _congruence_row(system: str, scores: Mapping[str, float], placed: pl.DataFrame) -> dict[str, Any]:
    values, shown = np.array(list(scores.values())), placed["person"].n_unique()
    reason = _why_not(values)
    untested = {"decision": NOT_TESTED, "reason": reason} if len(values) else {}
    tested = {DIFFERENCES: (list(scores), values)} if not reason else untested
    return bounded_mean(values, round(how_many(placed) / max(shown, 1))).row(
        "congruence", system=system, p=np.nan if reason else sign_flip(values, alternative="two-sided").p,
        n_missing=shown - len(values), unit="points", counted="people", note="one score per person", **tested,
    )  # fmt: skip


def _why_not(scores: np.ndarray) -> str:
    if len(scores) < 2:
        return "fewer than two people were seen in places of every stereotype"
    return "" if np.abs(scores).max() > STILL else "nobody's pictures follow the places, or go against them"


def _neutral_row(system: str, answered: pl.DataFrame, placed: pl.DataFrame) -> dict[str, Any]:
    people = people_of(answered)
    neutral = (answered["inferred"] == NEUTRAL).to_numpy()
    share = clustered_share(count_per_person(answered, people, neutral), per_person(answered, people, alike(answered)))
    lost = missing_note(placed)[0]
    return share.row("neutral_share", system=system, n_missing=lost, unit="share", counted="pictures")


def expectancy(
    pictures: pl.DataFrame, stereotypes: Mapping[str, str], genders: Mapping[str, Sequence[str]], gender: str = "gender"
) -> Rows:
    """Yield `expectancy` (all places) and `expectancy_of_place` rows.

    Linguistic expectancy says that what fits the stereotype is described more abstractly. The measure is abstract
    minus concrete share of tags, congruent minus incongruent. Over all places it is the mean over depicted groups of
    each person's congruent minus incongruent places, so what a place or a group does by itself cancels.
    """
    if gender not in pictures.columns:
        return
    clusters = {label: cluster for cluster, labels in genders.items() for label in labels}
    for system, part in by_system(pictures).items():
        people = people_of(part)
        own = np.array([clusters.get(label, "") for label in levels_of(part, people, [gender])[gender]], dtype=object)
        abstract = {place: _abstractness(part, place, people) for place in places_of(part) if place in stereotypes}
        for place, values in abstract.items():
            yield _place_row(system, place, stereotypes[place], values, own)
        if abstract:
            yield _overall_row(system, abstract, stereotypes, own)


def _abstractness(part: pl.DataFrame, place: str, people: np.ndarray) -> np.ndarray:
    here = usable(condition(part, place))
    parts = shares(here, ["abstract", "concrete"])
    return person_means(here, people, parts[:, 0] - parts[:, 1])


def _place_row(system: str, place: str, stereotype: str, values: np.ndarray, own: np.ndarray) -> dict[str, Any]:
    known = ~np.isnan(values) & (own != "")
    found = welch(values[known & (own == stereotype)], values[known & (own != stereotype)])
    note = f"Welch t = {number(found.statistic)}, df = {number(found.df)}"
    return found.row(
        "expectancy_of_place", system=system, place=place, group=FITS, versus=FITS_NOT,
        n_missing=int((~known).sum()), unit="points", counted="people",
        note="not tested: too few people on a side, or nothing varies" if np.isnan(found.p) else note,
    )  # fmt: skip


def _overall_row(
    system: str, abstract: Mapping[str, np.ndarray], stereotypes: Mapping[str, str], own: np.ndarray
) -> dict[str, Any]:
    gaps = expectancy_gaps(abstract, stereotypes, own)
    labelled = int(np.isin(own, list(gaps)).sum())
    used = sum(len(gap) for gap in gaps.values())
    return mean_of_groups(list(gaps.values())).row(
        "expectancy", system=system, group=FITS, versus=FITS_NOT, n_missing=labelled - used, unit="points",
        counted="people",
    )  # fmt: skip


def expectancy_gaps(
    abstract: Mapping[str, np.ndarray], stereotypes: Mapping[str, str], own: np.ndarray
) -> dict[str, np.ndarray]:
    """Return, for each gender, its people's abstractness in places that fit them less that in the others.

    A place's mean over people is taken off first: it cancels where everybody was seen everywhere, and somebody who lacks
    one place is then compared in the others, not left out.
    """
    kinds = sorted({stereotypes[place] for place in abstract})
    centred = {place: values - _mean(values[None].T)[0] for place, values in abstract.items()}
    by_kind = {
        kind: _mean(np.stack([values for place, values in centred.items() if stereotypes[place] == kind]))
        for kind in kinds
    }
    gaps = {}
    for kind in kinds if len(kinds) > 1 else ():
        others = [by_kind[other] for other in kinds if other != kind]
        gap = (by_kind[kind] - np.mean(others, axis=0))[own == kind]
        gaps[kind] = gap[~np.isnan(gap)]
    return gaps


def _mean(rows: np.ndarray) -> np.ndarray:
    """Return the mean of each column over the rows that have a number; NaN where none has."""
    there = ~np.isnan(rows)
    counts = there.sum(axis=0)
    sums = np.where(there, rows, 0.0).sum(axis=0)
    return np.divide(sums, counts, out=np.full(len(counts), np.nan), where=counts > 0)


def mean_of_groups(groups: Sequence[np.ndarray]) -> Estimate:
    """Return the plain mean of group means with Welch-Satterthwaite ends and p."""
    from scipy import stats

    n = sum(map(len, groups))
    if len(groups) < 2 or min(map(len, groups)) < 2:
        few = "answers about fewer than two people of a group, or about one group only"
        return Estimate(n=n, decision=NOT_TESTED if n else None, reason=few if n else None)
    value = float(np.mean([group.mean() for group in groups]))
    parts = np.array([group.var(ddof=1) / len(group) for group in groups]) / len(groups) ** 2
    if parts.sum() <= STILL**2:
        return Estimate(value, n=n, decision=NOT_TESTED, reason="people of a group are all described alike")
    df = parts.sum() ** 2 / np.sum(parts**2 / np.array([len(group) - 1 for group in groups]))
    half = stats.t.ppf(0.975, df) * np.sqrt(parts.sum())
    t = value / np.sqrt(parts.sum())
    p, note = float(2 * stats.t.sf(abs(t), df)), f"t = {number(t)}, df = {number(df)}"
    return Estimate(value, value - half, value + half, p, n, note=note)
