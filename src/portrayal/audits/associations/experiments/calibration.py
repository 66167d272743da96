"""Calibration of the experiments' measures, and whole simulated audits of two systems.

Planted are a ratio of emotion words (ten persons, each with a rate of her own), a difference in saliency share, a difference of
sexualised shares, and a share behind a detector that misses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from portrayal.audits.associations.experiments.world import (
    EMOTIONS,
    EXPERIMENTS,
    LABELS,
    OCCUPATIONS,
    PEOPLE,
    PORTRAYED,
    REGIONS,
    SHAPES,
)
from portrayal.audits.associations.measures.people import paired
from portrayal.audits.associations.measures.saliency import saliency
from portrayal.audits.associations.measures.undercount import corrected_rate
from portrayal.stats.decisions.multiplicity import LEVEL
from portrayal.stats.estimate import Estimate
from portrayal.stats.intervals.intervals import paired_rate_ratio
from portrayal.stats.power.power import POWER, smallest_of_people, smallest_share_difference
from portrayal.stats.tests.proportions import share_difference
from portrayal.study.audit import Evidence
from portrayal.study.calibration import Calibration, Simulated
from portrayal.study.study import Study
from portrayal.study.study_file import make_study

__all__ = ["SHAPES", "calibrate", "plans", "simulate"]
SYSTEMS = ("first", "second")
PERSONS = 10
CAPTIONS = 2000  # a person and condition


def simulate(shape: str, seed: int, effect: float = 0.0) -> Simulated:
    """Return an audit of two systems; `effect` is that of the first."""
    made = EXPERIMENTS[shape.split()[0]]
    study, stimuli = _study_of(shape)
    rng = np.random.default_rng(seed)
    parts = [
        made.answers(SHAPES[shape], stimuli, effect * (not place), rng).select(pl.lit(system).alias("system"), pl.all())
        for place, system in enumerate(SYSTEMS)
    ]
    planted = {"system": SYSTEMS[0], **made.planted} if effect else None
    return Simulated(study, Evidence(stimuli, pl.concat(parts), {}, None, seed), planted)


@cache
def _study_of(shape: str) -> tuple[Study, pl.DataFrame]:
    """Return the study and its stimuli; the same for every simulated audit of a shape."""
    name = shape.split()[0]
    made = EXPERIMENTS[name]
    systems = [{"name": system, "use": made.use} for system in SYSTEMS]
    data = {"name": shape, "audit": f"associations/{name}", "systems": systems, "associations": made.settings}
    if name == "depictions":
        chosen = SHAPES[shape]
        data |= {"associations": {"occupations": OCCUPATIONS[: chosen.groups]}, "repeats": chosen.images}
    study = make_study(data)
    return study, made.stimuli(SHAPES[shape], study)


def plans() -> dict[str, tuple[float, float]]:
    """Return by shape the smallest effect that `portrayal plan` says is found, and its power."""
    people = PEOPLE["demo"].people
    labelled, (jobs, images, *_) = LABELS["demo"].images, PORTRAYED["demo"]
    effects = {
        "emotion_words": smallest_of_people(people, len(EMOTIONS)),
        "saliency": smallest_of_people(people, len(REGIONS), parts=len(REGIONS)),
        "labels": smallest_share_difference(0.1, labelled, labelled, LEVEL, fisher=True),
        "depictions": smallest_share_difference(0.5, images, (jobs - 1) * images, LEVEL / jobs, fisher=True),
    }
    return {f"{name} demo": (effect, POWER) for name, effect in effects.items()}


class Phantom(NamedTuple):
    """Measure, planted value, whether that is none, and how one run is drawn and measured."""

    measure: str
    planted: float
    null: bool
    run: Callable[[float, np.random.Generator], tuple[bool, float | None]]  # was it covered, and p


def calibrate(runs: int = 1000, seed: int = 0) -> Calibration:
    """Run every phantom `runs` times; `power` is over the tested phantoms with an effect."""
    rows = [_row(phantom, runs, seed + 1000 * place) for place, phantom in enumerate(PHANTOMS)]
    alarm, power, coverage = (
        _mean([row[name] for row in rows if row[name] is not None]) for name in ("false_alarm", "power", "coverage")
    )
    return Calibration("experiments", alarm, power, coverage, runs, seed, rows)


def _row(phantom: Phantom, runs: int, seed: int) -> Mapping[str, Any]:
    rng = np.random.default_rng(seed)
    outcomes = [phantom.run(phantom.planted, rng) for _ in range(runs)]
    rejected = [p < LEVEL for _, p in outcomes if p is not None]
    return {
        "measure": phantom.measure,
        "effect": "none" if phantom.null else "planted",
        "planted": phantom.planted,
        "false_alarm": _mean(rejected) if rejected and phantom.null else None,
        "power": _mean(rejected) if rejected and not phantom.null else None,
        "coverage": _mean([covered for covered, _ in outcomes]),
    }


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values))


def _covers(estimate: Estimate, truth: float) -> bool:
    return estimate.low <= truth <= estimate.high


def _counts(ratio: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw occurrences in condition and baseline: persons have rates, and their conditions stray from them."""
    own, stray = rng.gamma(4, 0.025, PERSONS), rng.lognormal(0, 0.2, (2, PERSONS))
    base, other = (rng.poisson(own * part * stray[at] * CAPTIONS) for at, part in enumerate((1.0, ratio)))
    return other, base


