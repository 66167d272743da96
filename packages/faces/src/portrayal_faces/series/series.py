"""A series: one picture, one attribute, several values. Refuses whoever is no adult or gave no consent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from portrayal.errors import PortrayalError
from portrayal_faces.series.suitability import REASONS, Inspection

# Words that are no source and no consent; "generated" and words of your own ("signed 2026-03-01") are.
NO_SOURCE = ("", "none", "unknown", "null", "nan", "n/a", "na", "-", "?")
NO_CONSENT = ("no", "not given", "no consent", "refused", "denied", "withdrawn", "revoked", "pending", "false", "0")
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
    """Refuse a picture whose entry names no source or no consent."""
    for field in ("source", "consent"):
        told = str(entry.get(field) or "").strip()
        if told.lower() in NOTHING:
            found = f"the {field} entry {told!r}, which records none" if told else f"no {field} entry"
            raise PortrayalError(
                f"picture {name!r} has {found}. A face is manipulated only with a recorded source and consent."
            )


class Changer(Protocol):
    """Whatever makes series of photographs; its identity tells it apart in names of folders."""

    @property
    def identity(self) -> str:
        """A hash of all it is made of."""

    def series(self, picture: Any, seen: Inspection, axis: Sequence[str], masked: bool = True, seed: int = 0) -> Series:
        """Return the series of an axis: an attribute, and the two poles of race."""


def seen_landmarks(seen: Inspection) -> np.ndarray:
    """Return the landmarks of a face that was seen, or refuse it for the reason there is against it."""
    if seen.face is None or seen.reason:
        raise PortrayalError(f"this face is not manipulated: {REASONS[seen.reason or 'no face']}.")
    return seen.face.landmarks
