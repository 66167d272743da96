"""Judges of series: linear readings of dlib's face embeddings, fitted on FairFace's adults.

python -m training.judges FAIRFACE packages/faces/src/portrayal_faces/series/judges.json [--kept EMBEDDED.npz]

P(second of two groups), P(female) and age. What is written is weights and how right each was about faces it was not fitted on
(five folds); no face, and nothing of a person. What a judge gives is how annotators' perceptions differ, never what a person is.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from portrayal.pictures.faces import closest_to_centre, find_faces
from portrayal.stats.models.logistic import fit
from portrayal_faces.series.identity import embed

GROUPS = ("White", "Black", "East Asian")
YEARS = {"20-29": 25.0, "30-39": 35.0, "40-49": 45.0, "50-59": 55.0, "60-69": 65.0, "more than 70": 75.0}
FOLDS, SEED = 5, 0
RIDGE = 30.0  # of a coordinate's variance: chosen by the folds' error, which it hardly changes
STRENGTH = 10.0  # inverse penalty: embeddings have length about 1


@dataclass(frozen=True)
class Reading:
    """Linear reading of face embeddings: the chance of the second of two poles."""

    coefficients: np.ndarray
    intercept: float

    def read(self, embeddings: np.ndarray) -> np.ndarray:
        """Return the chance of the second pole, one number per embedding."""
        return 1 / (1 + np.exp(-(embeddings @ self.coefficients + self.intercept)))


def fit_reading(vectors: np.ndarray, second: np.ndarray) -> Reading:
    """Fit a reading; both poles weigh the same however many faces they have."""
    weights = np.where(second, 0.5 / second.mean(), 0.5 / (1 - second.mean()))
    solution = fit(vectors, second, weights[:, None], C=STRENGTH)
    return Reading(solution.coefficients[:, 0], float(solution.intercepts[0]))


def embedded(folder: Path, groups: Sequence[str] = GROUPS, cache: Path | None = None) -> dict[str, np.ndarray]:
    """Embed the adults of some groups, or read the stored embeddings."""
    if cache and cache.exists():
        with np.load(cache) as stored:
            return dict(stored)
    known = _embedded(folder, groups)
    if cache:
        np.savez(cache, allow_pickle=False, **known)
    return known


def _embedded(folder: Path, groups: Sequence[str]) -> dict[str, np.ndarray]:
    with (folder / "labels.csv").open(encoding="utf-8", newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if row["race"] in groups]
    people: list[tuple[np.ndarray, int, float, bool]] = []
    with tarfile.open(folder / "adult_faces.tar") as tar:
        for row in rows:
            picture = Image.open(io.BytesIO(tar.extractfile(row["file"]).read())).convert("RGB")  # type: ignore[union-attr]
            if faces := find_faces(picture):
                vector = embed([picture], closest_to_centre(faces, picture.size).landmarks)[0]
                people.append((vector, groups.index(row["race"]), YEARS[row["age"]], row["gender"] == "Female"))
    names = ("embeddings", "group", "years", "female")
    return {name: np.array(column) for name, column in zip(names, zip(*people, strict=True), strict=True)}


def judges(known: dict[str, np.ndarray]) -> dict[str, Any]:
    """Fit every judge on everybody, with its accuracy on folds left out."""
    vectors, group = known["embeddings"], known["group"]
    fold = np.random.default_rng(SEED).integers(0, FOLDS, len(vectors))
    models = {}
    for first, second in combinations(range(len(GROUPS)), 2):
        two = np.isin(group, (first, second))
        models[f"{GROUPS[first]} to {GROUPS[second]}"] = _logistic(vectors[two], group[two] == second, fold[two])
    models["female"] = _logistic(vectors, known["female"].astype(bool), fold)
    models["years"] = _ridge(vectors, known["years"].astype(float), fold)
    return models


def _logistic(vectors: np.ndarray, second: np.ndarray, fold: np.ndarray) -> dict[str, Any]:
    right = 0
    for one in range(FOLDS):
        reading = fit_reading(vectors[fold != one], second[fold != one])
        right += int(((reading.read(vectors[fold == one]) > 0.5) == second[fold == one]).sum())
    whole = fit_reading(vectors, second)
    return {"weights": _rounded(whole.coefficients), "constant": whole.intercept, "right": right, "n": len(second)}


def _ridge(vectors: np.ndarray, years: np.ndarray, fold: np.ndarray) -> dict[str, Any]:
    off = []
    for one in range(FOLDS):
        weights, constant = _line(vectors[fold != one], years[fold != one])
        off.append(np.abs(vectors[fold == one] @ weights + constant - years[fold == one]))
    weights, constant = _line(vectors, years)
    return {
        "weights": _rounded(weights),
        "constant": constant,
        "off": float(np.concatenate(off).mean()),
        "n": len(years),
    }


def _line(vectors: np.ndarray, years: np.ndarray) -> tuple[np.ndarray, float]:
    middle = vectors.mean(axis=0)
    centred = vectors - middle
    penalty = RIDGE * centred.var(axis=0).mean() * np.eye(centred.shape[1])
    weights = np.linalg.solve(centred.T @ centred + penalty, centred.T @ (years - years.mean()))
    return weights, float(years.mean() - middle @ weights)


def _rounded(weights: np.ndarray) -> list[float]:
    return [round(float(one), 5) for one in weights]


def main() -> None:
    """Embed, or read what was embedded, fit and write."""
    parser = argparse.ArgumentParser()
    parser.add_argument("fairface", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--kept", type=Path)
    args = parser.parse_args()
    models = judges(embedded(args.fairface, cache=args.kept))
    args.out.write_text(json.dumps(models) + "\n", encoding="utf-8")
    print({name: one.get("off") or one["right"] / one["n"] for name, one in models.items()})


if __name__ == "__main__":
    main()
