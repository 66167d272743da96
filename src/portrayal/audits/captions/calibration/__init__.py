"""The captions instrument against phantom captioners: no harm for false alarms, one harm each for power and coverage.

Scenes are generated, phantoms write sentences about them, and the parser reads these, as in an audit. Every run has a seed of its
own, so that the figures do not hang on how many processes share the work.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from portrayal.audits.captions.calibration.headlines import HEADLINES, TEST, Row, found, headline, measure, system_rows
from portrayal.audits.captions.calibration.planted import OPTIONS, RATE, SCENES, planted
from portrayal.audits.captions.calibration.truths import Truth, truth
from portrayal.audits.captions.measures.outcome import Outcome
from portrayal.audits.captions.phantom import PHANTOMS
from portrayal.study.calibration import Calibration, over_seeds
from portrayal.text.words import wordnet

NULL = "nothing, evenly careless"
PLANTED_BY = {phantom.technique: name for name, phantom in PHANTOMS.items() if phantom.technique}


class Run(NamedTuple):
    """One run of one technique: an alarm without a harm, the harm found, its value inside the interval."""

    alarm: bool
    found: bool
    covered: bool


def calibrate(runs: int = 1000, seed: int = 0) -> Calibration:
    """Run every technique on phantoms without a harm, and on the phantom that plants its own.

    The false-alarm figure is that of the techniques that are tests: a count that a perfect reader would not make has no
    level of 5%.
    """
    found = over_seeds(one_run, np.random.SeedSequence(seed).generate_state(runs).tolist(), wordnet.load)
    conditions = [_condition(key, [run[key] for run in found]) for key in HEADLINES]
    tests = [row["false alarms"] for row in conditions if row["found by"] == TEST]
    power, coverage = (float(np.mean([row[name] for row in conditions])) for name in ("power", "coverage"))
    return Calibration("captions", float(np.mean(tests)), power, coverage, runs, seed, conditions)


def one_run(seed: int) -> dict[str, Run]:
    """Return what every technique makes of scenes without a harm, and of scenes with its own."""
    null = planted(NULL, SCENES, RATE, seed)
    runs = {}
    for key in HEADLINES:
        outcome = measure(key, planted(PLANTED_BY[key], SCENES, RATE, seed), OPTIONS)
        row = truth_row(key, outcome)
        covered = row["low"] <= planted_truth(key).value <= row["high"]
        runs[key] = Run(found(key, measure(key, null, OPTIONS)), found(key, outcome), bool(covered))
    return runs


@lru_cache(maxsize=100)
def planted_truth(key: str) -> Truth:
    """Return the value planted for a technique, and its row."""
    return truth(PLANTED_BY[key], RATE)


def truth_row(key: str, outcome: Outcome) -> Row:
    """Return the row whose interval has to hold the planted value."""
    named = planted_truth(key).row
    rows = system_rows(outcome) if "quantity" in named else headline(key, outcome)
    return next(r for r in rows if all(r.get(name) == value for name, value in named.items()))


def _condition(key: str, runs: Sequence[Run]) -> dict[str, Any]:
    alarms, hits, covered = np.array(runs, dtype=float).mean(axis=0).tolist()
    return {
        "technique": key,
        "found by": HEADLINES[key].rule,
        "runs": len(runs),
        "false alarms": alarms,
        "planted": planted_truth(key).value,
        "power": hits,
        "coverage": covered,
    }
