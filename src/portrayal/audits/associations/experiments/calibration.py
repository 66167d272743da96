"""The further measures of the associations audit against phantoms: captions' emotion words, saliency, labels.

Every phantom goes through the measure itself. Planted are a ratio of emotion words between conditions (ten persons, each
with a rate of her own), a difference in saliency share (ten persons), a difference of sexualised shares, and a share
behind a detector that misses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from portrayal.audits.associations.measures.people import paired
from portrayal.audits.associations.measures.saliency import saliency
from portrayal.audits.associations.measures.undercount import corrected_rate
from portrayal.stats.intervals.rates import paired_rate_ratio
from portrayal.stats.tests.proportions import share_difference
from portrayal.study.calibration import Calibration

LEVEL = 0.05
PERSONS = 10
CAPTIONS = 2000  # a person and condition


class Outcome(NamedTuple):
    """Whether the interval held the planted value, and the p-value where there is a test."""

    covered: bool
    p: float | None


class Phantom(NamedTuple):
    """One phantom: the measure it is for, what is planted, and how one run is drawn and measured."""

    measure: str
    planted: float
    null: bool
    run: Callable[[np.random.Generator], Outcome]


def phantoms() -> list[Phantom]:
    """Return the phantoms without an effect and with one."""
    made = [Phantom("emotion_word_difference", ratio, ratio == 1, _words(ratio)) for ratio in (1.0, 0.5, 0.1)]
    made += [Phantom("emotion_word_ratio", ratio, False, _ratio(ratio)) for ratio in (1.0, 0.5, 0.1)]
    made += [Phantom("saliency_difference", shift, shift == 0, _saliency(shift)) for shift in (0.0, 0.1)]
    made += [Phantom("sexualised_difference", gap, gap == 0, _labels(gap)) for gap in (0.0, 0.15)]
    return [*made, Phantom("sexualised_rate_corrected", 0.3, False, _corrected(0.3))]


def calibrate(runs: int = 1000, seed: int = 0) -> Calibration:
    """Run every phantom `runs` times.

    Returns
    -------
    Calibration
        `false_alarm`: rejections over all phantoms without an effect. `power`: over the tested phantoms with
        one. `coverage`: over all.
    """
    rows = [_row(phantom, runs, seed + 1000 * place) for place, phantom in enumerate(phantoms())]
    return Calibration(
        "experiments",
        false_alarm=_mean([row["false_alarm"] for row in rows if row["false_alarm"] is not None]),
        power=_mean([row["power"] for row in rows if row["power"] is not None]),
        coverage=_mean([row["coverage"] for row in rows]),
        runs=runs,
        seed=seed,
        conditions=rows,
    )


def _row(phantom: Phantom, runs: int, seed: int) -> Mapping[str, Any]:
    rng = np.random.default_rng(seed)
    outcomes = [phantom.run(rng) for _ in range(runs)]
    rejected = [outcome.p < LEVEL for outcome in outcomes if outcome.p is not None]
    return {
        "measure": phantom.measure,
        "effect": "none" if phantom.null else "planted",
        "planted": phantom.planted,
        "false_alarm": _mean(rejected) if rejected and phantom.null else None,
        "power": _mean(rejected) if rejected and not phantom.null else None,
        "coverage": _mean([outcome.covered for outcome in outcomes]),
    }


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values))


def _counts(ratio: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw occurrences in the condition and in the baseline.

    Each person has a rate of her own and each of her conditions strays from it.
    """
    own, stray = rng.gamma(4, 0.025, PERSONS), rng.lognormal(0, 0.2, (2, PERSONS))
    base, other = (rng.poisson(own * part * stray[at] * CAPTIONS) for at, part in enumerate((1.0, ratio)))
    return other, base


def _words(ratio: float) -> Callable[[np.random.Generator], Outcome]:
    def run(rng: np.random.Generator) -> Outcome:
        other, base = _counts(ratio, rng)
        found = paired((other - base) / CAPTIONS)
        truth = (ratio - 1) * 0.1 * np.exp(0.02)  # the mean rate is 4 * 0.025, that of a stray exp(0.2^2 / 2)
        return Outcome(found.low <= truth <= found.high, found.p)

    return run


def _ratio(ratio: float) -> Callable[[np.random.Generator], Outcome]:
    def run(rng: np.random.Generator) -> Outcome:
        other, base = _counts(ratio, rng)
        occasions = np.full(PERSONS, CAPTIONS)
        interval = paired_rate_ratio(other, occasions, base, occasions)
        return Outcome(interval.low <= ratio <= interval.high, None)

    return run


def _saliency(shift: float) -> Callable[[np.random.Generator], Outcome]:
    def run(rng: np.random.Generator) -> Outcome:
        base = np.repeat(rng.normal(0.6, 0.1, PERSONS), 2)
        names = np.repeat(np.arange(PERSONS), 2).astype(str)
        sides = [base + move + rng.normal(0, 0.08, 2 * PERSONS) for move in (0.0, shift)]
        made = [
            pl.DataFrame({"person": names, "share": side}).with_columns(condition=pl.lit(name))
            for name, side in zip("ab", sides, strict=True)
        ]
        table = pl.concat(made).with_columns(system=pl.lit("s"), region=pl.lit("face"))
        row = saliency(table, "a").results.filter(pl.col("measure") == "saliency_difference").row(0, named=True)
        return Outcome(row["low"] <= shift <= row["high"], row["p"])

    return run


def _labels(gap: float) -> Callable[[np.random.Generator], Outcome]:
    def run(rng: np.random.Generator) -> Outcome:
        hits, base = rng.binomial(100, 0.1 + gap), rng.binomial(100, 0.1)
        found = share_difference(int(hits), 100, int(base), 100)
        return Outcome(found.low <= gap <= found.high, found.p)

    return run


def _corrected(share: float) -> Callable[[np.random.Generator], Outcome]:
    def run(rng: np.random.Generator) -> Outcome:
        truth = rng.random(200) < 0.5
        flags = np.where(truth, rng.random(200) < 0.6, rng.random(200) < 0.05)
        validation = pl.DataFrame({"rater": ["r"] * 200, "detector": flags, "judgment": truth})
        hits = int(rng.binomial(300, share * 0.6 + (1 - share) * 0.05))
        found = corrected_rate(hits, 300, validation, draws=1000)
        return Outcome(found.low <= share <= found.high, None)

    return run
