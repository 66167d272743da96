"""RQ4, attribute by attribute: what is said more or less of whom (Tables 11 and 13, Figures 4 to 7)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.contexts.measures.membership import SUPER
from portrayal.audits.contexts.measures.people import condition, people_of, person_means, places_of
from portrayal.audits.contexts.measures.pictures import BASELINE, by_system, shares, usable
from portrayal.audits.contexts.measures.rq4_descriptions import LEAST, cells_of, count_people, levels_of
from portrayal.audits.contexts.measures.sharing import shared
from portrayal.reporting.words.words import number
from portrayal.stats.decisions.decision import NOT_TESTED
from portrayal.stats.decisions.multiplicity import LEVEL
from portrayal.stats.estimate import Estimate
from portrayal.stats.intervals.intervals import clustered_mean
from portrayal.stats.intervals.shares import bounded_mean
from portrayal.stats.models.groups import Difference, welch
from portrayal.stats.tests.people import permute_labels

Rows = Iterator[dict[str, Any]]
PAPER_WELCH = 0.002  # the paper's threshold for Welch's t in Tables 11 and 13


@dataclass(frozen=True)
class Use:
    """How much of each person's description one cluster takes, in a place and alone."""

    place: np.ndarray
    alone: np.ndarray
    groups: np.ndarray
    cells: np.ndarray


def attributes(
    pictures: pl.DataFrame,
    gender: str,
    factors: Sequence[str],
    clusters: Sequence[str] = SUPER,
    seed: int = 0,
    described: bool = True,
) -> Rows:
    """Yield `attribute_within`, `attribute_between` and `attribute_change` rows.

    `attribute_within` compares S(composite) - S(baseline) between depicted groups, `attribute_between` compares
    S(composite): Welch's interval, and p by permuting who is of which group. `attribute_change` is the mean change in each
    depicted group and each cell of the factors, which Figures 4 to 7 show; it is left out where not `described`.
    """
    for system, part in by_system(pictures).items():
        gaps: list[tuple[dict[str, str], np.ndarray]] = []
        for place in places_of(part):
            for cluster, use in uses_of(part, place, clusters, gender, factors).items():
                about = {"system": system, "place": place, "attribute": cluster}
                gaps.append(({"measure": "attribute_between", **about}, use.place))
                if not np.isnan(use.alone).all():
                    shift = use.place - use.alone
                    gaps.append(({"measure": "attribute_within", **about}, shift))
                    if described:
                        yield from _cell_rows(shift, use.groups, about)
                    if described and len(factors) > 1:
                        yield from _cell_rows(shift, use.cells, about)
        if gaps:
            yield from _compared(gaps, use.groups, seed)


def uses_of(
    part: pl.DataFrame, place: str, clusters: Sequence[str], gender: str, factors: Sequence[str]
) -> dict[str, Use]:
    """Return each person's mean share of tags in each cluster, in the place and alone."""
    people = people_of(part)
    here, alone = usable(condition(part, place)), usable(condition(part, BASELINE))
    levels = levels_of(part, people, list(dict.fromkeys([gender, *factors])))
    nobody = np.full(len(people), "", dtype=object)
    inside = {name: levels[name] for name in factors if name in levels}
    groups, cells = levels.get(gender, nobody), cells_of(inside) if inside else nobody
    now, then = shares(here, clusters), shares(alone, clusters)
    return {
        cluster: Use(person_means(here, people, now[:, at]), person_means(alone, people, then[:, at]), groups, cells)
        for at, cluster in enumerate(clusters)
    }


def _compared(gaps: Sequence[tuple[dict[str, str], np.ndarray]], groups: np.ndarray, seed: int) -> Rows:
    """Compare each two groups in all places and attributes of a system."""
    values = np.stack([one for _, one in gaps], axis=1)
    for first, second in combinations(sorted(set(groups.tolist()) - {""}), 2):
        both = np.isin(groups, [first, second])
        tested = permute_labels(values[both], groups[both] == first, seed)
        for at, (about, column) in enumerate(gaps):
            there = ~np.isnan(column)
            one, two = (column[(groups == name) & there] for name in (first, second))
            row = {"group": first, "versus": second, "n_missing": int((both & ~there).sum()), **about}
            yield _gap(one, two, tested.p[at], tested.floor[at]).row(unit="points", counted="people", **row)


def _gap(one: np.ndarray, two: np.ndarray, p: float, floor: float) -> Estimate:
    """Return the difference of two groups' means; or why it is not tested."""
    gap = welch(one, two)
    if not gap.n:
        return Estimate(n=0)
    found = Estimate(gap.value, gap.low, gap.high, p, gap.n, p_floor=floor)
    if min(len(one), len(two)) < 2 or floor >= LEVEL:
        few = "answers about too few people of a group for any difference to be found"
        return replace(found, p=np.nan, decision=NOT_TESTED, reason=few)
    if np.isnan(gap.p):  # all of a group are alike: Welch's interval would have no width
        found = replace(_apart(one, two), p=p, p_floor=floor)
        alike = "everybody has the same share of such tags"
        return replace(found, decision=NOT_TESTED, reason=alike) if np.isnan(p) else found
    return replace(found, note=_note(one, two, gap))


def _apart(one: np.ndarray, two: np.ndarray) -> Estimate:
    """Return the difference of means of people who are all alike, its interval recovered from those of both means."""
    first, second = bounded_mean(one), bounded_mean(two)
    gap = first.value - second.value
    low = gap - np.hypot(first.value - first.low, second.high - second.value)
    return Estimate(
        gap, low, gap + np.hypot(first.high - first.value, second.value - second.low), n=len(one) + len(two)
    )


def _note(one: np.ndarray, two: np.ndarray, found: Difference) -> str:
    paper = "beyond" if found.p < PAPER_WELCH else "not beyond"
    return (
        f"means {number(one.mean())} and {number(two.mean())}; Welch t = {number(found.statistic)}, "
        f"df = {number(found.df)}, {paper} the paper's threshold of {PAPER_WELCH}"
    )


@shared
def _names(cells: np.ndarray) -> list[str]:
    return sorted(set(cells.tolist()) - {""})


def _cell_rows(shift: np.ndarray, cells: np.ndarray, about: dict[str, str]) -> Rows:
    for cell in _names(cells):
        inside = cells == cell
        values = shift[inside & ~np.isnan(shift)]
        small = len(values) < LEAST
        found = Estimate(n=len(values)) if small else clustered_mean(values)
        yield found.row(
            "attribute_change", group=cell, n_missing=int(inside.sum()) - len(values), unit="points",
            counted="people", note=f"NA: {count_people(len(values))}, fewer than {LEAST}" if small else "", **about,
        )  # fmt: skip
