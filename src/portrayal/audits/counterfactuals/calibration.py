"""The slopes against phantom classifiers: labels with a planted slope, zero included.

A phantom gives label l to image i at value a with chance q_il (1 + beta_l a), so its normalised slope is beta_l
exactly. The q_il differ between images, and the answers about one image hang together: at each step an image uses,
with some chance, one and the same random number. Nothing of that is known to the instrument.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from portrayal.audits.counterfactuals.measures.slopes import (
    LEAST,
    cluster_sums,
    ratio_interval,
    reversal_scores,
)
from portrayal.runs.calibration import Calibration
from portrayal.stats.multiplicity import adjust
from portrayal.stats.permutation import sign_flip_columns
from portrayal.vision.faces.attributes import steps

STEM = "counterfactuals"
DRAWS = 499  # of the interval, in calibration only: ends by 1,999 draws differ by less than their own noise
SLOPES = (0.05, -0.1, 0.2, -0.3)  # planted where a label has an effect
NAMED = 0.2  # the slope whose power is the headline figure


@dataclass(frozen=True)
class Setting:
    """One kind of simulated audit."""

    pictures: int
    labels: int
    rate: tuple[float, float]  # of a label at the centre: drawn between these
    shared: float  # the chance that a step uses the image's own random number
    planted: float  # the share of labels with a slope
    attribute: str = "gender"


SETTINGS = {
    "200 images, 200 labels, all without a slope": Setting(200, 200, (0.02, 0.5), 0.5, 0.0),
    "200 images, 200 labels, a tenth with a slope": Setting(200, 200, (0.02, 0.5), 0.5, 0.1),
    "200 images, steps independent": Setting(200, 200, (0.02, 0.5), 0.0, 0.5),
    "200 images, steps nearly alike": Setting(200, 200, (0.02, 0.5), 0.9, 0.5),
    "40 images": Setting(40, 60, (0.25, 0.6), 0.5, 0.5),
    "200 images, five steps (race)": Setting(200, 200, (0.02, 0.5), 0.5, 0.5, "race"),
}


def calibrate(runs: int = 1000, seed: int = 0) -> Calibration:
    """Run the phantoms.

    The false-alarm figure is the false discovery rate of Benjamini-Hochberg at 5% over audits of 200 labels, the
    larger of the two first settings; power is the share of labels with slope 0.2 found there after correction;
    coverage is over all labels with an interval in all settings.
    """
    rows = [{"condition": name, **run_setting(setting, runs, seed)} for name, setting in SETTINGS.items()]
    covered = sum(row["covered"] for row in rows)
    intervals = sum(row["intervals"] for row in rows)
    return Calibration(
        stem=STEM,
        false_alarm=max(row["false_discovery_rate"] for row in rows[:2]),
        power=rows[1]["power"],
        coverage=covered / intervals,
        runs=runs,
        seed=seed,
        conditions=rows,
    )


def run_setting(setting: Setting, runs: int, seed: int) -> dict[str, Any]:
    """Simulate audits of one kind and count what the instrument made of them."""
    tally = np.array(
        [_audit(*phantom, run) for run, phantom in enumerate(phantoms(setting, runs, seed))], dtype=float
    )
    false_share, intervals, covered, named, found, rare = tally.T
    return {
        "audits": runs,
        "false_discovery_rate": float(false_share.mean()),
        "coverage": float(covered.sum() / intervals.sum()) if intervals.sum() else None,
        "intervals": int(intervals.sum()),
        "covered": int(covered.sum()),
        "power": float(found.sum() / named.sum()) if named.sum() else None,
        "power_at_slope": NAMED,
        "rare_labels_without_interval": int(rare.sum()),
    }


def phantoms(setting: Setting, runs: int, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield simulated audits: presence (image x step x label), values, planted slopes."""
    rng = np.random.default_rng(seed)
    values = steps(setting.attribute)
    for _ in range(runs):
        slope = np.where(
            rng.random(setting.labels) < setting.planted, rng.choice(SLOPES, setting.labels), 0.0
        )
        yield present(setting, values, slope, rng), values, slope


def present(setting: Setting, values: np.ndarray, slope: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return what one phantom answers."""
    shape = (setting.pictures, len(values), setting.labels)
    rate = rng.uniform(*setting.rate, setting.labels)
    chance = rng.beta(2 * rate, 2 * (1 - rate), (setting.pictures, setting.labels))
    room = 1 / (
        1 + np.abs(slope) * np.abs(values).max()
    )  # above this a chance would pass 1 and bend the line
    chance = np.minimum(chance, room)[:, None] * (1 + slope * values[:, None])
    own = rng.random((setting.pictures, 1, setting.labels))
    drawn = np.where(rng.random(shape) < setting.shared, own, rng.random(shape))
    return (drawn < chance).astype(float)


def _audit(found: np.ndarray, values: np.ndarray, slope: np.ndarray, run: int) -> tuple[float, ...]:
    """Return false share, intervals, covered, labels with the named slope, found of those, rare labels."""
    clusters = np.arange(len(found))
    discovered = adjust(sign_flip_columns(reversal_scores(found, clusters)), "benjamini-hochberg") <= 0.05
    false_share = (discovered & (slope == 0)).sum() / max(discovered.sum(), 1)
    centre = (found[:, int(np.flatnonzero(values == 0)[0])] > 0).sum(axis=0)
    common = centre >= LEAST
    low, high = ratio_interval(*cluster_sums(found[:, :, common], values, clusters), DRAWS, run)
    covered = (low <= slope[common]) & (slope[common] <= high)
    named = np.isclose(np.abs(slope), NAMED)
    return false_share, common.sum(), covered.sum(), named.sum(), (named & discovered).sum(), (~common).sum()
