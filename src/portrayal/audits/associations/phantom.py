"""An encoder with a planted association: `use = "phantom:associations"`.

    parameters = { x = ["ada", "eva"], y = ["bob", "tom"], a = ["warm"], b = ["cold"], d = 0.9 }

Every text gets a vector of its own, the same in every run. Attributes A lie around one axis and B around
another; a target's component along the difference of the axes is drawn from a normal distribution whose mean
differs between X and Y so that the population d of equation 1 is exactly the one planted. Texts in no set get a
random direction.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from pydantic import Field

from portrayal.settings import Settings
from portrayal.systems.core.settings import SystemSettings
from portrayal.systems.encoders.local import LocalEncoder

SPREAD = 0.01  # deviation of a target's component: cosines stay far from their bounds
TILT = 0.5  # how far an attribute leans away from its axis


class PhantomSettings(Settings):
    """The sets, the planted d and the seed."""

    x: list[str] = []
    y: list[str] = []
    a: list[str] = []
    b: list[str] = []
    d: float = Field(default=0.0, gt=-2, lt=2)
    width: int = Field(default=32, ge=8)
    seed: int = 0


@dataclass
class PhantomEncoder(LocalEncoder):
    """Encodes texts by their place in the sets."""

    plan: PhantomSettings = field(default_factory=PhantomSettings)

    def encode(self, texts: Sequence[str]) -> list[np.ndarray | None]:
        """Return the planted vectors."""
        return [phantom_vector(text, self.plan) for text in texts]


def phantom_vector(text: str, plan: PhantomSettings) -> np.ndarray:
    """Return the vector of a text: axes 0 and 1 for A and B, the next two for targets, the rest for noise."""
    rng = _random(text, plan.seed)
    if text in plan.a or text in plan.b:
        return _attribute(0 if text in plan.a else 1, plan.width, rng)
    if text in plan.x or text in plan.y:
        return _target(_component(text, plan, rng), plan.width, rng)
    return rng.normal(size=plan.width)


def within_difference(d: float, n_x: int, n_y: int) -> float:
    """Return the difference over the within-group deviation that gives this d over the pooled deviation."""
    pq = n_x * n_y / (n_x + n_y) ** 2
    return d / np.sqrt(1 - pq * d**2)


def _component(text: str, plan: PhantomSettings, rng: np.random.Generator) -> float:
    shift = within_difference(plan.d, max(1, len(plan.x)), max(1, len(plan.y))) / 2
    return SPREAD * (rng.normal() + (shift if text in plan.x else -shift))


def _attribute(axis: int, width: int, rng: np.random.Generator) -> np.ndarray:
    vector = np.zeros(width)
    noise = rng.normal(size=width - 4)
    vector[axis], vector[4:] = 1.0, TILT * noise / np.linalg.norm(noise)
    return vector


def _target(component: float, width: int, rng: np.random.Generator) -> np.ndarray:
    """Return a unit vector whose difference of components along axes 0 and 1 is `component`."""
    angle = rng.uniform(0, 2 * np.pi)
    rest = np.sqrt(1 - component**2 / 2)
    vector = np.zeros(width)
    vector[:4] = component / 2, -component / 2, rest * np.cos(angle), rest * np.sin(angle)
    return vector


def _random(text: str, seed: int) -> np.random.Generator:
    digest = hashlib.sha256(f"{seed}/{text}".encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:8], "big"))


def open_system(settings: SystemSettings, folder: Path) -> PhantomEncoder:
    """Open the phantom encoder."""
    plan = settings.read(PhantomSettings)
    return PhantomEncoder(
        **settings.fields("phantom:associations", kind="encoder", version=settings.version or "1"), plan=plan
    )
