"""A series: one picture, one attribute, several values; adults with consent only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from portrayal.errors import PortrayalError
from portrayal_faces.series.suitability import REASONS, Inspection


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


class Changer(Protocol):
    """Whatever makes series of photographs; its identity tells it apart in names of folders."""

    @property
    def identity(self) -> str:
        """A hash of all it is made of."""

    def series(self, picture: Any, seen: Inspection, axis: Sequence[str], masked: bool = True, seed: int = 0) -> Series:
        """Return the series of an axis: an attribute, and the two poles of race."""


def seen_landmarks(seen: Inspection) -> np.ndarray:
    """Return the landmarks of an inspected face, or refuse it for its reason."""
    if seen.face is None or seen.reason:
        raise PortrayalError(f"this face is not manipulated: {REASONS[seen.reason or 'no face']}.")
    return seen.face.landmarks
