"""Rows of one system along one axis: slopes, flips, rates, refusals.

Joo, Kaerkkaeinen (2020), Gender slopes, section Results, Tables 1, 2, 5 and 6. A set larger than memory has no `Tests`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import floor, log2
from typing import Any

import numpy as np

from portrayal.audits.counterfactuals.measures import slopes as fits
from portrayal.audits.counterfactuals.measures.axis import PLACEBO, POLES
from portrayal.audits.counterfactuals.measures.occupations import is_plain, occupation_group
from portrayal.audits.counterfactuals.measures.presence import Block
from portrayal.audits.counterfactuals.measures.slopes import Slopes
from portrayal.audits.counterfactuals.measures.sums import Sums
from portrayal.stats.decisions.decision import EXPLORATORY, NOT_MEASURABLE, NOT_TESTED
from portrayal.stats.decisions.multiplicity import LEVEL
from portrayal.stats.estimate import Estimate
from portrayal.stats.intervals.intervals import clustered_mean, wilson
from portrayal.stats.tests.max_t import flip_jointly
from portrayal.stats.tests.permutation import sign_flip_columns
from portrayal.text.formatting import plural

FACETS = ("attribute", *POLES, "label", "occupation", "step", "check")
FAMILY = ("raw_slope", "refusal_slope")
PAPER_P, PAPER_SLOPE = 0.001, 0.03  # the paper's filters
FEWEST = floor(1 - log2(LEVEL)) + 1  # people whose signs can give a p under the level
SCORE = "score"  # the unit of a slope of scores
UNIT = "share of the centre's rate per unit of the value"
UNMOVED = f"fewer than {FEWEST} people get it more often towards one end than towards the other"
UNREFUSED = f"fewer than {FEWEST} people are refused more often towards one end than towards the other"
NO_SERIES = "nobody has an answer at every step"
NO_LABEL = "it gave nobody any label"
CENTRE = "unedited photograph less the centre, which is itself synthetic"
FLIPS = ("comes", "goes", "changes")
Row = dict[str, Any]


@dataclass(frozen=True)
class Tests:
    """Tests of one block, and what else needs every single series; by label."""

    block: Block
    repeats: int = 1

    @cached_property
    def sums(self) -> Sums:
        """The sums over people."""
        return Sums.of(self.block)

    @cached_property
    def scored(self) -> bool:
        """True where every answer has a score, and some label's scores differ."""
        scores, present = self.block.scores, self.block.present
        if not np.isfinite(scores).all() or not present.size:
            return False
        means = np.divide(scores, present, out=np.full(scores.shape, np.nan), where=present > 0)
        apart = np.fmax.reduce(means, axis=(0, 1)) - np.fmin.reduce(means, axis=(0, 1))
        return bool((apart > fits.DUST).any())

    @cached_property
    def rises(self) -> np.ndarray:
        """Each person's slope of every label, whose signs are flipped."""
        answers = self.block.scores if self.scored else self.block.present
        return fits.rises(fits.by_person(answers, self.block.people), self.block.values)

    @cached_property
    def p(self) -> np.ndarray:
        """The p of each label by itself: exact of presence, whose scores are whole numbers."""
        if self.scored:
            return np.nan_to_num(flip_jointly(self.rises).p, nan=1.0)
        return sign_flip_columns(fits.reversal_scores(self.block.present, self.block.people, self.repeats))

    @cached_property
    def refusal_rises(self) -> np.ndarray:
        """The same slopes of refusals, of the people asked at every step."""
        return fits.rises(fits.by_person(self.block.refused[:, :, None], self.block.refused_people), self.block.values)

    @cached_property
    def raw(self) -> Slopes:
        """The slopes of the mean scores, or of the shares."""
        answers = self.block.scores if self.scored else self.block.present
        sums = fits.slope_sums(fits.by_person(answers, self.block.people), self.block.values)
        return fits.raw_slopes_of(sums, self.block.values, len(self.people))

    @property
    def people(self) -> list[str]:
        """The people, in the order of the scores."""
        return sorted(set(self.block.people))

    def passes(self, place: int) -> bool:
        """Return whether a label passes the paper's filters."""
        return bool(self.sums.slopes.p_paper[place] < PAPER_P and abs(self.sums.slopes.slope[place]) > PAPER_SLOPE)

    @cached_property
    def moved(self) -> np.ndarray:
        """The number of people who get each label more often towards one end."""
        return np.count_nonzero(self.rises, axis=0)

    def of_slope(self, place: int) -> Row:
        """Return p of a label, or why it is not tested."""
        moved, block = int(self.moved[place]), self.block
        tested: Row = {"p": self.p[place], "p_floor": 2.0 ** (1 - moved)}
        if not block.pictures:
            return {**tested, "decision": NOT_MEASURABLE, "reason": NO_SERIES, "p": None}
        if moved >= FEWEST:
            return tested
        few = UNMOVED  # where gaps leave so few, nothing is said of how often others get a label
        if block.n_missing and len(self.people) < FEWEST:
            everybody = plural(block.asked_people, "person", "people")
            few = f"only {len(self.people)} of {everybody} got an answer at every step"
        return {**tested, "decision": NOT_TESTED, "reason": few, "p": None}

    def of_refusals(self) -> Row:
        """Return p of the slope of refusals, or why it is not tested."""
        moved = int(np.count_nonzero(self.refusal_rises))
        scores = fits.reversal_scores(self.block.refused[:, :, None], self.block.refused_people, self.repeats)
        tested: Row = {"p": float(sign_flip_columns(scores)[0]), "p_floor": 2.0 ** (1 - moved)}
        return tested if moved >= FEWEST else {**tested, "decision": NOT_TESTED, "reason": UNREFUSED, "p": None}


