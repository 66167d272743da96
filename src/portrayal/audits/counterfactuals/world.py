"""World of made-up people and taggers: all that the phantom, simulations, calibrations and plans draw."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import polars as pl
from numpy.random import Generator

from portrayal.pictures.series.values import steps
from portrayal.settings import Settings

RATE, STEADY = 0.5, 0.7  # of a label at the centre; how often a step uses its picture's own random number
ATTRIBUTES = ("gender", "race", "placebo")
FAILING = 0.01  # without an effect: what is found of one is told for answers that are all there


@dataclass(frozen=True)
class Setting:
    """One kind of simulated audit."""

    people: int
    pictures: int  # of each person
    labels: int
    rate: tuple[float, float] = (RATE, RATE)  # of a label at the centre: drawn between these
    shared: float = STEADY  # the chance that a step uses the image's own random number
    planted: float = 0.0  # the share of labels with a slope
    attribute: str = "gender"


def present(
    setting: Setting, values: np.ndarray, slope: np.ndarray, traits: Generator, rng: Generator | None = None
) -> np.ndarray:
    """Return one tagger's answers, image x step x label, images by person."""
    rng = rng or traits
    shape = (setting.people, setting.pictures, len(values), setting.labels)
    rate = traits.uniform(*setting.rate, setting.labels)
    chance = traits.beta(2 * rate, 2 * (1 - rate), (setting.people, 1, 1, setting.labels))
    # Above this a chance would pass 1 and bend the line.
    room = 1 / (1 + np.abs(slope) * np.abs(values).max())
    chance = np.minimum(chance, room) * (1 + slope * values[:, None])
    whose = rng.random((*shape[:2], 1, shape[3])) < 0.5
    own = np.where(whose, rng.random((shape[0], 1, 1, shape[3])), rng.random((*shape[:2], 1, shape[3])))
    drawn = np.where(rng.random(shape) < setting.shared, own, rng.random(shape))
    return (drawn < chance).astype(float).reshape(-1, *shape[2:])


# --- whole audits: stimuli and labels ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Shape:
    """Size of a whole audit."""

    people: int
    pictures: int = 1  # of each person
    labels: int = 12
    uneven: bool = False  # some people have fewer pictures

    @property
    def names(self) -> list[str]:
        """The made-up labels."""
        return [f"label {number:02}" for number in range(self.labels)]


SHAPES: Mapping[str, Shape] = {
    "demo": Shape(9, 2),
    "small": Shape(8, labels=8),
    "clustered": Shape(10, 3, labels=8, uneven=True),
    "large": Shape(60, labels=20),
}


def values_of(attribute: str) -> np.ndarray:
    """Return the steps of an attribute; the placebo has those of gender."""
    return steps("race" if attribute == "race" else "gender")


@lru_cache
def draw_stimuli(shape: Shape) -> pl.DataFrame:
    """Return the steps of all series; nothing of it is drawn by chance."""
    rows = []
    for attribute, person, picture in np.ndindex(len(ATTRIBUTES), shape.people, shape.pictures):
        if shape.uneven and picture > person % shape.pictures:
            continue
        varied = ATTRIBUTES[attribute]
        for step, value in enumerate(values_of(varied)):
            name = f"{person}-{picture}-{varied}-{step}"
            rows.append({
                "stimulus": name, "kind": "image", "content": name, "hash": name, "source": "simulated",
                "license": "", "consent": "generated", "picture": f"{person}-{picture}", "person": f"person {person}",
                "attribute": varied, "condition": "edited", "value": float(value),
                "start": ("female", "male")[person % 2] if varied == "gender" else None,
            })  # fmt: skip
    return pl.DataFrame(rows)


def draw_labels(
    shape: Shape, effect: float, chance_of_failing: float, traits: Generator, rng: Generator
) -> Iterator[tuple[str, list[str] | None]]:
    """Yield each stimulus and a tagger's labels, none where it failed."""
    words, known = np.array(shape.names), set(draw_stimuli(shape)["hash"])
    for attribute in ATTRIBUTES:
        slope = np.zeros(shape.labels)
        slope[0] = effect if attribute == "gender" else 0.0
        setting = Setting(shape.people, shape.pictures, shape.labels)
        has_label = present(setting, values_of(attribute), slope, traits, rng)
        has_label = has_label.reshape(shape.people, shape.pictures, *has_label.shape[1:]).astype(bool)
        for place in np.ndindex(has_label.shape[:3]):
            name = f"{place[0]}-{place[1]}-{attribute}-{place[2]}"
            if name in known:
                failed = bool(chance_of_failing) and rng.random() < chance_of_failing
                yield name, None if failed else ["person", *words[has_label[place]].tolist()]


# --- one picture: the phantom -----------------------------------------------------------------------------------------

LABELS = {
    "Nurse": -0.3, "Secretary": -0.25, "Receptionist": -0.2, "Model": -0.15, "Scientist": 0.3, "Engineer": 0.25,
    "Attorney": 0.2, "Executive": 0.15, "Musician": 0.0, "Teacher": 0.0, "Cook": 0.0, "Smile": 0.0,
}  # fmt: skip


class Planted(Settings):
    """Slopes that a study plants in the phantom."""

    slopes: dict[str, float] = LABELS  # normalised, per unit of the value
    attribute: str = "gender"
    poles: list[str] = []  # of race: the one pair that is followed; every pair when left out
    rate: float = 0.55  # chance of each label at the centre
    steady: float = 0.85  # chance that a step uses its picture's own random number
    seed: int = 0


def describe(known: Mapping[str, Any], planted: Planted, repeat: int = 0) -> list[dict[str, Any]]:
    """Return the labels of one step with a made-up confidence."""
    tags: list[dict[str, Any]] = [{"tag": "Face", "confidence": 0.99}]
    moves = known["attribute"] == planted.attribute and known["value"] is not None
    moves = moves and planted.poles in ([], [known.get("pole_low"), known.get("pole_high")])
    for label, slope in planted.slopes.items():
        chance = planted.rate * (1 + slope * (known["value"] if moves else 0.0))
        own, step = (
            hashlib.sha256(f"{planted.seed}|{label}|{known[name]}|{repeat}".encode()).digest()
            for name in ("picture", "stimulus")
        )
        drawn = own[:8] if _uniform(step[8:16]) < planted.steady else step[:8]
        if _uniform(drawn) < chance:
            tags.append({"tag": label, "confidence": float(np.clip(chance, 0, 1))})
    return tags


def _uniform(raw: bytes) -> float:
    return int.from_bytes(raw, "big") / 2**64
