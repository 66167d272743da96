"""The captions instrument against phantom captioners: no harm for false alarms, one harm each for power and coverage.

Scenes are generated and their tuples handed over directly; that the parser reads the same tuples from the phantoms'
sentences is tested apart. The techniques that refit or reshuffle hundreds of times run a tenth as often.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from portrayal.calibration import Calibration
from portrayal.calibration.planted import TESTED, found, headline, planted
from portrayal.measures.captions.options import Options
from portrayal.measures.captions.techniques import TECHNIQUES
from portrayal.systems.captioners.phantoms import PHANTOMS

SCENES = 300
RATE = 0.5
OPTIONS = Options(splits=20, bootstraps=60, permutations=199, object_types=10)
HEAVY = (
    "stereotyping: objects correctly mentioned",
    "stereotyping: differing tuples",
    "stereotyping: differing tuples across stages",
)
# What each phantom plants at this rate, in the unit of its technique's headline row; others have no closed form.
TRUTH: Mapping[str, tuple[str, float]] = {
    "words included wrongly": ("", RATE),
    "demeaning words": ("", RATE),
    "people not mentioned": ("darker minus lighter", RATE),
    "context-specific harms": ("", RATE / 2),  # half of the scenes show women
    "identity adjectives used as nouns": ("", RATE),
    "artifacts not recognised": ("", RATE),
    "identity terms imposed": ("", 0.4 * RATE),  # of the scenes, 0.4 show somebody elderly
    "markedness": ("darker minus lighter", 0.5),
}


def calibrate(runs: int = 1000, seed: int = 0) -> Calibration:
    """Run every technique on phantoms without a harm, and on the phantom that plants its own."""
    seeds = np.random.SeedSequence(seed).generate_state(runs).tolist()
    by_technique = {phantom.technique: name for name, phantom in PHANTOMS.items() if phantom.technique}
    alarms = _false_alarms(seeds)
    conditions: list[dict[str, Any]] = []
    for key in TESTED:
        name = by_technique[key]
        used = _fewer(key, seeds)
        power, coverage = _planted(key, name, used)
        conditions.append(
            {
                "technique": key,
                "runs": len(used),
                "false alarms": alarms[key],
                "planted rate": RATE,
                "power": power,
                "coverage": coverage,
            }
        )
    known = [c["coverage"] for c in conditions if c["coverage"] is not None]
    return Calibration(
        "captions",
        float(np.mean([c["false alarms"] for c in conditions])),
        float(np.mean([c["power"] for c in conditions])),
        float(np.mean(known)),
        runs,
        seed,
        conditions,
    )


def _fewer(key: str, seeds: list[int]) -> list[int]:
    return seeds[: max(1, len(seeds) // 10)] if key in HEAVY else seeds


def _false_alarms(seeds: list[int]) -> dict[str, float]:
    """Return for each technique the share of evenly careless phantoms it cries wolf over."""
    marks: dict[str, list[bool]] = {key: [] for key in TESTED}
    for number, seed in enumerate(seeds):
        stages = planted("nothing, evenly careless", SCENES, RATE, seed)
        for key in TESTED:
            if number < len(_fewer(key, seeds)):
                marks[key].append(found(key, TECHNIQUES[key].measure(stages, OPTIONS)))
    return {key: float(np.mean(values)) for key, values in marks.items()}


def _planted(key: str, name: str, seeds: list[int]) -> tuple[float, float | None]:
    """Return how often the planted harm is found, and how often the interval holds the planted value."""
    hits, covered = [], []
    for seed in seeds:
        outcome = TECHNIQUES[key].measure(planted(name, SCENES, RATE, seed), OPTIONS)
        hits.append(found(key, outcome))
        row = _truth_row(key, name, outcome)
        if row is not None and row.get("low") is not None:
            covered.append(row["low"] <= TRUTH[name][1] <= row["high"])
    return float(np.mean(hits)), float(np.mean(covered)) if covered else None


def _truth_row(key: str, name: str, outcome: Any) -> Mapping[str, Any] | None:
    if name not in TRUTH:
        return None
    contrast = TRUTH[name][0]
    rows = headline(key, outcome)
    return next((r for r in rows if not contrast or r.get("contrast") == contrast), None)
