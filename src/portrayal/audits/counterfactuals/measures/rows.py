"""Results rows of one block: every label's slopes, flips and rates, and the block's own figures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from portrayal.audits.counterfactuals.measures.flips import any_flip, label_flips
from portrayal.audits.counterfactuals.measures.labels import is_plain, occupation_group
from portrayal.audits.counterfactuals.measures.logistic import LogisticSlopes, conditional_logistic
from portrayal.audits.counterfactuals.measures.presence import Block
from portrayal.audits.counterfactuals.measures.slopes import (
    LEAST,
    Slopes,
    normalised_slopes,
    reversal_scores,
)
from portrayal.report.words import number
from portrayal.stats.estimate import Estimate
from portrayal.stats.intervals import clustered_mean, wilson
from portrayal.stats.permutation import sign_flip_columns

PAPER_P, PAPER_SLOPE = 0.001, 0.03  # the paper's filters
Row = dict[str, Any]


@dataclass(frozen=True)
class Options:
    """How a block is measured."""

    cluster: str = "picture"  # what answers repeat over: picture or person
    repeats: int = 1
    draws: int = 1999
    seed: int = 0
    least: int = LEAST
    method: str = "benjamini-hochberg"  # the correction over all labels of the study


@dataclass(frozen=True)
class BlockSlopes:
    """All estimates of one block, one entry per label in each."""

    block: Block
    clusters: list[str]
    slopes: Slopes
    p: np.ndarray
    logistic: LogisticSlopes
    confidence: Slopes | None

    @property
    def spacing(self) -> float:
        """The distance between neighbouring steps."""
        return float(np.diff(self.block.values).mean())

    def passes(self, place: int) -> bool:
        """Say whether a label passes the paper's filters."""
        return bool(self.slopes.p_paper[place] < PAPER_P and abs(self.slopes.slope[place]) > PAPER_SLOPE)


def estimate(block: Block, options: Options) -> BlockSlopes:
    """Estimate everything of one block."""
    clusters = block.people if options.cluster == "person" else block.pictures
    arguments = (block.values, clusters, options.draws, options.seed, options.least)
    scored = np.isfinite(block.scores).all() and bool(block.scores.any())
    return BlockSlopes(
        block,
        clusters,
        normalised_slopes(block.present, *arguments),
        sign_flip_columns(reversal_scores(block.present, clusters, options.repeats)),
        conditional_logistic(block.present, block.values, clusters),
        normalised_slopes(block.scores, *arguments) if scored else None,
    )


def label_rows(found: BlockSlopes) -> Iterator[Row]:
    """Yield the rows of every label."""
    flips = list(label_flips(found.block.present, found.clusters))
    for place, label in enumerate(found.block.labels):
        base = _base(found.block, label)
        yield from _slope_rows(found, place, base)
        for name, share in zip(("comes", "goes", "changes"), flips[place], strict=True):
            yield share.row(f"flip_{name}", **base, unit="share of source images")
        yield from _rate_rows(found, place, base)


def block_rows(found: BlockSlopes) -> Iterator[Row]:
    """Yield what is said of the block as a whole."""
    block, base = found.block, _base(found.block, "all labels")
    tested = int((found.slopes.at_centre > 0).sum())
    note = (
        f"{tested} present at the centre, {int((found.slopes.at_centre >= LEAST).sum())} with an interval; "
        f"the smallest p the reversal test can give with {len(set(found.clusters))} clusters is "
        f"{number(2.0 ** (1 - len(set(found.clusters))))}"
    )
    yield Estimate(float(len(block.labels)), unit="labels", note=note).row("labels_tested", **base)
    if block.pictures:
        share = any_flip(block.present, found.clusters)
        yield share.row("any_flip", **base, unit="share of source images")
    asked = len(block.values) * (len(block.pictures) + block.n_missing)
    yield wilson(block.empty, asked).row("empty_answers", **{**base, "n": asked}, unit="share of answers")


