"""Photographs moved by the difference of two groups' mean faces, in shape and colour.

The difference is laid onto a face's own eyes, nose and mouth. Colours are moved in log odds, so that dark skin stays above black and
light skin below white. At 0 nothing is changed. The differences were worked out on adults of FairFace
(`python -m training.photographs.mean_faces`), and how far each pair goes was chosen on such adults too (`strengths`).

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
from zipfile import BadZipFile

import numpy as np

from portrayal.errors import PortrayalError
from portrayal_faces.photographs.editor import CUES, SIDE, checked, conditions

DARKEST = 0.02  # of the range of levels: below it, and as near to white, log odds no longer grow
KNOTS = 33  # along a side: where the warp between landmarks is worked out; in between it is linear
SHAPES = {
    "flow": (len(CUES), 2, SIDE, SIDE),
    "colour": (len(CUES), SIDE, SIDE, 3),
    "landmarks": (5, 2),
    "strengths": (len(CUES),),
}
MAKE_IT = "Make one with python -m training.photographs.mean_faces."
Cue = tuple[str, tuple[str, ...]]


@dataclass(frozen=True)
class Difference:
    """Difference of two mean faces: a flow in pixels and log odds of colour."""

    flow: np.ndarray
    colour: np.ndarray

    def changed(self, face: np.ndarray, strength: float) -> np.ndarray:
        """Return a face (uint8) moved by a share of the difference."""
        places, odds = np.indices(face.shape[:2]) - strength * self.flow, log_odds(face)
        # The change is added, so that levels whose log odds are cut stay what they are where nothing changes.
        moved = sampled(face + levels(odds + strength * self.colour) - levels(odds), places)
        return np.clip(np.rint(moved), 0, 255).astype(np.uint8)

    def laid(self, places: np.ndarray) -> Difference:
        """Return the difference as it lies on a face, given corresponding places."""
        flow = sampled(self.flow.transpose(1, 2, 0), places)
        return Difference(flow.transpose(2, 0, 1), sampled(self.colour, places))


@dataclass(frozen=True)
class Means:
    """Differences by cue, the mean face's landmarks, strengths, and a digest."""

    differences: Mapping[Cue, Difference]
    landmarks: np.ndarray  # left and right eye, nose, corners of the mouth (x, y)
    strengths: Mapping[Cue, float]  # of half a difference, at value 1
    identity: str

    def require(self, attribute: str, poles: Sequence[str]) -> None:
        """Refuse a cue that is none of CUES."""
        conditions(attribute, [], poles)

    def series(
        self,
        face: np.ndarray,
        attribute: str,
        values: Sequence[float],
        poles: Sequence[str] = (),
        landmarks: np.ndarray | None = None,
    ) -> np.ndarray:
        """Return the aligned face at each value of a cue; unchanged at 0.

        Without `landmarks` its eyes, nose and mouth are taken to lie where the mean face has them.
        """
        self.require(attribute, poles)
        there = (attribute, tuple(poles)) in CUES
        cue = (attribute, tuple(poles) if there else tuple(poles)[::-1])
        difference, sign = self.differences[cue], self.strengths[cue] / 2 * (1 if there else -1)
        if landmarks is not None:
            difference = difference.laid(warp(landmarks, self.landmarks))
        return np.stack([difference.changed(checked(face), sign * value) for value in values])


@cache
def open_means(path: Path) -> Means:
    """Read the differences of a file."""
    if not path.is_file():
        raise PortrayalError(f"expected the differences of mean faces at {path}, but there is no file.")
    arrays = _arrays(path)
    pairs = zip(arrays["flow"].astype(float), arrays["colour"].astype(float), strict=True)
    differences = {cue: Difference(*pair) for cue, pair in zip(CUES, pairs, strict=True)}
    strengths = dict(zip(CUES, arrays["strengths"].tolist(), strict=True))
    identity = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    return Means(differences, arrays["landmarks"].astype(float), strengths, identity)


def _arrays(path: Path) -> dict[str, np.ndarray]:
    """Read the arrays of a file, or name the one that is wrong."""
    try:
        with np.load(path) as opened:
            arrays = {name: opened[name] for name in opened}
    except (OSError, ValueError, TypeError, BadZipFile) as error:  # what numpy says of it is about unpickling
        raise PortrayalError(f"{path} is no file of arrays (.npz). {MAKE_IT}") from error
    for name, shape in SHAPES.items():
        seen = arrays[name].shape if name in arrays else "nothing"
        if seen != shape:
            raise PortrayalError(f"{path}: expected {name!r} of {shape}, but got {seen}. {MAKE_IT}")
    return arrays


def warp(source: np.ndarray, wanted: np.ndarray, side: int = SIDE) -> np.ndarray:
    """Return each pixel's place (rows, columns) in another face, by their landmarks.

    Between them it is a thin plate's bending.

    Examples
    --------
    >>> still = np.array([[30.0, 40.0], [70.0, 40.0], [50.0, 60.0]])
    >>> np.allclose(warp(still, still, 100), np.indices((100, 100)))
    True
    """
    from scipy.interpolate import RBFInterpolator
    from scipy.ndimage import zoom

    ends = (0.0, side / 2, float(side - 1))
    edge = np.array([(x, y) for x in ends for y in ends if (x, y) != (side / 2, side / 2)])
    line = np.linspace(0, side - 1, KNOTS)
    knots = np.stack(np.meshgrid(line, line), -1).reshape(-1, 2)
    bend = RBFInterpolator(np.concatenate([source, edge]), np.concatenate([wanted - source, 0 * edge]))
    off = bend(knots).reshape(KNOTS, KNOTS, 2)
    return np.indices((side, side)) + np.stack([zoom(off[:, :, axis], side / KNOTS, order=1) for axis in (1, 0)])


def log_odds(pixels: np.ndarray) -> np.ndarray:
    """Return levels (0 to 255) as log odds of being lit."""
    share = np.clip(pixels / 255, DARKEST, 1 - DARKEST)
    return np.log(share / (1 - share))


def levels(odds: np.ndarray) -> np.ndarray:
    """Return the levels of log odds."""
    return 255 / (1 + np.exp(-odds))


def sampled(face: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return a face at places (rows, columns), linearly; beyond its edge the edge."""
    from scipy.ndimage import map_coordinates

    layers = [
        map_coordinates(face[:, :, one].astype(float), places, order=1, mode="nearest") for one in range(face.shape[2])
    ]
    return np.stack(layers, -1)