def tested_rows(tests: Tests, plain_too: bool = False) -> Iterator[Row]:
    """Yield all rows of a block; the placebo and plain concepts are exploratory."""
    block = tests.block
    for row in axis_rows(block.system, tests.sums, block.asked_people, len(block.pictures) + block.lost, tests):
        outside = block.axis.attribute == PLACEBO or (not plain_too and is_plain(row.get("label") or ""))
        yield {**row, "family": EXPLORATORY} if outside else row


def axis_rows(
    system: str, sums: Sums, asked_people: int, asked_pictures: int, tests: Tests | None = None
) -> Iterator[Row]:
    """Yield all rows of a system along an axis."""
    about = {"system": system, **sums.axis._asdict(), "counted": "people"}
    base = {**about, "n": sums.people, "n_missing": asked_people - sums.people}
    if sums.people or tests:
        yield from _label_rows(sums, base, tests)
        yield from _part_rows(sums, base)
    note = ""
    if tests:
        movable = int((tests.moved >= FEWEST).sum())
        lost = asked_pictures - sums.pictures
        gone = f"; {plural(lost, 'source image')} left out: a step has no usable answer" if lost else ""
        note = f"{movable} can be tested with {plural(sums.people, 'person', 'people')}{gone}"
    yield Estimate(float(len(sums.labels)), unit="labels", note=note).row("labels_tested", **base)
    if sums.people:
        yield wilson(sums.changed, sums.people).row("any_flip", **base, unit="share")
    questions = len(sums.values) * asked_pictures
    answers = {**base, "n": questions, "counted": "answers", "unit": "share"}
    yield wilson(sums.empty, questions).row("empty_answers", **answers)
    refused = {**about, "n": sums.refused_people, "n_missing": asked_people - sums.refused_people}
    yield from _refusal_rows(sums, refused, tests)


