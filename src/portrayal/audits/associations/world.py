"""World of simulated encoders: targets and attributes as vectors with a planted association.

Attributes A lie around one axis and B around another. A target's component along the difference of the axes is normal, with a
mean that differs between X and Y so that the population d of equation 1 is exactly the one planted. In the clustered shape ten
people stand on both sides twice, as in SOBEM, with associations and differences of their own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from pydantic import Field

from portrayal.settings import Settings

SPREAD = 0.01  # deviation of a target's component: cosines stay far from their bounds
TILT = 0.5  # how far an attribute leans away from its axis
WIDTH = 16  # of vectors in calibrations and simulated audits
EMOTIONS = [f"{emotion}, {level}" for emotion in ("angry", "sad", "happy") for level in ("high", "low")]


def stream(text: str, seed: int) -> np.random.Generator:
    """Return the random numbers of a text, the same in every run."""
    digest = hashlib.sha256(f"{seed}/{text}".encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:8], "big"))


def within_difference(d: float, n_x: int, n_y: int) -> float:
    """Return the difference over the within-group deviation that gives this d over the pooled deviation."""
    pq = n_x * n_y / (n_x + n_y) ** 2
    return d / np.sqrt(1 - pq * d**2)


def target_vectors(components: Any, width: int, rng: np.random.Generator) -> np.ndarray:
    """Return unit vectors whose difference along axes 0 and 1 is their component."""
    components = np.atleast_1d(components)
    angle, rest = rng.uniform(0, 2 * np.pi, size=len(components)), np.sqrt(1 - components**2 / 2)
    vectors = np.zeros((len(components), width))
    vectors[:, :4] = np.stack([components / 2, -components / 2, rest * np.cos(angle), rest * np.sin(angle)], axis=1)
    return vectors


def attribute_vectors(axis: int, count: int, width: int, rng: np.random.Generator) -> np.ndarray:
    """Return vectors that lean away from an axis, each in a direction of its own."""
    noise = rng.normal(size=(count, width - 4))
    vectors = np.zeros((count, width))
    vectors[:, axis], vectors[:, 4:] = 1.0, TILT * noise / np.linalg.norm(noise, axis=1, keepdims=True)
    return vectors


class Planted(Settings):
    """Sets and d that a study plants in the phantom."""

    x: list[str] = []
    y: list[str] = []
    a: list[str] = []
    b: list[str] = []
    d: float = Field(default=0.0, gt=-2, lt=2)
    width: int = Field(default=32, ge=8)
    seed: int = 0


def text_vector(text: str, planted: Planted) -> np.ndarray:
    """Return the vector of a text; one in no set gets a random direction."""
    rng = stream(text, planted.seed)
    if text in planted.a or text in planted.b:
        return attribute_vectors(0 if text in planted.a else 1, 1, planted.width, rng)[0]
    if text in planted.x or text in planted.y:
        shift = within_difference(planted.d, max(1, len(planted.x)), max(1, len(planted.y))) / 2
        own = SPREAD * (rng.normal() + (shift if text in planted.x else -shift))
        return target_vectors(own, planted.width, rng)[0]
    return rng.normal(size=planted.width)


class Shape(NamedTuple):
    """A study's settings, and deviations of people's level and of their difference between sides."""

    settings: Mapping[str, Any]
    person: float = 0.0
    response: float = 0.0


def _sets(name: str, **sizes: int) -> dict[str, Any]:
    return {side: [f"{name} {side}{number}" for number in range(size)] for side, size in sizes.items()}


def _photographs(name: str, people: int, takes: int) -> dict[str, Any]:
    """Return a test whose people stand on both sides, each `takes` times."""
    ids = [str(person) for person in range(people) for _ in range(takes)]
    sets = {side: [f"{person}_{take} {name} {side}" for take, person in enumerate(ids)] for side in "xy"}
    return {"name": name, **sets, **_sets(name[:3], a=6, b=6), **_names(name), "x_cluster": ids, "y_cluster": ids}


def _names(name: str) -> dict[str, str]:
    return {f"{side}_name": f"{name} {side}" for side in "xyab"}


_PEOPLE = {"x": "weat:female_names", "y": "weat:male_names", "x_name": "women's names", "y_name": "men's names"}
_DEMO = [{"name": name, "base": f"profession_{name}", **_PEOPLE} for name in ("science", "medicine", "business")]
_DEMO += [{"name": "angry", "base": "emotion_angry", **_PEOPLE}, {"name": "career", "base": "weat6"}]
_SMALL = {"name": "small", **_sets("small", x=8, y=8, a=6, b=6), **_names("small")}
_CLUSTERED = [_photographs(name, 10, 2) for name in EMOTIONS]
SHAPES: Mapping[str, Shape] = {
    "demo": Shape({"test": _DEMO}),
    "small": Shape({"test": [_SMALL]}),
    "clustered": Shape({"alternative": "two-sided", "unpaired": False, "test": _CLUSTERED}, person=1.0, response=1.0),
    "large": Shape({"tests": [f"weat{number}" for number in range(1, 11)]}),
}


def draw_test(
    test: Mapping[str, Any], shape: Shape, effect: float, traits: np.random.Generator, rng: np.random.Generator
) -> Iterator[tuple[str, np.ndarray]]:
    """Yield each stimulus of a declared test with its vector."""
    shift = within_difference(effect, len(test["x"]), len(test["y"])) / 2
    people = sorted({item["cluster"] for item in test["x"]}, key=str)
    level = {person: shape.person * traits.normal() for person in people}
    gap = {person: shape.response * traits.normal() / 2 for person in people}
    for side, sign in (("x", 1.0), ("y", -1.0)):
        for item in test[side]:
            who = item["cluster"]
            own = level.get(who, 0.0) + sign * (gap.get(who, 0.0) + shift) if who else sign * shift
            yield item["content"], target_vectors(SPREAD * (rng.normal() + own), WIDTH, rng)[0]
    for axis, side in enumerate("ab"):
        for item in test[side]:
            yield item["content"], attribute_vectors(axis, 1, WIDTH, rng)[0]
