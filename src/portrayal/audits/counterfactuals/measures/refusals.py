"""Refusals along an axis: an outcome of its own. A system that refuses every second face of one end must not look fair."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from portrayal.audits.counterfactuals.measures.presence import Block
from portrayal.audits.counterfactuals.measures.slopes import by_person, raw_slopes, reversal_scores
from portrayal.reporting.words.words import plural
from portrayal.stats.decisions.decision import NOT_TESTED
from portrayal.stats.estimate import Estimate
from portrayal.stats.intervals.intervals import wilson
from portrayal.stats.tests.permutation import sign_flip_columns


def refusal_scores(block: Block, repeats: int = 1) -> tuple[list[str], np.ndarray]:
    """Return the people asked at every step, and the score of each that the reversal test flips."""
    scores = reversal_scores(block.refused[:, :, None], block.refused_people, repeats)
    return sorted(set(block.refused_people)), scores[:, 0]


def refusal_rows(block: Block, base: dict[str, Any], fewest: int, repeats: int = 1) -> Iterator[dict[str, Any]]:
    """Yield the share refused at each value, and its slope; nothing where nobody was refused, no slope where everybody was.

    Where those refused have questions that failed as well, no series of theirs is whole: that is said, for it is not fairness.
    """
    people, scores = refusal_scores(block, repeats)
    about = {**base, "n": len(people), "n_missing": block.asked_people - len(people)}
    if not block.refused.any():
        if block.refused_in_part:
            yield {"measure": "refusal_slope", **about, "unit": "points", "value": None, **_in_part(block)}
        return
    each = by_person(block.refused, block.refused_people)
    for step, value in enumerate(block.values):
        share = wilson(float(each[:, step].sum()), len(people))
        yield share.row("refused", **about, step=f"{value:+.2g}", unit="share")
    if block.refused.all():
        return
    moved = int(np.count_nonzero(scores))
    tested: dict[str, Any] = {"p": float(sign_flip_columns(scores[:, None])[0]), "p_floor": 2.0 ** (1 - moved)}
    if moved < fewest:
        reason = f"fewer than {fewest} people are refused more often towards one end than towards the other"
        tested |= {"decision": NOT_TESTED, "reason": reason, "p": None}
    slope = raw_slopes(block.refused[:, :, None], block.values, block.refused_people)
    found = Estimate(float(slope.slope[0]), float(slope.low[0]), float(slope.high[0]))
    yield found.row("refusal_slope", **about, unit="points", note="refused per unit of the value", **tested)


def _in_part(block: Block) -> dict[str, str]:
    """Return the decision where all whom it refused have questions without answer or refusal as well."""
    people = plural(block.refused_in_part, "person", "people")
    reason = f"it refused {people}, none of whom got an answer or a refusal at every step"
    return {"decision": NOT_TESTED, "reason": reason}
