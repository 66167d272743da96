"""Drawn faces whose true counterfactual is known: the renderer changes one parameter and nothing else.

Faces are drawn already aligned (eyes, nose and mouth on the template), so that a manipulator can be trained and tested
on them without a detector. Masculinity widens the jaw, thickens the brows, pales and thins the lips and adds stubble.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from portrayal.pictures.faces.align import SIZE
from training.attributes import COLUMNS, WIDTH
from training.packed import MARGIN, jpeg_of, keep_packed

FINE = 2  # drawn this much larger, then averaged down


@dataclass(frozen=True)
class Person:
    """What a drawn face looks like; `masculinity` runs from -2 to 2, everything else is the person."""

    masculinity: float
    age: float  # -1 to 1: lines on the forehead
    skin: tuple[float, float, float]
    hair: tuple[float, float, float]
    iris: tuple[float, float, float]
    backdrop: tuple[float, float, float]
    width: float
    hair_length: float
    light: float
    grain: int  # seed of the skin's texture


def draw_person(rng: np.random.Generator, masculinity: float | None = None) -> Person:
    """Draw a person's parameters; age and hair lean with masculinity, as they do in photographs."""
    value = float(rng.choice([-1.0, 1.0]) + 0.1 * rng.standard_normal()) if masculinity is None else masculinity
    tone = rng.uniform(0.25, 0.95)
    skin = np.array([0.95, 0.75, 0.62]) * tone + rng.normal(0, 0.02, 3)
    return Person(
        value,
        float(np.clip(0.3 * np.sign(value) + 0.6 * rng.standard_normal(), -1, 1)),
        _three(skin), _three(rng.uniform(0.05, 0.5) * np.array([1, 0.8, 0.6])), _three(rng.uniform(0.1, 0.6, 3)),
        _three(rng.uniform(0.2, 0.9, 3)), float(rng.uniform(0.93, 1.07)),
        float(np.clip(0.5 - 0.25 * np.sign(value) + 0.3 * rng.standard_normal(), 0, 1)),
        float(rng.uniform(-0.25, 0.25)), int(rng.integers(1 << 30)),
    )  # fmt: skip


def counterfactual(person: Person, masculinity: float) -> Person:
    """Return the same person with another masculinity: the truth a manipulator is held against."""
    return replace(person, masculinity=masculinity)


def render(person: Person, margin: int = 0) -> np.ndarray:
    """Draw a person as an aligned face, uint8, SIZE + 2 margin pixels on a side."""
    side = SIZE + 2 * margin
    y, x = (np.indices((side * FINE, side * FINE)) + 0.5) / FINE - margin
    picture = np.empty((*x.shape, 3))
    picture[:] = person.backdrop
    m, wide = person.masculinity, person.width
    hair_bottom = 60 + 60 * person.hair_length
    _paint(picture, _ellipse(x, y, 64, 60, 46 * wide, 52) * (y < hair_bottom), person.hair)
    _paint(picture, _soft(18 - np.abs(x - 64)) * (y > 100), np.array(person.skin) * 0.85)
    jaw = 35 * wide + 2.2 * m
    half = np.where(y < 72, 37 * wide, jaw - (jaw - 20 - 3 * m) * np.clip((y - 72) / 48, 0, 1) ** 2)
    head = _soft((1 - np.hypot((x - 64) / half, (y - 70) / 50)) * 40)
    _paint(picture, head, person.skin)
    _paint(picture, head * _ellipse(x, y, 64, 24, 44 * wide, 18), person.hair)
    stubble = np.clip(0.12 + 0.1 * m, 0, 0.4) * _ellipse(x, y, 64, 104, 30 * wide, 24) * head
    _paint(picture, stubble, np.array(person.hair) * 0.7)
    for line in (34, 39):
        _paint(
            picture, 0.12 * (1 + person.age) * head * np.exp(-((y - line) ** 2)) * (np.abs(x - 64) < 18), np.zeros(3)
        )
    _features(picture, x, y, person)
    grain = np.random.default_rng(person.grain).normal(0, 0.015, (side, side, 1)).repeat(FINE, 0).repeat(FINE, 1)
    picture = picture * (1 + person.light * (x - 64) / 64)[:, :, None] + grain
    small = picture.reshape(side, FINE, side, FINE, 3).mean(axis=(1, 3))
    return np.clip(np.rint(small * 255), 0, 255).astype(np.uint8)


def rendered_psnr(made: np.ndarray, truth: np.ndarray, mask: np.ndarray) -> float:
    """Return the peak signal-to-noise ratio in decibels inside a mask."""
    error = (made.astype(float) - truth.astype(float)) ** 2
    mean = float((error * mask[:, :, None]).sum() / (3 * mask.sum()))
    return float(10 * np.log10(255**2 / max(mean, 1e-12)))


def pack_rendered(out: Path | str, count: int = 2400, held: float = 1 / 6, seed: int = 0) -> None:
    """Write drawn faces as a packed file for training; held-out people are never trained on."""
    rng = np.random.default_rng(seed)
    faces = []
    for place in range(count):
        person = draw_person(rng)
        values = np.full(WIDTH, np.nan)
        values[:2] = np.sign(person.masculinity), person.age
        faces.append((str(place), jpeg_of(render(person, MARGIN)), values))
    parts = np.where(np.arange(count) < count * held, "held", "train")
    words = {"source": "drawn by training.render", "seed": seed, "columns": COLUMNS}
    keep_packed(out, faces, parts, words)


def _features(picture: np.ndarray, x: np.ndarray, y: np.ndarray, person: Person) -> None:
    """Brows, eyes, nose and mouth."""
    m = person.masculinity
    for side in (45, 83):
        brow = _soft(1.6 + 0.5 * m - np.abs(y - 42 + 0.25 * m - ((x - side) / 12) ** 2)) * (np.abs(x - side) < 11)
        _paint(picture, np.clip(brow, 0, 1), np.array(person.hair) * 0.8)
        _paint(picture, _ellipse(x, y, side, 52, 8, 4 - 0.3 * m), np.full(3, 0.95))
        _paint(picture, _ellipse(x, y, side, 52, 3.4, 3.4), person.iris)
        _paint(picture, _ellipse(x, y, side, 52, 1.5, 1.5), np.zeros(3))
    shade = np.array(person.skin) * 0.75
    _paint(picture, 0.7 * _ellipse(x, y, 64, 76, 7 + 0.6 * m, 2.5), shade)
    lips = np.array(person.skin) * [1.0, 0.62 + 0.08 * m, 0.65 + 0.07 * m]
    _paint(picture, _ellipse(x, y, 64, 92, 15.5, 4.2 - 0.6 * m), lips)
    _paint(picture, _soft(0.5 - np.abs(y - 92)) * (np.abs(x - 64) < 14), lips * 0.6)


def _paint(picture: np.ndarray, cover: np.ndarray, colour: np.ndarray | tuple[float, float, float]) -> None:
    picture += cover[:, :, None] * (np.asarray(colour) - picture)


def _ellipse(x: np.ndarray, y: np.ndarray, cx: float, cy: float, rx: float, ry: float) -> np.ndarray:
    return _soft((1 - np.hypot((x - cx) / rx, (y - cy) / ry)) * min(rx, ry))


def _soft(distance: np.ndarray) -> np.ndarray:
    """From 0 to 1 over one pixel around an edge."""
    return np.clip(distance + 0.5, 0, 1)


def _three(values: np.ndarray) -> tuple[float, float, float]:
    red, green, blue = (float(value) for value in np.clip(values, 0, 1))
    return red, green, blue
