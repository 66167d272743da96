"""The embedding association test against phantom encoders with no association and with a planted one.

Every run draws new targets from the phantom, embeds them beside fixed attributes and goes through association, test
and interval as `eat` does. Planted is the d of the population the targets come from (the interval's estimand).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from portrayal.audits.associations.measures.comparison import by_person
from portrayal.audits.associations.measures.effect import association
from portrayal.audits.associations.measures.interval import effect_interval
from portrayal.audits.associations.phantom import SPREAD, TILT, within_difference
from portrayal.stats.tests.permutation import EXACT_UP_TO, two_sample
from portrayal.study.calibration import Calibration

WIDTH = 16
ATTRIBUTES = 8
# A false alarm is a rare event: five times the runs put its error at 0.3% where there are 1,000.
MORE_NULL_RUNS = 5
SAMPLES = 1999  # permutations where a test must be sampled
LEVEL = 0.05
SIZES = (8, 12, 20, 25)
EFFECTS = (0.0, 0.9, 1.7)
LIKENESS = 0.5  # correlation of a person's two pictures
TAKES = 2  # pictures of a person on a side, in SOBEM's design
RESPONSE = 1.0  # deviation of a person's own difference between the sides, 0 on average, in deviations of a picture

Noise = Callable[[np.random.Generator, int], np.ndarray]
NOISE: dict[str, Noise] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "heavy-tailed (t, 5 df)": lambda rng, n: rng.standard_t(5, size=n) / np.sqrt(5 / 3),
}


class Condition(NamedTuple):
    """One phantom: its design, sizes and planted d, and what is looked at."""

    design: (
        str  # "independent", "paired", or "SOBEM": ten people twice on both sides, each with a difference of her own
    )
    associations: str  # a key of NOISE
    n_x: int
    n_y: int
    d: float
    test: bool = True


def conditions() -> list[Condition]:
    """Return all phantoms: the grid of sizes and effects, unequal sides, paired people, heavy tails."""
    # 20 + 20 are counted exactly in a tenth of a second: too long for 1,000 runs, and no different from 12 + 12.
    grid = [Condition("independent", "normal", n, n, d, test=n != 20) for d in EFFECTS for n in SIZES]
    heavy = [Condition("independent", "heavy-tailed (t, 5 df)", n, n, d) for d in EFFECTS for n in (12, 25)]
    paired = [Condition("paired", "normal", 10, 10, d) for d in EFFECTS]
    sobem = [Condition("SOBEM", noise, 20, 20, 0.0) for noise in NOISE]
    return [*grid, Condition("independent", "normal", 6, 14, 0.0), *paired, *sobem, *heavy]


def calibrate(runs: int = 1000, seed: int = 0) -> Calibration:
    """Run every phantom `runs` times.

    Returns
    -------
    Calibration
        `false_alarm` and `coverage`: over all phantoms, none left out. `power`: d = 0.9 at 12 a side.
    """
    rows = [_row(condition, runs, seed + 1000 * place) for place, condition in enumerate(conditions())]
    null = [row["false_alarm"] for row in rows if row["false_alarm"] is not None]
    power = [
        row["power"]
        for row in rows
        if (row["design"], row["associations"], row["n_x"], row["d"]) == ("independent", "normal", 12, 0.9)
    ]
    held = [row["coverage"] for row in rows]
    return Calibration(
        stem="associations",
        false_alarm=float(np.mean(null)),
        power=float(power[0]),
        coverage=float(np.mean(held)),
        runs=runs,
        seed=seed,
        conditions=rows,
    )


def _row(condition: Condition, runs: int, seed: int) -> dict[str, Any]:
    """Return the shares of one phantom; tests and intervals are drawn apart."""
    drawn, tested = np.random.default_rng([seed, 0]), np.random.default_rng([seed, 1])
    tests = runs * (MORE_NULL_RUNS if condition.d == 0 else 1) if condition.test else 0
    rejected = [_rejects(condition, tested, run) for run in range(tests)]
    intervals = np.array([_covers(condition, drawn, run) for run in range(runs)], dtype=float)
    return {
        "design": condition.design,
        "associations": condition.associations,
        "n_x": condition.n_x,
        "n_y": condition.n_y,
        "d": condition.d,
        "tests": tests,
        "false_alarm": float(np.mean(rejected)) if tests and condition.d == 0 else None,
        "power": float(np.mean(rejected)) if tests and condition.d else None,
        "intervals": runs,
        "coverage": float(intervals[:, 0].mean()),
        "width": float(intervals[:, 1].mean()),
    }


def _rejects(condition: Condition, rng: np.random.Generator, run: int) -> bool:
    x, y = _associations(condition, rng)
    return _p(x, y, _people(condition), run) < LEVEL


def _covers(condition: Condition, rng: np.random.Generator, run: int) -> tuple[float, float]:
    """Return whether the interval of one run held the planted d, and its width."""
    x, y = _associations(condition, rng)
    ends = effect_interval(x, y, clusters=_people(condition), seed=run)
    return ends.low <= condition.d <= ends.high, ends.high - ends.low


def _people(condition: Condition) -> np.ndarray | None:
    if condition.design == "independent":
        return None
    people = condition.n_x // (TAKES if condition.design == "SOBEM" else 1)
    return np.tile(np.repeat(np.arange(people), condition.n_x // people), 2)


def _p(x: np.ndarray, y: np.ndarray, people: np.ndarray | None, run: int) -> float:
    if people is not None:
        return by_person(x, y, people, alternative="greater").test.p
    samples = SAMPLES if len(x) + len(y) > EXACT_UP_TO else None
    return two_sample(x, y, permutations=samples, seed=run).p


def _associations(condition: Condition, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Embed new targets and new attributes as the phantom encoder does, and measure their associations."""
    x, y = _components(condition, rng)
    a, b = _attributes(0, rng), _attributes(1, rng)
    return association(_targets(x, rng), a, b), association(_targets(y, rng), a, b)


def _components(condition: Condition, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    noise = NOISE[condition.associations]
    x, y = noise(rng, condition.n_x), noise(rng, condition.n_y)
    if condition.design == "paired":  # the same person gives both a common part
        common = rng.normal(size=condition.n_x)
        x, y = (np.sqrt(LIKENESS) * common + np.sqrt(1 - LIKENESS) * side for side in (x, y))
    if condition.design == "SOBEM":
        own = np.repeat(rng.normal(size=(2, condition.n_x // TAKES)), TAKES, axis=1)
        x, y = x + own[0] + RESPONSE * own[1] / 2, y + own[0] - RESPONSE * own[1] / 2
    shift = within_difference(condition.d, condition.n_x, condition.n_y) / 2
    return SPREAD * (x + shift), SPREAD * (y - shift)


def _targets(components: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    angle = rng.uniform(0, 2 * np.pi, size=len(components))
    rest = np.sqrt(1 - components**2 / 2)
    vectors = np.zeros((len(components), WIDTH))
    vectors[:, :4] = np.stack([components / 2, -components / 2, rest * np.cos(angle), rest * np.sin(angle)], axis=1)
    return vectors


def _attributes(axis: int, rng: np.random.Generator) -> np.ndarray:
    noise = rng.normal(size=(ATTRIBUTES, WIDTH - 4))
    vectors = np.zeros((ATTRIBUTES, WIDTH))
    vectors[:, axis] = 1.0
    vectors[:, 4:] = TILT * noise / np.linalg.norm(noise, axis=1, keepdims=True)
    return vectors
