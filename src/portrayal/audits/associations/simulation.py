"""Whole audits of associations that never took place: two encoders without an effect, or one with a planted one.

Every target gets a vector whose association with the attributes is known (see `phantom`). In the clustered shape ten
people stand on both sides twice, as in SOBEM: each has an association of her own, and a difference between the sides of
her own, which is 0 on average. A planted effect is the same for every person, as `portrayal plan` takes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from portrayal.audits.associations.phantom import SPREAD, TILT, within_difference
from portrayal.audits.associations.power import smallest_d
from portrayal.audits.associations.stimuli import declared_tests, make_stimuli
from portrayal.stats.power.power import POWER
from portrayal.study.audit import Evidence
from portrayal.study.calibration import Simulated
from portrayal.study.study import Study
from portrayal.study.study_file import make_study
from portrayal.tables import RESPONSES

WIDTH = 16
SYSTEMS = ("first", "second")
EMOTIONS = [f"{emotion}, {level}" for emotion in ("angry", "sad", "happy") for level in ("high", "low")]


class _Shape(NamedTuple):
    """A study's settings, and how far people differ: in level, and in the difference between the sides."""

    settings: Mapping[str, Any]
    person: float = 0.0
    response: float = 0.0


def _words(name: str, size: int) -> dict[str, Any]:
    sets = {side: [f"{name} {side}{number}" for number in range(size)] for side in "xy"}
    sets |= {side: [f"{name} {side}{number}" for number in range(6)] for side in "ab"}
    return {"name": name, **sets, **{f"{side}_name": f"{name} {side}" for side in "xyab"}}


def _photographs(name: str, people: int, takes: int) -> dict[str, Any]:
    """Return a test whose people stand on both sides, each `takes` times; attributes are shared by all tests."""
    ids = [str(person) for person in range(people) for _ in range(takes)]
    sets = {side: [f"{person}_{take} {name} {side}" for take, person in enumerate(ids)] for side in "xy"}
    sets |= {side: [f"{name[:3]} {side}{number}" for number in range(6)] for side in "ab"}
    names = {f"{side}_name": f"{name} {side}" for side in "xyab"}
    return {"name": name, **sets, **names, "x_cluster": ids, "y_cluster": ids}


def _names(name: str, base: str) -> dict[str, Any]:
    return {"name": name, "base": base, "x": "weat:female_names", "y": "weat:male_names", "x_name": "women's names",
            "y_name": "men's names"}  # fmt: skip


_DEMO = [_names(name, f"profession_{name}") for name in ("science", "medicine", "business")]
_DEMO += [_names("angry", "emotion_angry"), {"name": "career", "base": "weat6"}]
SHAPES: Mapping[str, _Shape] = {
    "demo": _Shape({"test": _DEMO}),
    "small": _Shape({"test": [_words("small", 8)]}),
    "clustered": _Shape(
        {"alternative": "two-sided", "unpaired": False, "test": [_photographs(name, 10, 2) for name in EMOTIONS]},
        person=1.0,
        response=1.0,
    ),
    "large": _Shape({"tests": [f"weat{number}" for number in range(1, 11)]}),
}


def simulate(shape: str, seed: int, effect: float = 0.0, wave: int = 0) -> Simulated:
    """Return an audit of two encoders. `effect` is the d that the first has in the first test.

    `wave` 1, 2, ... are vectors of the same stimuli by other chance, the effect from the second on; 0 is an audit of its own.
    """
    effect = effect * (wave != 1)
    chosen = SHAPES[shape] if not effect else SHAPES[shape]._replace(person=0.0, response=0.0)
    study, evidence = _asked(shape)
    traits = np.random.default_rng(seed)
    rng = np.random.default_rng([seed, wave]) if wave else traits
    parts = [
        _answers(system, chosen, evidence, effect * (not place), traits, rng) for place, system in enumerate(SYSTEMS)
    ]
    planted = {"system": SYSTEMS[0], "test": evidence.inputs["tests"][0]["name"]} if effect else None
    return Simulated(study, Evidence(evidence.stimuli, pl.concat(parts), evidence.inputs, None, seed), planted)


def plans() -> dict[str, tuple[float, float]]:
    """Return by shape the smallest d that `portrayal plan` says is found, and how often it says so."""
    return {shape: (_smallest(shape), POWER) for shape in ("small", "clustered")}


def _smallest(shape: str) -> float:
    study, _ = _asked(shape)
    tests = declared_tests(study)
    return smallest_d(tests[0], study.settings.alternative, len(tests) * len(study.systems))


@cache
def _asked(shape: str) -> tuple[Study, Evidence]:
    """Return the study and what it asks; the same for every simulated audit of a shape."""
    from dataclasses import asdict

    systems = [{"name": name, "use": "phantom:associations"} for name in SYSTEMS]
    data = {"name": shape, "audit": "associations", "systems": systems, "associations": SHAPES[shape].settings}
    study = make_study(data)
    tests = [asdict(test) for test in declared_tests(study)]
    return study, Evidence(make_stimuli(study), pl.DataFrame(), {"tests": tests})


def _answers(
    system: str, shape: _Shape, evidence: Evidence, effect: float, traits: np.random.Generator, rng: np.random.Generator
) -> pl.DataFrame:
    """Return one vector per stimulus. A stimulus of several tests keeps the vector of the first."""
    vectors: dict[str, np.ndarray] = {}
    for place, test in enumerate(evidence.inputs["tests"]):
        for content, vector in _of_test(test, shape, effect * (not place), traits, rng):
            vectors.setdefault(content, vector)
    names = evidence.stimuli["stimulus"]
    return pl.DataFrame(
        {
            "system": [system] * len(names),
            "stimulus": names,
            "repeat": [0] * len(names),
            "status": ["answered"] * len(names),
            "embedding": [vectors[name].tolist() for name in names],
        },
        schema={**RESPONSES, "embedding": pl.List(pl.Float64)},
    )


def _of_test(
    test: Mapping[str, Any], shape: _Shape, effect: float, traits: np.random.Generator, rng: np.random.Generator
) -> Iterator[tuple[str, np.ndarray]]:
    shift = within_difference(effect, len(test["x"]), len(test["y"])) / 2
    people = {item["cluster"] for item in test["x"]}
    level = {person: shape.person * traits.normal() for person in sorted(people, key=str)}
    gap = {person: shape.response * traits.normal() / 2 for person in sorted(people, key=str)}
    for side, sign in (("x", 1.0), ("y", -1.0)):
        for item in test[side]:
            who = item["cluster"]
            own = level.get(who, 0.0) + sign * (gap.get(who, 0.0) + shift) if who else sign * shift
            yield item["content"], _target(SPREAD * (rng.normal() + own), rng)
    for axis, side in enumerate("ab"):
        for item in test[side]:
            yield item["content"], _attribute(axis, rng)


def _target(component: float, rng: np.random.Generator) -> np.ndarray:
    angle, rest = rng.uniform(0, 2 * np.pi), np.sqrt(1 - component**2 / 2)
    start = [component / 2, -component / 2, rest * np.cos(angle), rest * np.sin(angle)]
    return np.concatenate([start, np.zeros(WIDTH - 4)])


def _attribute(axis: int, rng: np.random.Generator) -> np.ndarray:
    noise = rng.normal(size=WIDTH - 4)
    return np.concatenate([np.eye(4)[axis], TILT * noise / np.linalg.norm(noise)])
