"""The slopes against phantom classifiers: labels with a planted slope, zero included.

A phantom gives label l to image i at value a with chance q_il (1 + beta_l a), so its normalised slope is beta_l
exactly. The q_il differ between people, and the answers about one person hang together: at each step an image uses,
with some chance, one and the same random number, and half of a person's images share theirs. Nothing of that is known
to the instrument.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from portrayal.audits.counterfactuals.measures.slopes import normalised_slopes, reversal_scores
from portrayal.pictures.series.values import steps
from portrayal.stats.decisions.multiplicity import LEVEL
from portrayal.stats.tests.max_t import flip_jointly
from portrayal.study.calibration import Calibration

STEM = "counterfactuals"
SLOPES = (0.05, -0.1, 0.2, -0.3)  # planted where a label has an effect
NAMED = 0.2  # the slope whose power is the headline figure


@dataclass(frozen=True)
class Setting:
    """One kind of simulated audit."""

    people: int
    pictures: int  # of each person
    labels: int
    rate: tuple[float, float]  # of a label at the centre: drawn between these
    shared: float  # the chance that a step uses the image's own random number
    planted: float  # the share of labels with a slope
    attribute: str = "gender"


SETTINGS = {
    "200 people, 60 labels, all without a slope": Setting(200, 1, 60, (0.02, 0.5), 0.5, 0.0),
    "200 people, 60 labels, a tenth with a slope": Setting(200, 1, 60, (0.02, 0.5), 0.5, 0.1),
    "200 people, steps independent": Setting(200, 1, 60, (0.02, 0.5), 0.0, 0.5),
    "200 people, steps nearly alike": Setting(200, 1, 60, (0.02, 0.5), 0.9, 0.5),
    "40 people": Setting(40, 1, 60, (0.25, 0.6), 0.5, 0.5),
    "200 people, five steps (race)": Setting(200, 1, 60, (0.02, 0.5), 0.5, 0.5, "race"),
    "9 people, two pictures each": Setting(9, 2, 12, (0.4, 0.6), 0.85, 0.5),
    "8 people": Setting(8, 1, 12, (0.4, 0.6), 0.5, 0.5),
    "8 people, all without a slope": Setting(8, 1, 12, (0.4, 0.6), 0.5, 0.0),
}


def calibrate(runs: int = 1000, seed: int = 0) -> Calibration:
    """Run the phantoms.

    The false-alarm figure is the share of audits without a slope in which a label is found, power the share of labels with
    slope 0.2 found among 60 of 200 people; coverage is that of the worst setting.
    """
    rows = [{"condition": name, **run_setting(setting, runs, seed)} for name, setting in SETTINGS.items()]
    return Calibration(
        stem=STEM,
        false_alarm=max(row["false_alarm"] for row in rows),
        power=rows[1]["power"],
        coverage=min(row["coverage"] for row in rows),
        runs=runs,
        seed=seed,
        conditions=rows,
    )


def run_setting(setting: Setting, runs: int, seed: int) -> dict[str, Any]:
    """Simulate audits of one kind and count what the instrument made of them."""
    people = np.repeat(np.arange(setting.people), setting.pictures)
    tally = np.array([_audit(*phantom, people) for phantom in phantoms(setting, runs, seed)], dtype=float)
    alarm, intervals, covered, named, found, bare = tally.T
    return {
        "audits": runs,
        "false_alarm": float(alarm.mean()),
        "coverage": float(covered.sum() / intervals.sum()) if intervals.sum() else None,
        "intervals": int(intervals.sum()),
        "covered": int(covered.sum()),
        "power": float(found.sum() / named.sum()) if named.sum() else None,
        "power_at_slope": NAMED,
        "labels_without_interval": int(bare.sum()),
    }


def phantoms(setting: Setting, runs: int, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield simulated audits: presence (image x step x label), values, planted slopes."""
    rng = np.random.default_rng(seed)
    values = steps(setting.attribute)
    for _ in range(runs):
        slope = np.where(rng.random(setting.labels) < setting.planted, rng.choice(SLOPES, setting.labels), 0.0)
        yield present(setting, values, slope, rng), values, slope


def present(
    setting: Setting,
    values: np.ndarray,
    slope: np.ndarray,
    traits: np.random.Generator,
    rng: np.random.Generator | None = None,
) -> np.ndarray:
    """Return what one phantom answers, the images of each person one after the other.

    `traits` draws how often a label is given to whom; `rng`, where there is one, all other chance.
    """
    rng = rng or traits
    shape = (setting.people, setting.pictures, len(values), setting.labels)
    rate = traits.uniform(*setting.rate, setting.labels)
    chance = traits.beta(2 * rate, 2 * (1 - rate), (setting.people, 1, 1, setting.labels))
    # Above this a chance would pass 1 and bend the line.
    room = 1 / (1 + np.abs(slope) * np.abs(values).max())
    chance = np.minimum(chance, room) * (1 + slope * values[:, None])
    whose = rng.random((*shape[:2], 1, shape[3])) < 0.5
    own = np.where(whose, rng.random((shape[0], 1, 1, shape[3])), rng.random((*shape[:2], 1, shape[3])))
    drawn = np.where(rng.random(shape) < setting.shared, own, rng.random(shape))
    return (drawn < chance).astype(float).reshape(-1, *shape[2:])


def _audit(found: np.ndarray, values: np.ndarray, slope: np.ndarray, people: np.ndarray) -> tuple[float, ...]:
    """Return false alarm, intervals, covered, labels with the named slope, found of those, labels without an interval."""
    slopes = normalised_slopes(found, values, people)
    adjusted = flip_jointly(reversal_scores(found, people)).adjusted
    known = np.isfinite(slopes.low)
    clear = known & ((slopes.low > 0) | (slopes.high < 0))
    discovered = clear & (np.nan_to_num(adjusted, nan=1.0) < LEVEL)
    covered = known & (slopes.low <= slope) & (slope <= slopes.high)
    named = np.isclose(np.abs(slope), NAMED)
    alarm = bool((discovered & (slope == 0)).any())
    return alarm, known.sum(), covered.sum(), named.sum(), (named & discovered).sum(), (~known).sum()
