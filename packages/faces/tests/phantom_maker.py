"""A maker of series that needs no weights: ten levels a unit of the value, everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from portrayal_faces.photographs.editor import conditions
from portrayal_faces.photographs.model import Model
from portrayal_faces.series.series import Series


@dataclass(frozen=True)
class Brighter:
    """Adds ten levels a unit everywhere, also outside the face."""

    identity: str = "brighter"

    def require(self, attribute: str, poles: Sequence[str]) -> None:
        """Refuse what the network that ships does not know."""
        conditions(attribute, [], poles)

    def series(
        self,
        face: np.ndarray,
        attribute: str,
        values: Sequence[float],
        poles: Sequence[str],
        landmarks: np.ndarray | None = None,
    ) -> np.ndarray:
        """Return the face at each value."""
        return np.stack([np.clip(face + 10.0 * value, 0, 255).astype(np.uint8) for value in values])


MADE_UP = Model({"gender": Brighter(), "race": Brighter()})


@dataclass(frozen=True)
class Watched:
    """Makes series as another does and notes them; breaks off at one of them."""

    made: list[Any]
    breaks: int = -1
    identity: str = "watched"

    def series(self, *asked: Any) -> Series:
        """Return the series, or break off."""
        self.made.append(asked)
        if len(self.made) == self.breaks:
            raise KeyboardInterrupt
        return MADE_UP.series(*asked)
