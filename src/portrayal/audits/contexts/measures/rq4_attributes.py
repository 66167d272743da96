"""RQ4, attribute by attribute: what is said more or less of whom (Tables 11 and 13, Figures 4 to 7)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.contexts.measures.people import condition, people_of, person_means, places_of
from portrayal.audits.contexts.measures.pictures import BASELINE, SUPER, by_system, shares, usable
from portrayal.audits.contexts.measures.rq4_descriptions import LEAST, cells_of, count_people, levels_of
from portrayal.report.words import number
from portrayal.stats.decision import NOT_TESTED
from portrayal.stats.estimate import Estimate
from portrayal.stats.groups import Difference, welch
from portrayal.stats.intervals import clustered_mean

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
    pictures: pl.DataFrame, gender: str, factors: Sequence[str], clusters: Sequence[str] = SUPER
) -> Rows:
    """Yield `attribute_within`, `attribute_between` and `attribute_change` rows.

    `attribute_within` compares S(composite) - S(baseline) between depicted groups by Welch's t, `attribute_between`
    compares S(composite); `attribute_change` is the mean change in each depicted group and each cell of the factors, which
    Figures 4 to 7 show.
    """
    for system, part in by_system(pictures).items():
        for place in places_of(part):
            for cluster, use in uses_of(part, place, clusters, gender, factors).items():
                about = {"system": system, "place": place, "attribute": cluster}
                yield from _welch_rows("attribute_between", use.place, use.groups, about)
                if not np.isnan(use.alone).all():
                    shift = use.place - use.alone
                    yield from _welch_rows("attribute_within", shift, use.groups, about)
                    yield from _cell_rows(shift, use.groups, about)
                    if len(factors) > 1:
                        yield from _cell_rows(shift, use.cells, about)


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
        cluster: Use(
            person_means(here, people, now[:, at]), person_means(alone, people, then[:, at]), groups, cells
        )
        for at, cluster in enumerate(clusters)
    }


def _welch_rows(measure: str, values: np.ndarray, groups: np.ndarray, about: dict[str, str]) -> Rows:
    for first, second in combinations(sorted(set(groups.tolist()) - {""}), 2):
        one, two = (values[(groups == name) & ~np.isnan(values)] for name in (first, second))
        lost = int(np.isin(groups, [first, second]).sum()) - len(one) - len(two)
        found = welch(one, two)
        yield found.row(
            measure, group=first, versus=second, n_missing=lost, unit="points", counted="people",
            **_welch_note(one, two, found), **about,
        )  # fmt: skip


def _welch_note(one: np.ndarray, two: np.ndarray, found: Difference) -> dict[str, str]:
    """Return the means, t and the paper's threshold; or why there is no test."""
    if not len(one) + len(two):
        return {}
    if min(len(one), len(two)) < 2:
        return {"decision": NOT_TESTED, "reason": "fewer than two people of a group could be compared"}
    if np.isnan(found.p):
        return {"decision": NOT_TESTED, "reason": "the share is the same for everybody of a group"}
    paper = "beyond" if found.p < PAPER_WELCH else "not beyond"
    return {
        "note": f"means {number(one.mean())} and {number(two.mean())}; Welch t = {number(found.statistic)}, "
        f"df = {number(found.df)}; {paper} the paper's threshold of {PAPER_WELCH}"
    }


def _cell_rows(shift: np.ndarray, cells: np.ndarray, about: dict[str, str]) -> Rows:
    for cell in sorted(set(cells.tolist()) - {""}):
        inside = cells == cell
        values = shift[inside & ~np.isnan(shift)]
        small = len(values) < LEAST
        found = Estimate(n=len(values)) if small else clustered_mean(values)
        yield found.row(
            "attribute_change", group=cell, n_missing=int(inside.sum()) - len(values), unit="points",
            counted="people", note=f"NA: {count_people(len(values))}, fewer than {LEAST}" if small else "", **about,
        )  # fmt: skip
