"""RQ4 by attribute: kinds of tags used of whom (Barlas et al. 2020, Section 5.4, Tables 11 and 13, Figures 4 to 7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from portrayal.audits.contexts.measures.design import SUPER, Design
from portrayal.audits.contexts.measures.rq4_descriptions import LEAST, cells_of, too_few_people
from portrayal.audits.contexts.measures.views import Rows, View
from portrayal.stats.decisions.decision import NOT_TESTED
from portrayal.stats.decisions.multiplicity import LEVEL
from portrayal.stats.estimate import Estimate
from portrayal.stats.intervals.intervals import clustered_mean
from portrayal.stats.intervals.shares import bounded_mean
from portrayal.stats.models.groups import welch
from portrayal.stats.tests.people import permute_labels
from portrayal.text.formatting import number

PAPER_WELCH = 0.002  # the paper's threshold for Welch's t in Tables 11 and 13


def attributes(view: View, design: Design) -> Rows:
    """Yield `attribute_within`, `attribute_between` and `attribute_change` rows."""
    if not design.wants("attribute_within", "attribute_between"):
        return
    levels, nobody = view.levels([design.gender, *design.factors]), np.full(len(view.people), "", dtype=object)
    groups = levels.get(design.gender, nobody)
    inside = {name: levels[name] for name in design.factors if name in levels}
    shown = [groups, *([cells_of(inside) if inside else nobody] if len(design.factors) > 1 else [])]
    alone = view.alone.answered
    before = [alone.means(shares) for shares in alone.shares(SUPER).T]
    gaps: list[tuple[dict[str, Any], np.ndarray]] = []
    for place in view.places:
        here = view.at[place].answered
        for cluster, shares, then in zip(SUPER, here.shares(SUPER).T, before, strict=True):
            about, now = {"system": view.system, "place": place, "attribute": cluster}, here.means(shares)
            gaps.append(({"measure": "attribute_between", **about}, now))
            if not np.isnan(then).all():
                gaps.append(({"measure": "attribute_within", **about}, now - then))
                for cells in shown if design.describes else ():
                    yield from _changes(now - then, cells, about)
    if gaps:
        yield from _compare(gaps, groups, design.seed)


def _changes(shift: np.ndarray, cells: np.ndarray, about: dict[str, Any]) -> Rows:
    for cell in sorted(set(cells.tolist()) - {""}):
        inside = cells == cell
        values = shift[inside & ~np.isnan(shift)]
        mean = clustered_mean(values) if len(values) >= LEAST else too_few_people(len(values))
        lost = int(inside.sum()) - len(values)
        yield mean.row("attribute_change", group=cell, n_missing=lost, unit="points", counted="people", **about)


def _compare(gaps: Sequence[tuple[dict[str, Any], np.ndarray]], groups: np.ndarray, seed: int) -> Rows:
    """Compare each two groups in all places and attributes of a system."""
    values = np.stack([one for _, one in gaps], axis=1)
    for first, second in combinations(sorted(set(groups.tolist()) - {""}), 2):
        both = np.isin(groups, [first, second])
        tested = permute_labels(values[both], groups[both] == first, seed)
        for (about, column), p, floor in zip(gaps, tested.p, tested.floor, strict=True):
            there = ~np.isnan(column)
            one, two = (column[(groups == name) & there] for name in (first, second))
            row = {"group": first, "versus": second, "n_missing": int((both & ~there).sum()), **about}
            yield _gap(one, two, p, floor).row(unit="points", counted="people", **row)


def _gap(one: np.ndarray, two: np.ndarray, p: float, floor: float) -> Estimate:
    """Return the difference of two groups' means; or why it is not tested."""
    gap = welch(one, two)
    if not gap.n:
        return Estimate(n=0)
    tested = Estimate(gap.value, gap.low, gap.high, p, gap.n, p_floor=floor)
    if min(len(one), len(two)) < 2 or floor >= LEVEL:
        few = "answers about too few people of a group for any difference to be found"
        return replace(tested, p=np.nan, decision=NOT_TESTED, reason=few)
    if np.isnan(gap.p):  # all of a group are alike: Welch's interval would have no width
        tested = replace(_apart(one, two), p=p, p_floor=floor)
        alike = "everybody has the same share of such tags"
        return replace(tested, decision=NOT_TESTED, reason=alike) if np.isnan(p) else tested
    note = (
        f"means {number(one.mean())} and {number(two.mean())}; Welch t = {number(gap.statistic)}, df = {number(gap.df)},"
        f" {'beyond' if gap.p < PAPER_WELCH else 'not beyond'} the paper's threshold of {PAPER_WELCH}"
    )
    return replace(tested, note=note)


def _apart(one: np.ndarray, two: np.ndarray) -> Estimate:
    """Return the difference of means where all of a group are alike."""
    first, second = bounded_mean(one), bounded_mean(two)
    gap = first.value - second.value
    low = gap - np.hypot(first.value - first.low, second.high - second.value)
    high = gap + np.hypot(first.high - first.value, second.value - second.low)
    return Estimate(gap, low, high, n=len(one) + len(two))
