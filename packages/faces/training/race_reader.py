"""A reader of which of two poles annotators would name, for checking a model only: it is fitted, used and forgotten.

No trustworthy classifier of race exists, and none ships here. To ask whether an edited face looks more like one pole's
faces to a network that had no part in training, a logistic regression is fitted on face embeddings (see `identity`) of the
data set's training faces, held against held-out ones, and read along the series. What it gives is how annotators'
perceptions of two groups differ, as far as that network sees it; never anything about a person.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from portrayal.pictures.faces.align import TEMPLATE
from portrayal.stats.models.logistic import fit
from portrayal_faces.series.identity import embed
from training.attributes import FIRST_RACE, one_race
from training.packed import MARGIN, open_packed, pictures_of

# While settings are chosen, the held-out faces are not looked at.
LOOKED_AT = {"held": ("train", "choose", "held"), "choose": ("train", "choose")}
LEAST = 40  # faces of each pole
STRENGTH = 10.0  # inverse penalty: embeddings have length about 1


@dataclass(frozen=True)
class RaceReader:
    """P(second pole) of a face embedding, and how often it is right about held-out faces."""

    coefficients: np.ndarray
    intercept: float
    right: int
    n: int

    def read(self, embeddings: np.ndarray) -> np.ndarray:
        """Return P(second pole), one number per embedding."""
        return 1 / (1 + np.exp(-(embeddings @ self.coefficients + self.intercept)))


def fit_race_reader(packed: Path, poles: Sequence[str], part: str = "held") -> RaceReader | None:
    """Fit on the training faces of two poles; count right answers on those of `part`.

    None where either pole has under LEAST labelled faces.
    """
    data = open_packed(packed)
    values, parts = data["values"], data["parts"]
    first, second = (_pole(values, name) & np.isin(parts, LOOKED_AT[part]) for name in poles)
    if min(first.sum(), second.sum()) < LEAST:
        return None
    wanted = np.flatnonzero(first | second)
    embeddings = np.array([embed([face], TEMPLATE + MARGIN)[0] for face in pictures_of(data, wanted.tolist())])
    held = parts[wanted] == part
    return fitted(embeddings[~held], second[wanted][~held], embeddings[held], second[wanted][held])


def fitted(train: np.ndarray, second: np.ndarray, held: np.ndarray, truth: np.ndarray) -> RaceReader:
    """Fit, both poles weighing the same however many faces they have."""
    weights = np.where(second, 0.5 / second.mean(), 0.5 / (1 - second.mean()))
    found = fit(train, second, weights[:, None], C=STRENGTH)
    reader = RaceReader(found.coefficients[:, 0], float(found.intercepts[0]), 0, len(truth))
    right = int(((reader.read(held) > 0.5) == truth).sum())
    return RaceReader(reader.coefficients, reader.intercept, right, len(truth))


def _pole(values: np.ndarray, name: str) -> np.ndarray:
    return (values[:, FIRST_RACE:] == one_race(name)).all(axis=1)
