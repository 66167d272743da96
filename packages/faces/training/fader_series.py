"""A series by the Fader network: what its decoder changes is tempered and laid inside the skin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from portrayal.pictures.faces.align import fit_similarity
from portrayal.pictures.series.values import steps
from portrayal_faces.series.paste import changed_region, paste
from portrayal_faces.series.series import Series, seen_landmarks
from portrayal_faces.series.suitability import Inspection
from training.attributes import vary
from training.manipulator import Manipulator
from training.skin import oval, skin_mask
from training.temper import tempered


def make_series(
    picture: Any,
    seen: Inspection,
    manipulator: Manipulator,
    attribute: str,
    values: Sequence[float] | None = None,
    poles: Sequence[str] = (),
    masked: bool = True,
    seed: int = 0,
) -> Series:
    """Manipulate the face that was seen in a picture, as the Fader network does it."""
    landmarks = seen_landmarks(seen)
    wanted = steps("gender" if attribute == "placebo" else attribute) if values is None else np.asarray(values, float)
    aligned = np.asarray(seen.aligned)
    code, start = manipulator.encode(aligned)
    edits = _edits(manipulator, code, start, attribute, wanted, poles, seed)
    edits = tempered(edits, aligned, even=attribute == "race")
    mask = skin_mask(aligned) if masked else oval()
    similarity = fit_similarity(landmarks)
    pictures = [paste(picture, edit, mask, similarity) for edit in edits]
    region = changed_region(picture.size, mask, similarity)
    return Series(attribute, wanted, pictures, picture, seen, region, tuple(poles) if attribute == "race" else ())


def _edits(
    manipulator: Manipulator,
    code: np.ndarray,
    start: np.ndarray,
    attribute: str,
    values: np.ndarray,
    poles: Sequence[str],
    seed: int,
) -> np.ndarray:
    if attribute != "placebo":
        return manipulator.edits(code, start, vary(start, attribute, values.tolist(), poles))
    ends = manipulator.edits(code, start, vary(start, "gender", [values.min(), values.max()]))
    return manipulator.placebo_edits(code, start, values, float(np.sqrt(np.mean(ends**2))), seed)
