"""Whole counterfactuals audits that never took place, for calibration: two taggers before series of people who are not there.

Their raw answers are read as recorded ones are. Without an effect a label comes and goes by chance, hanging together
within a person; with one, the first tagger's first label follows gender with the planted slope.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.counterfactuals.calibration import Setting, present
from portrayal.audits.counterfactuals.inputs import references
from portrayal.audits.counterfactuals.power import RATE, STEADY, power
from portrayal.pictures.series.values import steps
from portrayal.recorder.ledger import Entry
from portrayal.recorder.responses import read_responses
from portrayal.study.audit import Evidence
from portrayal.study.calibration import Simulated
from portrayal.study.study import Study
from portrayal.study.study_file import make_study
from portrayal.systems.core.base import Answer

SYSTEMS = ("first", "second")
ATTRIBUTES = ("gender", "race", "placebo")
FAILING = 0.01  # without an effect: what is found of one is told for answers that are all there


@dataclass(frozen=True)
class Shape:
    """How large an audit is."""

    people: int
    pictures: int = 1  # of each person
    labels: int = 12
    uneven: bool = False  # some people have fewer pictures


SHAPES: Mapping[str, Shape] = {
    "demo": Shape(9, 2),
    "small": Shape(8, labels=8),
    "clustered": Shape(10, 3, labels=8, uneven=True),
    "large": Shape(60, labels=20),
}


def simulate(shape: str, seed: int, effect: float, wave: int = 0) -> Simulated:
    """Return an audit of this shape; `effect` is the planted slope, per unit of the value.

    `wave` 1, 2, ... are the same taggers asked again, by other chance, the effect from the second on; 0 is an audit of its own.
    """
    effect = effect * (wave != 1)
    traits, size = np.random.default_rng([seed, 97]), SHAPES[shape]
    rng = np.random.default_rng([seed, 97, wave]) if wave else traits
    stimuli, study = _stimuli(shape), _study()
    entries = [entry for system in SYSTEMS for entry in _entries(system, shape, effect, traits, rng)]
    responses = read_responses(entries, stimuli, "tagger")
    label = names(size.labels)[0]
    planted = {"measure": "slope", "system": SYSTEMS[0], "attribute": "gender", "label": label}
    return Simulated(study, Evidence(stimuli, responses, _inputs(), None, seed), planted if effect else None)


def plans() -> dict[str, tuple[float, float]]:
    """Return by shape a slope along gender and the power that `portrayal plan` states for it."""
    stated = {}
    for shape, slope in (("demo", 0.4), ("large", 0.15)):
        size = SHAPES[shape]
        tests = len(SYSTEMS) * 2 * size.labels
        stated[shape] = (slope, power(size.people, size.pictures, tests, slope, ATTRIBUTES[:2]))
    return stated


def names(labels: int) -> list[str]:
    """Return that many made-up labels."""
    return [f"label {number:02}" for number in range(labels)]


@lru_cache
def _study() -> Study:
    systems = [{"name": name, "use": f"replay:{name}.csv"} for name in SYSTEMS]
    return make_study(
        {"name": "simulated", "audit": "counterfactuals", "systems": systems, "counterfactuals": {"series": "none"}}
    )


@lru_cache
def _inputs() -> Mapping[str, Any]:
    return references(_study())


@lru_cache
def _stimuli(shape: str) -> pl.DataFrame:
    rows = [row for attribute in ATTRIBUTES for row in _series(shape, attribute)]
    return pl.DataFrame(rows)


def _series(shape: str, attribute: str) -> Iterator[dict[str, Any]]:
    """Yield the steps of an attribute, in the order in which `present` answers them."""
    size = SHAPES[shape]
    for person in range(size.people):
        for picture in range(size.pictures):
            for step, value in enumerate(steps("race" if attribute == "race" else "gender")):
                name = f"{person}-{picture}-{attribute}-{step}"
                if size.uneven and picture > person % size.pictures:
                    continue
                yield {
                    "stimulus": name, "kind": "image", "content": name, "hash": name, "source": "simulated",
                    "license": "", "consent": "generated", "picture": f"{person}-{picture}", "person": f"person {person}",
                    "attribute": attribute, "condition": "edited", "value": float(value),
                    "start": ("female", "male")[person % 2] if attribute == "gender" else None,
                }  # fmt: skip


def _entries(
    system: str, shape: str, effect: float, traits: np.random.Generator, rng: np.random.Generator
) -> Iterator[Entry]:
    """Yield what one system answered, as the ledger keeps it."""
    size = SHAPES[shape]
    words, known = np.array(names(size.labels)), set(_stimuli(shape)["hash"])
    for attribute in ATTRIBUTES:
        setting = Setting(size.people, size.pictures, size.labels, (RATE, RATE), STEADY, 0.0)
        slope = np.zeros(size.labels)
        slope[0] = effect if (system, attribute) == (SYSTEMS[0], "gender") else 0.0
        values = steps("race" if attribute == "race" else "gender")
        given = present(setting, values, slope, traits, rng)
        given = given.reshape(size.people, size.pictures, *given.shape[1:]).astype(bool)
        for place in np.ndindex(given.shape[:3]):
            name = f"{place[0]}-{place[1]}-{attribute}-{place[2]}"
            if name in known:
                failed = not effect and rng.random() < FAILING
                raw = json.dumps(["person", *words[given[place]].tolist()]).encode()
                yield Entry(
                    name, system, name, 0, "tagger", "plain", {}, "failed" if failed else "done",
                    None if failed else Answer(raw), "no answer" if failed else None,
                )  # fmt: skip
