"""Series of one photograph: an aligned face is changed and laid back."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from portrayal.pictures.faces import crop, fit_similarity
from portrayal.pictures.series.values import steps
from portrayal_faces.generator.blend import feathered
from portrayal_faces.generator.studio import LANDMARKS, PARSED, SIDE, parsed
from portrayal_faces.photographs.placebo import placebo_edits
from portrayal_faces.series.paste import changed_region, paste
from portrayal_faces.series.series import Series, seen_landmarks
from portrayal_faces.series.suitability import Inspection

# An aligned face (SIDE x SIDE x 3, uint8), attribute, values, poles and the face's landmarks to faces.
Changed = Callable[[np.ndarray, str, Sequence[float], Sequence[str], np.ndarray], np.ndarray]


def make_series(
    picture: Any,
    seen: Inspection,
    changed: Changed,
    axis: Sequence[str],
    values: Sequence[float] | None = None,
    masked: bool = True,
    seed: int = 0,
) -> Series:
    """Change the face that was seen in a picture along one axis.

    Returns
    -------
    Series
        Pictures that are the photograph's own, bit for bit, wherever `region` is false.
    """
    landmarks = seen_landmarks(seen)
    attribute, *poles = axis
    varied = ("race" if poles else "gender") if attribute == "placebo" else attribute
    wanted = steps(varied) if values is None else np.asarray(values, float)
    similarity = fit_similarity(landmarks, LANDMARKS * SIDE)
    own = crop(picture, similarity, SIDE)
    mask = face_mask(own) if masked else np.ones((SIDE, SIDE), np.float32)
    edits = changed(own, varied, wanted.tolist(), poles, similarity(landmarks)).astype(float) - own
    if attribute == "placebo":
        edits = placebo_edits(own.astype(float), edits, mask, _seed(own, seed))
    pictures = [paste(picture, edit, mask, similarity) for edit in edits]
    region = changed_region(picture.size, mask, similarity)
    return Series(attribute, wanted, pictures, picture, seen, region, tuple(poles))


def face_mask(face: np.ndarray) -> np.ndarray:
    """Return the feathered mask of face, ears and neck: 0 outside, 1 well inside."""
    region = np.zeros((1, SIDE, SIDE), np.float32)
    # Without the outermost pixels: a neck goes on below the square, and the edit must have faded where the square ends.
    region[:, 1:-1, 1:-1] = parsed(face[None], PARSED[0])[:, 1:-1, 1:-1]
    return feathered(region, region)[0]


def _seed(face: np.ndarray, seed: int) -> int:
    """Return a seed that depends on the picture, so that series can be repeated."""
    hasher = hashlib.sha256(np.ascontiguousarray(face).tobytes() + seed.to_bytes(8, "big", signed=True))
    return int.from_bytes(hasher.digest()[:8], "big")
