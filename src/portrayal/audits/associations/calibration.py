"""Calibration of the embedding association test, and whole simulated audits of two encoders.

Each run draws new targets and attributes; planted is the d of the population the targets come from (the interval's estimand).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from portrayal.audits.associations.measures.comparison import by_person
from portrayal.audits.associations.measures.effect import association
from portrayal.audits.associations.measures.interval import effect_interval
from portrayal.audits.associations.power import family_sizes, smallest_d
from portrayal.audits.associations.stimuli import declared_tests, make_stimuli
from portrayal.audits.associations.world import (
    SHAPES,
    SPREAD,
    WIDTH,
    attribute_vectors,
    draw_test,
    target_vectors,
    within_difference,
)
from portrayal.stats.decisions.multiplicity import LEVEL
from portrayal.stats.power.power import POWER
from portrayal.stats.tests.permutation import EXACT_UP_TO, two_sample
from portrayal.study.audit import Evidence
from portrayal.study.calibration import Calibration, Simulated
from portrayal.study.study import Study
from portrayal.study.study_file import make_study
from portrayal.tables import RESPONSES

ATTRIBUTES = 8
# A false alarm is a rare event: five times the runs put its error at 0.3% where there are 1,000.
MORE_NULL_RUNS = 5
SAMPLES = 1999  # permutations where a test must be sampled
SIZES = (8, 12, 20, 25)
EFFECTS = (0.0, 0.9, 1.7)
LIKENESS = 0.5  # correlation of a person's two pictures
TAKES = 2  # pictures of a person on a side, in SOBEM's design
RESPONSE = 1.0  # deviation of a person's own difference between the sides, 0 on average, in deviations of a picture
NOISE: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "heavy-tailed (t, 5 df)": lambda rng, n: rng.standard_t(5, size=n) / np.sqrt(5 / 3),
}
SYSTEMS = ("first", "second")


class Condition(NamedTuple):
    """One phantom: its design, sizes and planted d, and whether its test is looked at."""

    design: str  # independent, paired, or SOBEM: ten people twice on both sides, each with a difference of her own
    associations: str  # a key of NOISE
    n_x: int
    n_y: int
    d: float
    test: bool = True

    def people(self) -> np.ndarray | None:
        """Return the person of each target, x first."""
        if self.design == "independent":
            return None
        people = self.n_x // (TAKES if self.design == "SOBEM" else 1)
        return np.tile(np.repeat(np.arange(people), self.n_x // people), 2)

    def draw(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Embed new targets and attributes, and return the associations of both sides."""
        noise = NOISE[self.associations]
        x, y = noise(rng, self.n_x), noise(rng, self.n_y)
        if self.design == "paired":  # the same person gives both a common part
            common = rng.normal(size=self.n_x)
            x, y = (np.sqrt(LIKENESS) * common + np.sqrt(1 - LIKENESS) * side for side in (x, y))
        if self.design == "SOBEM":
            own = np.repeat(rng.normal(size=(2, self.n_x // TAKES)), TAKES, axis=1)
            x, y = x + own[0] + RESPONSE * own[1] / 2, y + own[0] - RESPONSE * own[1] / 2
        shift = within_difference(self.d, self.n_x, self.n_y) / 2
        a, b = (attribute_vectors(axis, ATTRIBUTES, WIDTH, rng) for axis in (0, 1))
        x, y = (association(target_vectors(SPREAD * own, WIDTH, rng), a, b) for own in (x + shift, y - shift))
        return x, y


def conditions() -> list[Condition]:
    """Return all phantoms: the grid of sizes and effects, unequal sides, paired people, heavy tails."""
    # 20 + 20 are counted exactly in a tenth of a second: too long for 1,000 runs, and no different from 12 + 12.
    grid = [Condition("independent", "normal", n, n, d, test=n != 20) for d in EFFECTS for n in SIZES]
    heavy = [Condition("independent", "heavy-tailed (t, 5 df)", n, n, d) for d in EFFECTS for n in (12, 25)]
    paired = [Condition("paired", "normal", 10, 10, d) for d in EFFECTS]
    sobem = [Condition("SOBEM", noise, 20, 20, 0.0) for noise in NOISE]
    return [*grid, Condition("independent", "normal", 6, 14, 0.0), *paired, *sobem, *heavy]


def calibrate(runs: int = 1000, seed: int = 0) -> Calibration:
    """Run every phantom; `power` is that of d = 0.9 at 12 a side."""
    rows = [_row(condition, runs, seed + 1000 * place) for place, condition in enumerate(conditions())]
    alarms = [row["false_alarm"] for row in rows if row["false_alarm"] is not None]
    typical = {"design": "independent", "associations": "normal", "n_x": 12, "d": 0.9}
    power = next(row["power"] for row in rows if typical.items() <= row.items())
    coverage = float(np.mean([row["coverage"] for row in rows]))
    return Calibration("associations", float(np.mean(alarms)), power, coverage, runs, seed, rows)


def _row(condition: Condition, runs: int, seed: int) -> dict[str, Any]:
    """Return the shares of one phantom; tests and intervals are drawn apart."""
    drawn, tested = np.random.default_rng([seed, 0]), np.random.default_rng([seed, 1])
    tests = runs * (MORE_NULL_RUNS if condition.d == 0 else 1) if condition.test else 0
    rejected = [_p(condition, tested, run) < LEVEL for run in range(tests)]
    share = float(np.mean(rejected)) if tests else None
    intervals = np.array([_covers(condition, drawn, run) for run in range(runs)], dtype=float)
    return {
        **{name: getattr(condition, name) for name in ("design", "associations", "n_x", "n_y", "d")},
        "tests": tests,
        "false_alarm": share if condition.d == 0 else None,
        "power": share if condition.d else None,
        "intervals": runs,
        "coverage": float(intervals[:, 0].mean()),
        "width": float(intervals[:, 1].mean()),
    }


def _p(condition: Condition, rng: np.random.Generator, run: int) -> float:
    (x, y), people = condition.draw(rng), condition.people()
    if people is not None:
        return by_person(x, y, people, alternative="greater").test.p
    samples = SAMPLES if len(x) + len(y) > EXACT_UP_TO else None
    return two_sample(x, y, permutations=samples, seed=run).p


def _covers(condition: Condition, rng: np.random.Generator, run: int) -> tuple[float, float]:
    """Return whether the interval of one run held the planted d, and its width."""
    ends = effect_interval(*condition.draw(rng), clusters=condition.people(), seed=run)
    return ends.low <= condition.d <= ends.high, ends.high - ends.low


def simulate(shape: str, seed: int, effect: float = 0.0, wave: int = 0) -> Simulated:
    """Return an audit of two encoders; `effect` is the first one's first d.

    `wave` 1, 2, ... are vectors of the same stimuli by other chance, the effect from the second on; 0 is an audit of its own.
    """
    effect = effect * (wave != 1)
    chosen = SHAPES[shape] if not effect else SHAPES[shape]._replace(person=0.0, response=0.0)
    study, stimuli, tests = _study_of(shape)
    traits = np.random.default_rng(seed)
    rng = np.random.default_rng([seed, wave]) if wave else traits
    parts = []
    for place, system in enumerate(SYSTEMS):
        vectors: dict[str, np.ndarray] = {}  # a stimulus of several tests keeps the vector of the first
        for number, test in enumerate(tests):
            for content, vector in draw_test(test, chosen, effect * (not place and not number), traits, rng):
                vectors.setdefault(content, vector)
        embeddings = [vectors[name].tolist() for name in stimuli["stimulus"]]
        about = {"system": system, "stimulus": stimuli["stimulus"], "repeat": 0, "status": "answered"}
        schema = {**RESPONSES, "embedding": pl.List(pl.Float64)}
        parts.append(pl.DataFrame({**about, "embedding": embeddings}, schema=schema))
    planted = {"system": SYSTEMS[0], "test": tests[0]["name"]} if effect else None
    return Simulated(study, Evidence(stimuli, pl.concat(parts), {"tests": tests}, None, seed), planted)


def plans() -> dict[str, tuple[float, float]]:
    """Return by shape the smallest d that `portrayal plan` says is found, and its power."""
    smallest = {}
    for shape in ("small", "clustered"):
        study = _study_of(shape)[0]
        tests = declared_tests(study)
        d = smallest_d(tests[0], study.settings.alternative, family_sizes(study, tests)[0])
        smallest[shape] = (d, POWER)
    return smallest


@cache
def _study_of(shape: str) -> tuple[Study, pl.DataFrame, list[Mapping[str, Any]]]:
    """Return study, stimuli and tests, which all simulated audits of a shape share."""
    systems = [{"name": name, "use": "phantom:associations"} for name in SYSTEMS]
    study = make_study(
        {"name": shape, "audit": "associations", "systems": systems, "associations": SHAPES[shape].settings}
    )
    return study, make_stimuli(study), [asdict(test) for test in declared_tests(study)]