def _words(ratio: float, rng: np.random.Generator) -> tuple[bool, float | None]:
    other, base = _counts(ratio, rng)
    estimate = paired((other - base) / CAPTIONS)
    # The mean rate is 4 * 0.025, that of a stray exp(0.2^2 / 2).
    return _covers(estimate, (ratio - 1) * 0.1 * np.exp(0.02)), estimate.p


def _ratio(ratio: float, rng: np.random.Generator) -> tuple[bool, float | None]:
    other, base = _counts(ratio, rng)
    occasions = np.full(PERSONS, CAPTIONS)
    return _covers(paired_rate_ratio(other, occasions, base, occasions), ratio), None


def _saliency(shift: float, rng: np.random.Generator) -> tuple[bool, float | None]:
    base = np.repeat(rng.normal(0.6, 0.1, PERSONS), 2)
    names = np.repeat(np.arange(PERSONS), 2).astype(str)
    sides = [base + move + rng.normal(0, 0.08, 2 * PERSONS) for move in (0.0, shift)]
    made = [
        pl.DataFrame({"person": names, "share": side}).with_columns(condition=pl.lit(name))
        for name, side in zip("ab", sides, strict=True)
    ]
    table = pl.concat(made).with_columns(system=pl.lit("s"), region=pl.lit("face"))
    row = saliency(table, "a").results.filter(pl.col("measure") == "saliency_difference").row(0, named=True)
    return row["low"] <= shift <= row["high"], row["p"]


def _labels(gap: float, rng: np.random.Generator) -> tuple[bool, float | None]:
    hits, base = rng.binomial(100, 0.1 + gap), rng.binomial(100, 0.1)
    estimate = share_difference(int(hits), 100, int(base), 100)
    return _covers(estimate, gap), estimate.p


def _corrected(share: float, rng: np.random.Generator) -> tuple[bool, float | None]:
    truth = rng.random(200) < 0.5
    flags = np.where(truth, rng.random(200) < 0.6, rng.random(200) < 0.05)
    validation = pl.DataFrame({"rater": ["r"] * 200, "detector": flags, "judgment": truth})
    hits = int(rng.binomial(300, share * 0.6 + (1 - share) * 0.05))
    return _covers(corrected_rate(hits, 300, validation, draws=1000), share), None


PHANTOMS = [
    *(Phantom("emotion_word_difference", ratio, ratio == 1, _words) for ratio in (1.0, 0.5, 0.1)),
    *(Phantom("emotion_word_ratio", ratio, False, _ratio) for ratio in (1.0, 0.5, 0.1)),
    *(Phantom("saliency_difference", shift, shift == 0, _saliency) for shift in (0.0, 0.1)),
    *(Phantom("sexualised_difference", gap, gap == 0, _labels) for gap in (0.0, 0.15)),
    Phantom("sexualised_rate_corrected", 0.3, False, _corrected),
]
