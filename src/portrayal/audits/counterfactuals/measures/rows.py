"""Results rows of one block: every label's slopes, flips and rates, and the block's own figures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import floor, log2
from typing import Any

import numpy as np

from portrayal.audits.counterfactuals.measures.axis import PLACEBO, POLES
from portrayal.audits.counterfactuals.measures.flips import any_flip, label_flips
from portrayal.audits.counterfactuals.measures.labels import is_plain, occupation_group
from portrayal.audits.counterfactuals.measures.logistic import LogisticSlopes, conditional_logistic
from portrayal.audits.counterfactuals.measures.presence import Block
from portrayal.audits.counterfactuals.measures.refusals import refusal_rows
from portrayal.audits.counterfactuals.measures.slopes import (
    Slopes,
    by_person,
    normalised_slopes,
    raw_slopes,
    reversal_scores,
)
from portrayal.reporting.words.words import plural
from portrayal.stats.decisions.decision import EXPLORATORY, NOT_MEASURABLE, NOT_TESTED
from portrayal.stats.decisions.multiplicity import LEVEL
from portrayal.stats.estimate import Estimate
from portrayal.stats.intervals.intervals import clustered_mean, wilson
from portrayal.stats.tests.permutation import sign_flip_columns

FACETS = ("attribute", *POLES, "label", "occupation", "step", "check")
FAMILY = ("slope", "raw_slope", "refusal_slope")
PAPER_P, PAPER_SLOPE = 0.001, 0.03  # the paper's filters
FEWEST = floor(1 - log2(LEVEL)) + 1  # people whose signs can give a p under the level
UNIT = "share of the centre's rate per unit of the value"
UNMOVED = f"fewer than {FEWEST} people get it more often towards one end than towards the other"
NO_SERIES = "nobody has an answer at every step"
NO_LABEL = "it gave nobody any label"
Row = dict[str, Any]


@dataclass(frozen=True)
class BlockSlopes:
    """All estimates of one block, one entry per label in each."""

    block: Block
    slopes: Slopes  # normalised by the centre; of a label absent there, of the share itself
    scores: np.ndarray  # people x labels, whole numbers: what the reversal test flips
    p: np.ndarray
    logistic: LogisticSlopes
    confidence: Slopes | None
    repeats: int = 1

    @property
    def spacing(self) -> float:
        """The distance between neighbouring steps."""
        return float(np.diff(self.block.values).mean())

    @property
    def people(self) -> list[str]:
        """The people, in the order of the scores."""
        return sorted(set(self.block.people))

    def passes(self, place: int) -> bool:
        """Say whether a label passes the paper's filters."""
        return bool(self.slopes.p_paper[place] < PAPER_P and abs(self.slopes.slope[place]) > PAPER_SLOPE)

    def moved(self, place: int) -> int:
        """Count the people who get a label more often towards one end."""
        return int(np.count_nonzero(self.scores[:, place]))


def estimate(block: Block, repeats: int = 1) -> BlockSlopes:
    """Estimate everything of one block."""
    scored = np.isfinite(block.scores).all() and bool(block.scores.any())
    scores = reversal_scores(block.present, block.people, repeats)
    return BlockSlopes(
        block,
        normalised_slopes(block.present, block.values, block.people),
        scores,
        sign_flip_columns(scores),
        conditional_logistic(block.present, block.values, block.people),
        normalised_slopes(block.scores, block.values, block.people) if scored else None,
        repeats,
    )


def block_rows(found: BlockSlopes, plain_too: bool = False) -> Iterator[Row]:
    """Yield all rows of a block; those of a placebo, and of plain concepts unless they are wanted, are in no family of tests."""
    refusals = refusal_rows(found.block, _base(found.block), FEWEST, found.repeats)
    rows = [*_label_rows(found), *_group_rows(found.block), *_own_rows(found), *refusals]
    for row in rows:
        outside = found.block.axis.attribute == PLACEBO or (not plain_too and is_plain(row.get("label") or ""))
        yield {**row, "family": EXPLORATORY} if outside else row


def _label_rows(found: BlockSlopes) -> Iterator[Row]:
    """Yield the rows of every label, and one that says so where there is none."""
    if not found.block.labels and found.block.pictures:
        reason = {"decision": NOT_TESTED, "reason": NO_LABEL}
        yield Estimate().row("slope", **_base(found.block), unit=UNIT, **reason)
    flips = list(label_flips(found.block.present, found.block.people)) if found.block.pictures else []
    for place, label in enumerate(found.block.labels):
        base = _base(found.block, label=label)
        yield from _slope_rows(found, place, base)
        for name, share in zip(("comes", "goes", "changes"), flips[place] if flips else (), strict=False):
            yield share.row(f"flip_{name}", **base, unit="share")
        yield from _rate_rows(found, place, base)
    yield from _start_rows(found.block)


def _own_rows(found: BlockSlopes) -> Iterator[Row]:
    """Yield what is said of the block as a whole."""
    block, base = found.block, _base(found.block)
    movable = sum(found.moved(place) >= FEWEST for place in range(len(block.labels)))
    note = f"{movable} can be tested with {plural(len(found.people), 'person', 'people')}"
    lost = f"; {plural(block.lost, 'source image')} left out: a step has no usable answer" if block.lost else ""
    yield Estimate(float(len(block.labels)), unit="labels", note=note + lost).row("labels_tested", **base)
    if block.pictures:
        yield any_flip(block.present, block.people).row("any_flip", **base, unit="share")
    asked = len(block.values) * (len(block.pictures) + block.lost)
    counts = {"n": asked, "counted": "answers"}
    yield wilson(block.empty, asked).row("empty_answers", **{**base, **counts}, unit="share")


