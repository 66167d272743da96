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
from portrayal.stats.intervals import Interval, clustered_mean, wilson
from portrayal.stats.permutation import sign_flip_columns

STEM = "counterfactuals"
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
        for name, ends in zip(("comes", "goes", "changes"), flips[place], strict=True):
            yield {**base, "measure": f"flip_{name}", **_ends(ends), "unit": "share of source images"}
        yield from _rate_rows(found, place, base)


def block_rows(found: BlockSlopes) -> Iterator[Row]:
    """Yield what is said of the block as a whole."""
    block, base = found.block, _base(found.block, "all labels")
    tested = int((found.slopes.at_centre > 0).sum())
    yield {
        **base, "measure": "labels_tested", "value": float(len(block.labels)), "unit": "labels",
        "note": f"{tested} present at the centre, {int((found.slopes.at_centre >= LEAST).sum())} with an interval; "
        f"the smallest p the reversal test can give with {len(set(found.clusters))} clusters is "
        f"{2.0 ** (1 - len(set(found.clusters))):.2g}",
    }  # fmt: skip
    if block.pictures:
        ends = any_flip(block.present, found.clusters)
        yield {**base, "measure": "any_flip", **_ends(ends), "unit": "share of source images"}
    asked = len(block.values) * (len(block.pictures) + block.n_missing)
    yield {
        **base,
        "measure": "empty_answers",
        **_ends(wilson(block.empty, asked)),
        "n": asked,
        "unit": "share of answers",
    }


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
        note = "any of: " + ", ".join(block.labels[at] for at in places)
        ends = _interval(slopes, place)
        yield {
            **_base(block, group), "measure": "occupation_group_slope", **ends, "unit": UNIT,
            "note": "; ".join(filter(None, [note, _why(slopes, place)])),
        }  # fmt: skip


UNIT = "share of the centre's rate per unit of the value"


def _slope_rows(found: BlockSlopes, place: int, base: Row) -> Iterator[Row]:
    """Yield slope, slope per step, the paper's test, and the logistic and confidence slopes."""
    slopes, label = found.slopes, found.block.labels[place]
    kind = "plain concept" if is_plain(label) else (occupation_group(label) or "")
    note = "; ".join(filter(None, [_why(slopes, place), kind]))
    ends = _interval(slopes, place)
    yield {**base, "measure": "slope", **ends, "p": float(found.p[place]), "unit": UNIT, "note": note}
    scaled = {end: None if value is None else value * found.spacing for end, value in ends.items()}
    unit = "share of the centre's rate per step"
    yield {**base, "measure": "slope_per_step", **scaled, "unit": unit, "note": note}
    if slopes.at_centre[place]:
        passed = "passes" if found.passes(place) else "does not pass"
        yield {
            **base, "measure": "paper_slope", "value": ends["value"], "p": float(slopes.p_paper[place]), "unit": UNIT,
            "note": f"least squares over {len(found.block.values)} steps, as published; {passed} "
            f"p < {PAPER_P} and |slope| > {PAPER_SLOPE}",
        }  # fmt: skip
    yield _logistic_row(found, place, base)
    if found.confidence is not None:
        unit = "share of the centre's mean score per unit"
        yield {**base, "measure": "confidence_slope", **_interval(found.confidence, place), "unit": unit}


def _logistic_row(found: BlockSlopes, place: int, base: Row) -> Row:
    slope = found.logistic.slope[place]
    note = f"{int(found.logistic.n[place])} source images change"
    if np.isinf(slope):
        note += f"; every one of them towards {'+' if slope > 0 else '-'}: no finite slope"
    ends = Interval(slope, found.logistic.low[place], found.logistic.high[place])
    return {
        **base,
        "measure": "logistic_slope",
        **_ends(ends),
        "unit": "log odds per unit of the value",
        "note": note,
    }


def _rate_rows(found: BlockSlopes, place: int, base: Row) -> Iterator[Row]:
    """Yield raw rates of a label absent at the centre, and what the centre itself changed."""
    block = found.block
    if not found.slopes.at_centre[place]:
        for step, value in enumerate(block.values):
            given = block.present[:, step, place]
            ends = wilson(float(given.sum()), len(given))
            yield {
                **base, "measure": "rate", "contrast": f"{base['contrast']} at {value:+.2g}", **_ends(ends),
                "unit": "share of source images", "note": "absent at the centre",
            }  # fmt: skip
    gap = block.unedited[:, place] - block.present[:, block.centre, place]
    known = np.isfinite(gap)
    if known.any():
        ends = clustered_mean(gap[known], np.asarray(found.clusters)[known])
        yield {
            **base, "measure": "unedited_gap", **_ends(ends), "n": int(known.sum()),
            "n_missing": int((~known).sum()), "unit": "share of source images",
            "note": "unedited photograph less the centre, which is itself synthetic",
        }  # fmt: skip


def _base(block: Block, contrast: str) -> Row:
    return {
        "audit": STEM, "system": block.system, "group": block.attribute, "contrast": contrast,
        "n": len(block.pictures), "n_missing": block.n_missing,
    }  # fmt: skip


def _why(slopes: Slopes, place: int) -> str:
    """Say why a slope or its interval is not there."""
    count = int(slopes.at_centre[place])
    if not count:
        return "absent at the centre: no normalised slope"
    if np.isnan(slopes.low[place]):
        few = f"at the centre in {count} source images only"
        return f"{few if count < LEAST else 'no source image changes'}: no interval"
    return ""


def _interval(slopes: Slopes, place: int) -> dict[str, float | None]:
    return _ends(Interval(slopes.slope[place], slopes.low[place], slopes.high[place]))


def _ends(ends: Interval) -> dict[str, float | None]:
    """Return value, low and high with null for what is not a number."""
    names = zip(("value", "low", "high"), ends, strict=True)
    return {name: float(end) if np.isfinite(end) else None for name, end in names}
