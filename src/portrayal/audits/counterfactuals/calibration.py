"""Calibration of the slopes against taggers with planted ones, zero included; and whole simulated audits."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from portrayal.audits.counterfactuals import world as simulated
from portrayal.audits.counterfactuals.inputs import references
from portrayal.audits.counterfactuals.measures.slopes import normalised_slopes, reversal_scores
from portrayal.audits.counterfactuals.power import power
from portrayal.pictures.series.values import steps
from portrayal.recorder.ledger import Entry
from portrayal.recorder.responses import read_responses
from portrayal.stats.decisions.multiplicity import LEVEL
from portrayal.stats.tests.max_t import flip_jointly
from portrayal.study.audit import Evidence
from portrayal.study.calibration import Calibration, Simulated
from portrayal.study.study import Study
from portrayal.study.study_file import make_study
from portrayal.systems.core.base import Answer

SHAPES = simulated.SHAPES  # of simulated audits, as portrayal.study.calibration asks for them
SYSTEMS = ("first", "second")
SLOPES = (0.05, -0.1, 0.2, -0.3)  # planted where a label has an effect
NAMED = 0.2  # the slope whose power is the headline figure
SETTINGS = {
    "200 people, 60 labels, all without a slope": simulated.Setting(200, 1, 60, (0.02, 0.5), 0.5, 0.0),
    "200 people, 60 labels, a tenth with a slope": simulated.Setting(200, 1, 60, (0.02, 0.5), 0.5, 0.1),
    "200 people, steps independent": simulated.Setting(200, 1, 60, (0.02, 0.5), 0.0, 0.5),
    "200 people, steps nearly alike": simulated.Setting(200, 1, 60, (0.02, 0.5), 0.9, 0.5),
    "40 people": simulated.Setting(40, 1, 60, (0.25, 0.6), 0.5, 0.5),
    "200 people, five steps (race)": simulated.Setting(200, 1, 60, (0.02, 0.5), 0.5, 0.5, "race"),
    "9 people, two pictures each": simulated.Setting(9, 2, 12, (0.4, 0.6), 0.85, 0.5),
    "8 people": simulated.Setting(8, 1, 12, (0.4, 0.6), 0.5, 0.5),
    "8 people, all without a slope": simulated.Setting(8, 1, 12, (0.4, 0.6), 0.5, 0.0),
}


def calibrate(runs: int = 1000, seed: int = 0) -> Calibration:
    """Run the simulated taggers of each setting."""
    rows = [{"condition": name, **run_setting(setting, runs, seed)} for name, setting in SETTINGS.items()]
    alarm, coverage = max(row["false_alarm"] for row in rows), min(row["coverage"] for row in rows)
    return Calibration("counterfactuals", alarm, rows[1]["power"], coverage, runs, seed, rows)


def run_setting(setting: simulated.Setting, runs: int, seed: int) -> dict[str, Any]:
    """Simulate audits of one kind and count what the instrument finds in them."""
    people = np.repeat(np.arange(setting.people), setting.pictures)
    counts = np.array([_audit(*phantom, people) for phantom in phantoms(setting, runs, seed)], dtype=float)
    alarm, intervals, covered, named, discovered, bare = counts.T
    return {
        "audits": runs, "false_alarm": float(alarm.mean()),
        "coverage": float(covered.sum() / intervals.sum()) if intervals.sum() else None,
        "intervals": int(intervals.sum()), "covered": int(covered.sum()),
        "power": float(discovered.sum() / named.sum()) if named.sum() else None,
        "power_at_slope": NAMED, "labels_without_interval": int(bare.sum()),
    }  # fmt: skip


def phantoms(setting: simulated.Setting, runs: int, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield simulated audits: presence (image x step x label), values, planted slopes."""
    rng = np.random.default_rng(seed)
    values = steps(setting.attribute)
    for _ in range(runs):
        slope = np.where(rng.random(setting.labels) < setting.planted, rng.choice(SLOPES, setting.labels), 0.0)
        yield simulated.present(setting, values, slope, rng), values, slope


def _audit(answers: np.ndarray, values: np.ndarray, slope: np.ndarray, people: np.ndarray) -> tuple[float, ...]:
    """Return counts of one audit: false alarms, intervals, covered, named, discovered, without interval."""
    slopes = normalised_slopes(answers, values, people)
    adjusted = flip_jointly(reversal_scores(answers, people)).adjusted
    known = np.isfinite(slopes.low)
    discovered = np.nan_to_num(adjusted, nan=1.0) < LEVEL
    covered = known & (slopes.low <= slope) & (slope <= slopes.high)
    named = np.isclose(np.abs(slope), NAMED)
    alarm = bool((discovered & (slope == 0)).any())
    return alarm, known.sum(), covered.sum(), named.sum(), (named & discovered).sum(), (~known).sum()


def simulate(shape: str, seed: int, effect: float, wave: int = 0) -> Simulated:
    """Return an audit of this shape with a planted slope, per unit of the value."""
    effect = effect * (wave != 1)
    traits, size = np.random.default_rng([seed, 97]), simulated.SHAPES[shape]
    rng = np.random.default_rng([seed, 97, wave]) if wave else traits
    failing = 0.0 if effect else simulated.FAILING
    entries = []
    for system, planted in zip(SYSTEMS, (effect, 0.0), strict=True):
        for name, labels in simulated.draw_labels(size, planted, failing, traits, rng):
            ended = (
                ("failed", None, "no answer") if labels is None else ("done", Answer(json.dumps(labels).encode()), None)
            )
            entries.append(Entry(name, system, name, 0, "tagger", "plain", {}, *ended))
    stimuli = simulated.draw_stimuli(size)
    evidence = Evidence(stimuli, read_responses(entries, stimuli, "tagger"), references(_study()), None, seed)
    row = {"measure": "raw_slope", "system": SYSTEMS[0], "attribute": "gender", "label": size.names[0]}
    return Simulated(_study(), evidence, row if effect else None)


def plans() -> dict[str, tuple[float, float]]:
    """Return by shape a slope along gender and its planned power."""
    stated = {}
    for shape, slope in (("demo", 0.4), ("large", 0.15)):
        size = simulated.SHAPES[shape]
        stated[shape] = (slope, power(size.people, size.pictures, size.labels, slope, simulated.ATTRIBUTES[:1]))
    return stated


@lru_cache
def _study() -> Study:
    systems = [{"name": name, "use": f"replay:{name}.csv"} for name in SYSTEMS]
    about = {"name": "simulated", "audit": "counterfactuals"}
    return make_study({**about, "systems": systems, "counterfactuals": {"series": "none"}})