def _label_rows(sums: Sums, base: Row, tests: Tests | None) -> Iterator[Row]:
    """Yield the rows of every label, and one that says so where there is none."""
    if tests and not sums.labels and sums.people:
        yield Estimate().row("raw_slope", **base, unit="points", decision=NOT_TESTED, reason=NO_LABEL)
    slopes, spacing = sums.slopes, float(np.diff(sums.values).mean())
    raw = fits.raw_slopes_of(sums.columns(sums.labels), sums.values, sums.people)
    scored = bool(tests and tests.scored)
    for place, label in enumerate(sorted(sums.labels)):
        about, absent = {**base, "label": label}, bool(sums.people) and not slopes.at_centre[place]
        kind = "plain concept" if is_plain(label) else (occupation_group(label) or "")
        tested = tests.of_slope(place) if tests else {}
        note = "; ".join(filter(None, ["nobody gets it at the centre: no normalised slope" * absent, kind]))
        if tests and scored:
            yield _slope(tests.raw, place).row("raw_slope", **about, unit=SCORE, note=note, **tested)
        share = {} if scored else tested
        yield _slope(raw, place).row(
            "presence_slope" if scored else "raw_slope", **about, unit="points", note=note, **share
        )
        if not absent:
            slope = _slope(slopes, place)
            yield slope.row("slope", **about, unit=UNIT, note=kind)
            per_step = slope.map(lambda end: end * spacing)
            yield per_step.row("slope_per_step", **about, unit="share of the centre's rate per step", note=kind)
            passed = slopes.p_paper[place] < PAPER_P and abs(slopes.slope[place]) > PAPER_SLOPE
            filters = f"{'passes' if passed else 'does not pass'} p < {PAPER_P} and |slope| > {PAPER_SLOPE}"
            note = f"least squares over {len(sums.values)} steps, as published; {filters}"
            paper = Estimate(slopes.slope[place], p=slopes.p_paper[place])
            yield paper.row("paper_slope", **about, unit=UNIT, note=note)
        for name, count in zip(FLIPS, sums.flips[label] if sums.people else (), strict=False):
            yield wilson(float(count), sums.people).row(f"flip_{name}", **about, unit="share")
        for value, count in zip(sums.values, sums.labels[label] if absent else (), strict=False):
            rate = wilson(float(count), sums.people)
            yield rate.row("rate", **about, step=f"{value:+.2g}", unit="share", note="absent at the centre")
        if sums.compared:
            gaps = list(sums.gaps[label].elements())
            gap = clustered_mean(np.array([*gaps, *[0.0] * (sums.compared - len(gaps))]))
            counts = {"n": sums.compared, "n_missing": sums.people - sums.compared, "unit": "points"}
            yield gap.row("unedited_gap", **{**about, **counts}, note=CENTRE)


def _part_rows(sums: Sums, base: Row) -> Iterator[Row]:
    """Yield slopes by starting group, and of each occupation group (any of its labels)."""
    for group, (people, columns) in sorted(sums.starts.items()) if len(sums.starts) > 1 else ():
        slopes = fits.slopes_of(sums.columns(columns), sums.values, people)
        for place, label in enumerate(sorted(sums.labels)):
            about = {**base, "label": label, "group": group, "n": people, "n_missing": 0}
            yield _slope(slopes, place).row("slope_by_start", **about, unit=UNIT)
    members: dict[str, list[str]] = {}
    for label in sorted(sums.labels):
        members.setdefault(occupation_group(label) or "", []).append(label)
    for group, labels in members.items():
        if group and sums.people:
            slopes = fits.slopes_of(sums.occupations[group][:, None], sums.values, sums.people)
            about, note = {**base, "occupation": group}, "any of: " + ", ".join(labels)
            yield _slope(slopes, 0).row("occupation_group_slope", **about, unit=UNIT, note=note)


def _refusal_rows(sums: Sums, about: Row, tests: Tests | None) -> Iterator[Row]:
    """Yield the share refused at each value, and its slope where it varies."""
    shares = sums.refused[: len(sums.values)]
    if not shares.any():
        if tests and tests.block.refused_in_part:
            people = plural(tests.block.refused_in_part, "person", "people")
            reason = f"it refused {people}, none of whom got an answer or a refusal at every step"
            untested = {"decision": NOT_TESTED, "reason": reason}
            yield {"measure": "refusal_slope", **about, "unit": "points", "value": None, **untested}
        return
    for value, count in zip(sums.values, shares, strict=True):
        share = wilson(float(count), sums.refused_people)
        yield share.row("refused", **about, step=f"{value:+.2g}", unit="share")
    if shares.sum() < len(shares) * sums.refused_people:
        slope = _slope(fits.raw_slopes_of(sums.refused[:, None], sums.values, sums.refused_people), 0)
        tested = tests.of_refusals() if tests else {}
        yield slope.row("refusal_slope", **about, unit="points", note="refused per unit of the value", **tested)


def _slope(slopes: Slopes, place: int) -> Estimate:
    return Estimate(slopes.slope[place], slopes.low[place], slopes.high[place])
