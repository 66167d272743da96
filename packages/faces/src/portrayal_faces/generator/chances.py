"""Chance that a style shows an eligible person, estimated before it is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
from scipy.special import log_ndtr

from portrayal_faces.generator.directions import Compass
from portrayal_faces.generator.people import SURE, YOUNGEST, YOUNGEST_AGAIN
from portrayal_faces.generator.readings import COLUMNS, GROUPS, places

GENDERS = ("female", "male")
Cell = tuple[str, str]  # perceived gender and group
CELLS: tuple[Cell, ...] = tuple(product(GENDERS, GROUPS))
FACING, BARE = 1.3, 0.6  # standard deviations from the mean face: who faces the camera, without glasses
MOST_EXPLAINED = 0.98  # of a reading: keeps what cannot be foreseen of it above nothing


def likeliest(
    compass: Compass, middle: np.ndarray, styles: np.ndarray, count: int, cells: Sequence[Cell]
) -> np.ndarray:
    """Return the indices of the likeliest frontal adults, equally many of every cell."""
    expected = middle + (styles - compass.mean) @ compass.slopes
    unforeseen = compass.scale * np.sqrt(1 - np.minimum(compass.explained, MOST_EXPLAINED))
    indices: dict[int, None] = {}
    for cell in cells:
        chance = chance_of(cell, expected, unforeseen) + _seen_well(expected - middle, unforeseen, compass.scale)
        order = np.argsort(-chance, kind="stable").tolist()
        indices |= dict.fromkeys([one for one in order if one not in indices][: count // len(cells)])
    return np.array(sorted(indices), dtype=int)


def chance_of(cell: Cell, expected: np.ndarray, unforeseen: np.ndarray) -> np.ndarray:
    """Return the log chance that each is read as an adult of a cell.

    Readings are taken to err independently.
    """
    gender, group = cell
    side = 1 if gender == GENDERS[1] else -1
    wanted = [
        ("gender", side, 0.0),
        (group, 1, SURE),
        ("years", 1, (YOUNGEST_AGAIN - 40) / 15),
        ("wild age", 1, (YOUNGEST - 40) / 15),
    ]
    return sum(
        (_above(name, sign, least, expected, unforeseen) for name, sign, least in wanted), start=np.zeros(len(expected))
    )


def is_seen_well(readings: np.ndarray, middle: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Return who faces the camera and wears no glasses, beside the mean face."""
    yaw, glasses = ((readings - middle) / scale)[:, places(["yaw", "glasses"])].T
    return (np.abs(yaw) < FACING) & (glasses < BARE)


def _seen_well(off: np.ndarray, unforeseen: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Return the log of how likely each is to face the camera without glasses."""
    ahead, bare = FACING * scale[COLUMNS.index("yaw")], BARE * scale[COLUMNS.index("glasses")]
    sides = (("yaw", 1, -ahead), ("yaw", -1, -ahead), ("glasses", -1, -bare))
    return sum((_above(name, sign, least, off, unforeseen) for name, sign, least in sides), start=np.zeros(len(off)))


def _above(name: str, sign: int, least: float, expected: np.ndarray, unforeseen: np.ndarray) -> np.ndarray:
    """Return the log chance that a reading (negated with sign -1) exceeds the least."""
    at = COLUMNS.index(name)
    return log_ndtr((sign * expected[:, at] - least) / unforeseen[at])
