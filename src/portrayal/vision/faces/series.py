"""A series: one picture, one attribute, several values. Refuses whoever is no adult or gave no consent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from portrayal.errors import PortrayalError
from portrayal.vision.faces.align import Similarity, fit_similarity
from portrayal.vision.faces.attributes import steps, vary
from portrayal.vision.faces.mask import oval, skin_mask
from portrayal.vision.faces.model import Manipulator
from portrayal.vision.faces.paste import changed_region, paste
from portrayal.vision.faces.suitability import REASONS, Inspection
from portrayal.vision.faces.temper import tempered

# Words that are no source and no consent; "generated" and words of your own ("signed 2026-03-01") are.
NO_SOURCE = ("", "none", "unknown", "null", "nan", "n/a", "na", "-", "?")
NO_CONSENT = (
    "no",
    "not given",
    "no consent",
    "refused",
    "denied",
    "withdrawn",
    "revoked",
    "pending",
    "false",
    "0",
)
NOTHING = (*NO_SOURCE, *NO_CONSENT)


@dataclass(frozen=True)
class Series:
    """The pictures of one series, and what they were made from."""

    attribute: str
    values: np.ndarray
    pictures: list[Any]
    original: Any
    face: Inspection
    region: np.ndarray  # where the picture may have changed
    poles: tuple[str, ...] = ()  # of race: the groups at -1 and 1

    @property
    def landmarks(self) -> np.ndarray:
        """The five landmarks of the face."""
        if self.face.face is None:
            raise PortrayalError("a series without a face has no landmarks.")
        return self.face.face.landmarks


def require_consent(entry: Mapping[str, Any], name: str) -> None:
    """Refuse a picture whose entry names no source or no consent.

    Raises
    ------
    PortrayalError
        Naming the picture and what is missing.
    """
    for field in ("source", "consent"):
        if str(entry.get(field) or "").strip().lower() in NOTHING:
            raise PortrayalError(
                f"picture {name!r} has no {field} entry. A face is manipulated only with a recorded source and consent."
            )


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
    """Manipulate the face that was seen in a picture.

    Parameters
    ----------
    picture
        A PIL image.
    seen
        What `inspect_face` said of it; anything it has a reason against is refused.
    manipulator
        The model.
    attribute
        'gender', 'race', or 'placebo' (a random direction as large as the gender axis). Never age.
    values
        The steps; by default 7 for gender and placebo, 5 for race, from -2 to 2.
    poles
        For race, the groups at -1 and 1.
    masked
        False changes the whole oval, not only its skin (an ablation).
    seed
        Of the placebo's direction.
    """
    if seen.face is None or seen.reason:
        raise PortrayalError(f"this face is not manipulated: {REASONS[seen.reason or 'no face']}.")
    wanted = (
        steps("gender" if attribute == "placebo" else attribute)
        if values is None
        else np.asarray(values, float)
    )
    aligned = np.asarray(seen.aligned)
    code, start = manipulator.encode(aligned)
    edits = _edits(manipulator, code, start, attribute, wanted, poles, seed)
    edits = tempered(edits, aligned, even=attribute == "race")
    mask = skin_mask(aligned) if masked else oval()
    similarity = fit_similarity(seen.face.landmarks)
    pictures = [paste(picture, edit, mask, similarity) for edit in edits]
    region = _region(picture, mask, similarity)
    return Series(
        attribute, wanted, pictures, picture, seen, region, tuple(poles) if attribute == "race" else ()
    )


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


def _region(picture: Any, mask: np.ndarray, similarity: Similarity) -> np.ndarray:
    return changed_region(picture.size, mask, similarity)