def _group_rows(block: Block) -> Iterator[Row]:
    """Yield the slope of each occupation group: at least one of its labels given."""
    groups: dict[str, list[int]] = {}
    for place, label in enumerate(block.labels):
        if group := occupation_group(label):
            groups.setdefault(group, []).append(place)
    if not groups or not block.pictures:
        return
    present = np.stack([block.present[:, :, places].max(axis=2) for places in groups.values()], axis=2)
    slopes = normalised_slopes(present, block.values, block.people)
    for place, (group, places) in enumerate(groups.items()):
        note = "any of: " + ", ".join(block.labels[at] for at in places)
        about = _base(block, occupation=group)
        yield _slope(slopes, place).row("occupation_group_slope", **about, unit=UNIT, note=note)


def _start_rows(block: Block) -> Iterator[Row]:
    """Yield the slopes of those who start in each group of the attribute: they tell a cue from the mere amount of editing."""
    starts = np.array([start or "" for start in block.starts])
    groups = sorted(set(starts) - {""})
    for group in groups if len(groups) > 1 else []:
        mine = starts == group
        people = [person for person, inside in zip(block.people, mine, strict=True) if inside]
        slopes = normalised_slopes(block.present[mine], block.values, people)
        for place, label in enumerate(block.labels):
            about = {**_base(block, label=label), "group": group, "n": len(set(people)), "n_missing": 0}
            yield _slope(slopes, place).row("slope_by_start", **about, unit=UNIT)


def _slope_rows(found: BlockSlopes, place: int, base: Row) -> Iterator[Row]:
    """Yield slope, slope per step, the paper's test, and the logistic and confidence slopes."""
    slopes, label = found.slopes, found.block.labels[place]
    note = "plain concept" if is_plain(label) else (occupation_group(label) or "")
    tested = {"p": found.p[place], "p_floor": 2.0 ** (1 - found.moved(place)), **_untested(found, place)}
    if found.block.pictures and not slopes.at_centre[place]:
        raw = raw_slopes(found.block.present[:, :, [place]], found.block.values, found.block.people)
        note = "; ".join(filter(None, ["nobody gets it at the centre: no normalised slope", note]))
        yield _slope(raw, 0).row("raw_slope", **base, unit="points", note=note, **tested)
    else:
        slope = _slope(slopes, place)
        yield slope.row("slope", **base, unit=UNIT, note=note, **tested)
        per_step = slope.map(lambda end: end * found.spacing)
        yield per_step.row("slope_per_step", **base, unit="share of the centre's rate per step", note=note)
        yield _paper_row(found, place, base)
    yield _logistic_row(found, place, base)
    if found.confidence is not None:
        slope = _slope(found.confidence, place)
        yield slope.row("confidence_slope", **base, unit="share of the centre's mean score per unit")


def _untested(found: BlockSlopes, place: int) -> Row:
    """Return the decision and reason where there is nothing to test."""
    if not found.block.pictures:
        return {"decision": NOT_MEASURABLE, "reason": NO_SERIES, "p": None}
    if found.moved(place) < FEWEST:
        return {"decision": NOT_TESTED, "reason": _few(found), "p": None}
    return {}


def _few(found: BlockSlopes) -> str:
    """Return why too few people can tell: where gaps leave so few, nothing is said of how often others get a label."""
    if found.block.n_missing and len(found.people) < FEWEST:
        return f"only {len(found.people)} of {plural(found.block.asked_people, 'person', 'people')} got an answer at every step"
    return UNMOVED


def _paper_row(found: BlockSlopes, place: int, base: Row) -> Row:
    passed = "passes" if found.passes(place) else "does not pass"
    note = (
        f"least squares over {len(found.block.values)} steps, as published; {passed} "
        f"p < {PAPER_P} and |slope| > {PAPER_SLOPE}"
    )
    paper = Estimate(found.slopes.slope[place], p=found.slopes.p_paper[place])
    return paper.row("paper_slope", **base, unit=UNIT, note=note)


def _logistic_row(found: BlockSlopes, place: int, base: Row) -> Row:
    slope = _slope(found.logistic, place)
    note = f"{plural(int(found.logistic.n[place]), 'source image')} changed"
    if np.isinf(slope.value):
        note += f"; every one of them towards {'+' if slope.value > 0 else '-'}: no finite slope"
    return slope.row("logistic_slope", **base, unit="log odds per unit of the value", note=note)


def _rate_rows(found: BlockSlopes, place: int, base: Row) -> Iterator[Row]:
    """Yield raw rates of a label absent at the centre, and what the centre itself changed."""
    block = found.block
    if block.pictures and not found.slopes.at_centre[place]:
        each = by_person(block.present[:, :, place], block.people)
        for step, value in enumerate(block.values):
            rate = wilson(float(each[:, step].sum()), len(each))
            note = "absent at the centre"
            yield rate.row("rate", **base, step=f"{value:+.2g}", unit="share", note=note)
    gap = block.unedited[:, place] - block.present[:, block.centre, place]
    known = np.isfinite(gap)
    if known.any():
        each = by_person(gap[known], [person for person, here in zip(block.people, known, strict=True) if here])
        counts = {"n": len(each), "n_missing": len(set(block.people)) - len(each), "unit": "points"}
        note = "unedited photograph less the centre, which is itself synthetic"
        yield clustered_mean(each).row("unedited_gap", **{**base, **counts}, note=note)


def _base(block: Block, **facets: str) -> Row:
    about = {"system": block.system, **block.axis._asdict(), **facets}
    return {**about, "n": len(set(block.people)), "counted": "people", "n_missing": block.n_missing}


def _slope(slopes: Slopes | LogisticSlopes, place: int) -> Estimate:
    return Estimate(slopes.slope[place], slopes.low[place], slopes.high[place])
