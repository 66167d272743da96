"""Suitability of a face for manipulation, with named reasons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from portrayal.pictures.faces import ADULT, Face, crop, fit_similarity, head_turn, read_person
from portrayal_faces.series.mask import skin_share

FRONTAL = 0.25  # how far the nose may lie from the middle, in eye distances
SMALLEST = 24.0  # pixels between the eyes
COVERED = 0.7  # the least share of the face's core that must look like its skin
CERTAIN = 0.93  # the least detector score

# Why a picture is not manipulated. `many faces` is no reason: the one closest to the centre is taken, and noted.
REASONS = {
    "no face": "no face was found",
    "turned away": "the face is seen from the side",
    "tiny face": f"the eyes are under {SMALLEST:.0f} pixels apart",
    "greyscale": "the picture has no colour, and the model was trained on colour",
    "occluded": "something covers the face, or the detector is not sure of it",
    "not adult": f"the age reader puts the person under {ADULT}",
}


@dataclass(frozen=True)
class Inspection:
    """Inspection of a picture: the face, and the reason against it, if any."""

    face: Face | None
    faces: int
    reason: str = ""  # a key of REASONS, or nothing
    female: float = float("nan")
    age: float = float("nan")
    aligned: np.ndarray | None = None


def inspect_face(picture: Any, smallest: float = 0.05, strict: bool = True) -> Inspection:
    """Find the face of a picture and say whether it may be manipulated."""
    person = read_person(picture, smallest)
    if person.face is None:
        return Inspection(None, 0, person.reason)
    aligned = crop(picture, fit_similarity(person.face.landmarks))
    reason = person.reason or _reason(person.face, aligned, strict)
    return Inspection(person.face, person.faces, reason, person.female, person.age, aligned)


def _reason(face: Face, aligned: np.ndarray, strict: bool) -> str:
    """Return the first reason that applies against the face of an adult."""
    if head_turn(face.landmarks) > FRONTAL:
        return "turned away"
    if not strict:
        return ""
    if face.eye_distance < SMALLEST:
        return "tiny face"
    if is_grey(aligned):
        return "greyscale"
    if face.score < CERTAIN or skin_share(aligned) < COVERED:
        return "occluded"
    return ""


def is_grey(face: np.ndarray) -> bool:
    """Return whether a face's three channels are (nearly) the same everywhere."""
    values = face.astype(int)
    return bool((values.max(axis=-1) - values.min(axis=-1)).mean() < 3.0)
