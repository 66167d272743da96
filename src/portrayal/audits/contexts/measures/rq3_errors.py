"""RQ3 by group: errors about people by gender, race and their crossing.

Tabled as in Buolamwini, Gebru (2018), Gender shades, FAT*. A picture is misgendered where another gender than the labelled one is
named, and named rightly where that one is. No gender named is neither.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.contexts.measures.design import Design
from portrayal.audits.contexts.measures.rq3_accuracy import f1
from portrayal.audits.contexts.measures.views import NEUTRAL, Rows, View
from portrayal.stats.decisions.decision import NOT_TESTED
from portrayal.stats.decisions.multiplicity import LEVEL
from portrayal.stats.estimate import Estimate
from portrayal.stats.intervals.shares import clustered_share, share_over
from portrayal.stats.tests.max_t import worst_group
from portrayal.stats.tests.proportions import mean_share_difference

LEVEL_TEST = "misgendered"
WORST_TESTS = {"misgendered_worst_group": "misgendered", "unnamed_worst_group": "unnamed"}
THE_OTHERS, CROSSED = "the others", " and "
ALIKE, ALONE = "it does the same with everybody", "only one group is shown"
FEW = "so few people that no group could be found to do worse"


def errors(view: View, design: Design) -> Rows:
    """Yield the level of misgendering, errors by group, and tests of the worst group."""
    if not (design.gender in view.table.columns and design.wants(LEVEL_TEST, *WORST_TESTS)):
        return
    answered = view.where(view[design.gender].is_in(list(design.cluster_of))).own.answered.own
    depicted = answered[design.gender].replace_strict(design.cluster_of, default=None, return_dtype=pl.String)
    right = (answered["inferred"] == depicted).to_numpy()
    wrong = ~right & (answered["inferred"] != NEUTRAL).to_numpy()
    counts = {"misgendered": answered.counts(wrong), "unnamed": answered.counts(~right)}
    about = {"system": view.system, "n_missing": len(view.people) - len(answered.people)}
    if design.wants(LEVEL_TEST) and len(answered):
        level = share_over(counts["misgendered"], answered.each, design.tolerance)
        yield level.row(LEVEL_TEST, unit="share", counted="pictures", **about)
    for factor, levels in _factors(answered, design) if len(answered) else ():
        if design.describes:
            yield from _table(answered, design, counts, levels, {**about, "factor": factor, "n_missing": 0})
        for test, name in WORST_TESTS.items():
            if design.wants(test):
                gap = _worst(counts[name] / answered.each, levels, design.seed)
                yield {**gap, **about, "measure": test, "factor": factor}


def _worst(rates: np.ndarray, levels: np.ndarray, seed: int) -> dict[str, Any]:
    """Return the row of the worst served group, or why there is none."""
    names, codes = np.unique(levels[levels != ""], return_inverse=True)
    known, about = rates[levels != ""], {"unit": "points", "counted": "people", "versus": THE_OTHERS}
    worst = worst_group(known, codes, seed)
    if worst is None:
        return Estimate(n=len(known), decision=NOT_TESTED, reason=ALIKE if len(names) > 1 else ALONE).row("", **about)
    gap = mean_share_difference(known[codes == worst.group], known[codes != worst.group], tested=False)
    tested = {"decision": NOT_TESTED, "reason": FEW} if worst.floor >= LEVEL else {"p": worst.p, "p_floor": worst.floor}
    return {**gap.row("", **about), "group": str(names[worst.group]), **tested}


def _factors(answered: View, design: Design) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the people's levels of gender, of the other factors, and of two crossed."""
    levels = answered.levels([design.gender, *design.factors])
    yield from levels.items()
    for (first, one), (second, two) in combinations(levels.items(), 2):
        crossed = np.array([f"{b} {a}" if a and b else "" for a, b in zip(one, two, strict=True)])
        yield f"{first}{CROSSED}{second}", crossed


def _table(
    view: View, design: Design, counts: dict[str, np.ndarray], levels: np.ndarray, about: dict[str, Any]
) -> Rows:
    """Yield each group's errors and F1, with intervals."""
    others = list(view.levels([name for name in design.factors if name != design.gender]).values())
    for group in np.unique(levels[levels != ""]):
        inside, where = levels == group, {**about, "group": str(group), "counted": "pictures"}
        for name, errors_of in counts.items():
            share = clustered_share(errors_of[inside], view.each[inside])
            yield share.row(f"{name}_of_group", unit="share", **where)
        clusters = {design.cluster_of[label] for label in view.levels([design.gender])[design.gender][inside]}
        if len(clusters) == 1:  # of a crossing: among everybody of the same other level
            cluster, same = clusters.pop(), np.ones(len(levels), dtype=bool)
            for other in others:
                same &= (other == other[inside][0]) | (len(set(other[inside])) > 1)
            beside = view.where(pl.Series(same[view.positions]))
            score = f1(beside, cluster, design.genders[cluster], design.gender)
            yield score.row("gender_f1_of_group", unit="F1", **where)
