"""Composition of one series in one place: a lit cut-out, with every step's face."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from portrayal_faces.generator.blend import face_only, feathered
from portrayal_faces.generator.studio import SHOULDERS, SURE, cut_sides, is_cut, resized

TALL = 0.8  # of the scene's height: how tall a portrait stands in it
SOFT = 0.4  # of the probability of being a person, from SURE on: over which somebody becomes opaque
FALL = 0.6  # how steeply shoulders go on falling beyond the portrait's sides
LIGHT, LEAST, MOST = (0.2, 0.85, 1.15)  # how far a place's light carries over to who stands there, and its bounds
GREY = 118.0  # levels of a place that leaves colours as they are


@dataclass(frozen=True)
class Scene:
    """A place, and its picture at the size of the scene."""

    name: str
    picture: np.ndarray  # height x width x 3


@dataclass(frozen=True)
class Seen:
    """A series: steps, the centre's place, masks of the face, mask of the person."""

    steps: np.ndarray  # n x side x side x 3
    middle: int
    faces: np.ndarray  # n x looked at x looked at, probabilities
    person: np.ndarray  # looked at x looked at


def compose_scene(seen: Seen, scene: Scene) -> Iterator[np.ndarray]:
    """Yield every step in the place, equal to the centre outside the mask."""
    height, width, _ = scene.picture.shape
    tall = height if is_cut(seen.person[0]) else round(TALL * height)
    left = _left(seen.person, width - tall)
    alpha = _widened(np.clip((resized(seen.person, tall) - SURE) / SOFT, 0, 1)[..., None], width, left)
    masks = feathered(np.repeat(seen.faces[seen.middle][None], len(seen.steps), axis=0), seen.faces)
    centre = _scaled(seen.steps[seen.middle], tall)
    for step, mask in zip(seen.steps, resized(masks, tall), strict=True):
        face = face_only(_scaled(step, tall)[None], centre[None], mask[None])[0]
        yield _pasted(_widened(face, width, left), alpha, scene.picture)


def light_of(place: np.ndarray) -> np.ndarray:
    """Return by how much a place brightens each colour of whoever stands there.

    It depends on the place alone: light fitted to a person's own colours would make dark skin lighter than it is.
    """
    return np.clip((place.mean(axis=(0, 1)) / GREY) ** LIGHT, LEAST, MOST)


def fits(person: np.ndarray) -> bool:
    """Return whether somebody can be shown: no hair cut off at both sides."""
    return not all(cut_sides(person))


def _left(person: np.ndarray, room: int) -> int:
    """Return the portrait's left edge: at a side that cuts hair, else in the middle."""
    first, second = cut_sides(person)
    return 0 if first else room if second else room // 2


def _scaled(picture: np.ndarray, side: int) -> np.ndarray:
    from PIL import Image

    return np.asarray(Image.fromarray(picture).resize((side, side), Image.Resampling.LANCZOS))


def _widened(portrait: np.ndarray, width: int, left: int) -> np.ndarray:
    """Return a portrait of this width, with shoulders that continue and fall off."""
    tall, have = portrait.shape[:2]
    across = np.arange(width) - left
    inside = np.clip(across, 0, have - 1)
    beyond = np.abs(across - inside)[None]
    fallen = np.arange(tall)[:, None] - np.rint(FALL * beyond).astype(int)
    colours = portrait[np.maximum(fallen, 0), inside[None]]
    return np.where(((beyond == 0) | (fallen >= SHOULDERS * tall))[..., None], colours, 0)


def _pasted(person: np.ndarray, alpha: np.ndarray, place: np.ndarray) -> np.ndarray:
    lit = np.clip(person * light_of(place), 0, 255)
    top = place.shape[0] - person.shape[0]
    below = place[top:].astype(float)
    mixed = np.rint(below + alpha * (lit - below)).astype(np.uint8)
    return np.concatenate([place[:top], mixed])
