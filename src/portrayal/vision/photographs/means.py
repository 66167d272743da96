"""A photograph moved by the difference of two groups' mean faces, in shape and in colour, as far as a value says.

At 0 nothing is changed. The differences were worked out on adults of FairFace (`python -m training.photographs.mean_faces`).

References
----------
.. [1] Rowland, Perrett (1995), Manipulating facial appearance through shape and color, IEEE Computer Graphics and Applications 15, 70-76.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from portrayal.errors import PortrayalError
from portrayal.vision.photographs.editor import CUES, checked, conditions

# Of half a difference of means, at value 1: on people who are not held out 1.5 moved perceived age by more than 2.5 years.
STRENGTH = 1.0
Cue = tuple[str, tuple[str, ...]]


@dataclass(frozen=True)
class Difference:
    """What leads from the first mean face to the second: a flow in pixels (2 x side x side) and colours (side x side x 3)."""

    flow: np.ndarray
    colour: np.ndarray

    def changed(self, face: np.ndarray, strength: float) -> np.ndarray:
        """Return a face (uint8) moved by a share of the difference."""
        places = np.indices(face.shape[:2]) - strength * self.flow
        moved = sampled(face + strength * self.colour, places)
        return np.clip(np.rint(moved), 0, 255).astype(np.uint8)


@dataclass(frozen=True)
class Means:
    """The differences by cue, and what tells them apart."""

    differences: Mapping[Cue, Difference]
    identity: str
    strength: float = STRENGTH

    def require(self, attribute: str, poles: Sequence[str]) -> None:
        """Refuse a cue that is none of CUES."""
        conditions(attribute, [], poles)

    def series(
        self, face: np.ndarray, attribute: str, values: Sequence[float], poles: Sequence[str] = ()
    ) -> np.ndarray:
        """Return the face (in the generator's alignment, uint8) at each value of a cue; at 0 as it was."""
        self.require(attribute, poles)
        there = (attribute, tuple(poles)) in CUES
        found = self.differences[attribute, tuple(poles) if there else tuple(poles)[::-1]]
        sign = self.strength / 2 * (1 if there else -1)
        return np.stack([found.changed(checked(face), sign * value) for value in values])


@cache
def open_means(path: Path) -> Means:
    """Read the differences of a file."""
    if not path.is_file():
        raise PortrayalError(f"expected the differences of mean faces at {path}, but there is no file.")
    with np.load(path) as kept:
        pairs = zip(kept["flow"].astype(float), kept["colour"].astype(float), strict=True)
        found = {cue: Difference(*pair) for cue, pair in zip(CUES, pairs, strict=True)}
    return Means(found, hashlib.sha256(path.read_bytes() + str(STRENGTH).encode()).hexdigest()[:16])


def sampled(face: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return a face at places (rows, columns), linearly; beyond its edge the edge."""
    from scipy.ndimage import map_coordinates

    layers = [
        map_coordinates(face[:, :, one].astype(float), places, order=1, mode="nearest") for one in range(3)
    ]
    return np.stack(layers, -1)
