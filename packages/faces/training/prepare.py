"""Packing aligned adult faces into one file for training: crops with a margin, values, parts, and what was dropped.

The packed file shows real people: it stays in an ignored folder and never enters the package.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from portrayal.errors import PortrayalError
from portrayal.pictures.faces.align import SIZE, Similarity, crop, fit_similarity
from portrayal.pictures.faces.detect import Face
from portrayal_faces.series.suitability import inspect_face
from training.attributes import COLUMNS, FIRST_RACE, WIDTH, one_race
from training.loaders import LabelledFace
from training.packed import MARGIN, jpeg_of, keep_packed


def prepare(
    faces: Iterable[LabelledFace],
    out: Path | str,
    samples: Sequence[LabelledFace] = (),
    held: float = 1 / 6,
    seed: int = 0,
    about: Mapping[str, Any] | None = None,
) -> dict[str, int]:
    """Align and pack; returns how many faces were kept and dropped, by reason."""
    kept, counts = _keep(faces)
    if not kept:
        raise PortrayalError(
            f"no face could be used. Expected adults who look ahead; left out: {counts or 'nothing was there'}."
        )
    drawn = np.random.default_rng(seed).random(len(kept))
    parts = np.select([drawn < held, drawn < 2 * held], ["choose", "held"], "train")
    extra, _ = _keep(samples)
    words = {**(about or {}), "seed": seed, "columns": COLUMNS, "counts": counts}
    keep_packed(out, [*kept, *extra], np.concatenate([parts, np.repeat("samples", len(extra))]), words)
    return counts


def values_of(face: LabelledFace, age: float) -> np.ndarray:
    """Return the labels as an attribute vector, NaN where there is none; the age read fills a missing age."""
    values = np.full(WIDTH, np.nan)
    read = np.clip((age - 25) / 25 - 1, -1, 1)  # 25 years is -1, 75 years is 1
    for at, value in enumerate((face.gender, read if face.age is None else face.age, face.smiling)):
        values[at] = np.nan if value is None else value
    if face.race is not None:
        values[FIRST_RACE:] = one_race(face.race)
    return values


def _keep(faces: Iterable[LabelledFace]) -> tuple[list[tuple[str, bytes, np.ndarray]], dict[str, int]]:
    kept, counts = [], Counter[str]()
    for face in faces:
        picture = face.picture.convert("RGB")
        seen = inspect_face(picture, 0.2, strict=False)
        counts[seen.reason or "kept"] += 1
        if seen.face is not None and not seen.reason:
            kept.append((face.name, _jpeg(picture, seen.face), values_of(face, seen.age)))
    return kept, dict(counts)


def _jpeg(picture: Any, face: Face) -> bytes:
    aligned = fit_similarity(face.landmarks)
    wide = crop(picture, Similarity(aligned.matrix, aligned.shift + MARGIN), SIZE + 2 * MARGIN)
    return jpeg_of(wide)
