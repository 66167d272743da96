"""Stereotype congruence and linguistic expectancy: whether the tagger follows what is expected of a place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
from portrayal.audits.contexts.measures.pictures import NEUTRAL, by_system, shares, usable
from portrayal.audits.contexts.measures.rq4_descriptions import levels_of
from portrayal.report.words import number
from portrayal.stats.estimate import Estimate
from portrayal.stats.groups import welch
from portrayal.stats.shares import bounded_mean, clustered_share

Rows = Iterator[dict[str, Any]]


def congruence(pictures: pl.DataFrame, stereotypes: Mapping[str, str]) -> Rows:
    """Yield `congruence` and `neutral_share` rows, one each per system.

    In a place stereotyped to gender g a picture scores 1 when g is inferred, -1 when another gender is, 0 when neutral.
    A person's score is the mean over genders of their mean over that gender's places, so a tagger that always says
    one gender scores 0, and so does one that is always right about everybody: only following the place scores.
    """
    for system, part in by_system(pictures).items():
        placed = part.filter((pl.col("role") == "composite") & pl.col("context").is_in(list(stereotypes)))
        scores = congruence_scores(usable(placed), stereotypes)
        if not len(scores):
            continue
        yield _congruence_row(system, scores, placed)
        yield _neutral_row(system, usable(placed), placed)


def congruence_scores(answered: pl.DataFrame, stereotypes: Mapping[str, str]) -> np.ndarray:
    """Return one score per person who was seen in places of every stereotype; empty when there are under two."""
    people = people_of(answered)
    expected = np.array([stereotypes[place] for place in answered["context"]], dtype=object)
    inferred = answered["inferred"].to_numpy()
    values = np.where(inferred == NEUTRAL, 0.0, np.where(inferred == expected, 1.0, -1.0))
    kinds = sorted(set(expected.tolist()))
    if len(kinds) < 2:
        return np.zeros(0)
    columns = [
        person_means(answered.filter(expected == kind), people, values[expected == kind]) for kind in kinds
    ]
    scores = np.mean(columns, axis=0)
    return scores[~np.isnan(scores)]


def _congruence_row(system: str, scores: np.ndarray, placed: pl.DataFrame) -> dict[str, Any]:
    from scipy import stats

    spread = scores.std(ddof=1) if len(scores) > 1 else 0.0
    p = float(stats.ttest_1samp(scores, 0).pvalue) if spread > 1e-12 else np.nan
    each = round(placed.height / max(placed["person"].n_unique(), 1))
    return bounded_mean(scores, each).row(
        "congruence", system=system, group="all places", contrast="congruent minus incongruent", p=p,
        n_missing=missing_note(placed)[0], unit="difference of shares",
        note="one score per person; two-sided t" if spread > 1e-12 else "not tested: all people score alike",
    )  # fmt: skip


def _neutral_row(system: str, answered: pl.DataFrame, placed: pl.DataFrame) -> dict[str, Any]:
    people = people_of(answered)
    neutral = (answered["inferred"] == NEUTRAL).to_numpy()
    share = clustered_share(
        per_person(answered, people, neutral), per_person(answered, people, np.ones(len(neutral)))
    )
    lost = missing_note(placed)[0]
    return share.row("neutral_share", system=system, group="all places", n_missing=lost, unit="share")


def expectancy(
    pictures: pl.DataFrame,
    stereotypes: Mapping[str, str],
    genders: Mapping[str, Sequence[str]],
    gender: str = "gender",
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
        own = np.array(
            [clusters.get(label, "") for label in levels_of(part, people, [gender])[gender]], dtype=object
        )
        abstract = {
            place: _abstractness(part, place, people) for place in places_of(part) if place in stereotypes
        }
        for place, values in abstract.items():
            yield _place_row(system, place, stereotypes[place], values, own)
        if abstract:
            yield _overall_row(system, abstract, stereotypes, own)


def _abstractness(part: pl.DataFrame, place: str, people: np.ndarray) -> np.ndarray:
    here = usable(condition(part, place))
    parts = shares(here, ["abstract", "concrete"])
    return person_means(here, people, parts[:, 0] - parts[:, 1])


def _place_row(
    system: str, place: str, stereotype: str, values: np.ndarray, own: np.ndarray
) -> dict[str, Any]:
    known = ~np.isnan(values) & (own != "")
    found = welch(values[known & (own == stereotype)], values[known & (own != stereotype)])
    note = f"Welch t = {number(found.statistic)}, df = {number(found.df)}"
    return found.row(
        "expectancy_of_place", system=system, group=place, contrast="congruent minus incongruent people",
        n_missing=int((~known).sum()), unit="abstract minus concrete share",
        note="not tested: too few people on a side" if np.isnan(found.p) else note,
    )  # fmt: skip


def _overall_row(
    system: str, abstract: Mapping[str, np.ndarray], stereotypes: Mapping[str, str], own: np.ndarray
) -> dict[str, Any]:
    by_kind = {
        kind: np.mean([values for place, values in abstract.items() if stereotypes[place] == kind], axis=0)
        for kind in sorted({stereotypes[place] for place in abstract})
    }
    gaps = {}
    for kind, congruent in by_kind.items():
        others = [values for other, values in by_kind.items() if other != kind]
        if others:
            gap = (congruent - np.mean(others, axis=0))[own == kind]
            gaps[kind] = gap[~np.isnan(gap)]
    used = sum(len(gap) for gap in gaps.values())
    return mean_of_groups(list(gaps.values())).row(
        "expectancy", system=system, group="all places", contrast="congruent minus incongruent",
        n_missing=len(own) - used, unit="abstract minus concrete share",
    )  # fmt: skip


def mean_of_groups(groups: Sequence[np.ndarray]) -> Estimate:
    """Return the plain mean of group means with Welch-Satterthwaite ends and p."""
    from scipy import stats

    n = sum(map(len, groups))
    if len(groups) < 2 or min(map(len, groups)) < 2:
        return Estimate(n=n, note="not tested: fewer than two people in a group, or one group only")
    value = float(np.mean([group.mean() for group in groups]))
    parts = np.array([group.var(ddof=1) / len(group) for group in groups]) / len(groups) ** 2
    if parts.sum() <= 0:
        return Estimate(value, n=n, note="not tested: nothing varies")
    df = parts.sum() ** 2 / np.sum(parts**2 / np.array([len(group) - 1 for group in groups]))
    half = stats.t.ppf(0.975, df) * np.sqrt(parts.sum())
    t = value / np.sqrt(parts.sum())
    p, note = float(2 * stats.t.sf(abs(t), df)), f"t = {number(t)}, df = {number(df)}"
    return Estimate(value, value - half, value + half, p, n, note=note)