def group_rows(block: Block, options: Options) -> Iterator[Row]:
    """Yield the slope of each occupation group: at least one of its labels given."""
    groups: dict[str, list[int]] = {}
    for place, label in enumerate(block.labels):
        if group := occupation_group(label):
            groups.setdefault(group, []).append(place)
    if not groups or not block.pictures:
        return
    present = np.stack([block.present[:, :, places].max(axis=2) for places in groups.values()], axis=2)
    clusters = block.people if options.cluster == "person" else block.pictures
    slopes = normalised_slopes(present, block.values, clusters, options.draws, options.seed, options.least)
    for place, (group, places) in enumerate(groups.items()):
        labels = "any of: " + ", ".join(block.labels[at] for at in places)
        note = "; ".join(filter(None, [labels, _why(slopes, place)]))
        slope = _slope(slopes, place)
        yield slope.row("occupation_group_slope", **_base(block, group), unit=UNIT, note=note)


UNIT = "share of the centre's rate per unit of the value"


def _slope_rows(found: BlockSlopes, place: int, base: Row) -> Iterator[Row]:
    """Yield slope, slope per step, the paper's test, and the logistic and confidence slopes."""
    slopes, label = found.slopes, found.block.labels[place]
    kind = "plain concept" if is_plain(label) else (occupation_group(label) or "")
    note = "; ".join(filter(None, [_why(slopes, place), kind]))
    slope = _slope(slopes, place)
    per_step = slope.map(lambda end: end * found.spacing)
    yield slope.row("slope", **base, p=found.p[place], unit=UNIT, note=note)
    yield per_step.row("slope_per_step", **base, unit="share of the centre's rate per step", note=note)
    if slopes.at_centre[place]:
        passed = "passes" if found.passes(place) else "does not pass"
        note = (
            f"least squares over {len(found.block.values)} steps, as published; {passed} "
            f"p < {PAPER_P} and |slope| > {PAPER_SLOPE}"
        )
        paper = Estimate(slope.value, p=slopes.p_paper[place])
        yield paper.row("paper_slope", **base, unit=UNIT, note=note)
    yield _logistic_row(found, place, base)
    if found.confidence is not None:
        slope = _slope(found.confidence, place)
        yield slope.row("confidence_slope", **base, unit="share of the centre's mean score per unit")


def _logistic_row(found: BlockSlopes, place: int, base: Row) -> Row:
    slope = _slope(found.logistic, place)
    note = f"{int(found.logistic.n[place])} source images change"
    if np.isinf(slope.value):
        note += f"; every one of them towards {'+' if slope.value > 0 else '-'}: no finite slope"
    return slope.row("logistic_slope", **base, unit="log odds per unit of the value", note=note)


def _rate_rows(found: BlockSlopes, place: int, base: Row) -> Iterator[Row]:
    """Yield raw rates of a label absent at the centre, and what the centre itself changed."""
    block = found.block
    if not found.slopes.at_centre[place]:
        for step, value in enumerate(block.values):
            given = block.present[:, step, place]
            about = {
                **base,
                "contrast": f"{base['contrast']} at {value:+.2g}",
                "note": "absent at the centre",
            }
            rate = wilson(float(given.sum()), len(given))
            yield rate.row("rate", **about, unit="share of source images")
    gap = block.unedited[:, place] - block.present[:, block.centre, place]
    known = np.isfinite(gap)
    if known.any():
        counts = {"n": int(known.sum()), "n_missing": int((~known).sum()), "unit": "share of source images"}
        note = "unedited photograph less the centre, which is itself synthetic"
        mean = clustered_mean(gap[known], np.asarray(found.clusters)[known])
        yield mean.row("unedited_gap", **{**base, **counts}, note=note)


def _base(block: Block, contrast: str) -> Row:
    about = {"system": block.system, "group": block.attribute, "contrast": contrast}
    return {**about, "n": len(block.pictures), "n_missing": block.n_missing}


def _why(slopes: Slopes, place: int) -> str:
    """Say why a slope or its interval is not there."""
    count = int(slopes.at_centre[place])
    if not count:
        return "absent at the centre: no normalised slope"
    if np.isnan(slopes.low[place]):
        few = f"at the centre in {count} source images only"
        return f"{few if count < LEAST else 'no source image changes'}: no interval"
    return ""


def _slope(slopes: Slopes | LogisticSlopes, place: int) -> Estimate:
    return Estimate(slopes.slope[place], slopes.low[place], slopes.high[place])
