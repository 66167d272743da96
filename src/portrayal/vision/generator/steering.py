"""Finding styles with wanted readings: look, compare, correct, a few times over; held readings are steered as the cue is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from portrayal.vision.generator.directions import Compass
from portrayal.vision.generator.readings import (
    CONTRASTS,
    HELD,
    PAIR_LEVELS,
    PAIRS,
    PLACEBO_HELD,
    places,
)

ROUNDS, DAMPING = 8, 0.7
CUE_COUNTS = 3.0  # the cue itself weighs more than each held reading, or a face is best left where it was
FARTHEST = 5.0  # standard deviations of styles: a guess, not yet tried on the generator
LONGEST = 1.5  # standard deviations a reading may be corrected by in one round
REACH = {"gender": 2.6, "race": 3.6}  # the reading at value 2 (log odds); at -2 it is the same with a minus
SIZE_COUNTS = 10.0  # a placebo a tenth too large is as bad as a reading a standard deviation off
PAIR_LEVEL = 1.0  # log odds of being read as one of a pair's two groups, the same for everybody
KINDS = ("face only", "whole")


class Studio(Protocol):
    """Whatever makes pictures of styles and reads them; what its pictures are made of is its own affair."""

    def render(self, styles: np.ndarray) -> Any:
        """Return the pictures of styles."""

    def regions(self, pictures: Any) -> Any:
        """Return each pixel's probability of being face, ears or neck."""

    def over(self, pictures: Any, centre: Centre) -> Any:
        """Return the faces of pictures laid over their centre."""

    def read(self, pictures: Any) -> np.ndarray:
        """Return the readings of COLUMNS."""

    def distance(self, pictures: Any, others: Any) -> np.ndarray:
        """Return the root mean square difference of pictures in levels, one number each."""


@dataclass(frozen=True)
class Centre:
    """The neutral point of a series: styles, their pictures and what of them is face."""

    styles: np.ndarray
    pictures: Any
    regions: Any
    readings: np.ndarray


@dataclass(frozen=True)
class Line:
    """One cue: its name in lists, its poles, the reading that varies and those that are held."""

    attribute: str
    poles: tuple[str, ...]
    varied: str
    held: tuple[str, ...]
    level: str | None = None


def lines() -> list[Line]:
    """Return gender and the three pairs of race."""
    pairs = zip(PAIRS, CONTRASTS, PAIR_LEVELS, strict=True)
    race = [Line("race", pair, contrast, HELD["race"], level) for pair, contrast, level in pairs]
    return [Line("gender", (), "gender", HELD["gender"]), *race]


def find_centre(studio: Studio, compass: Compass, styles: np.ndarray, line: Line) -> Centre:
    """Bring everybody to the cue's neutral point, everything held as it was."""
    start = studio.read(studio.render(styles))
    names, wanted = _wanted(line, start, 0.0)
    found = steer(studio, compass, styles, names, wanted)
    pictures = studio.render(found)
    return Centre(found, pictures, studio.regions(pictures), studio.read(pictures))


def walk(
    studio: Studio, compass: Compass, centre: Centre, line: Line, value: float, kind: str
) -> tuple[np.ndarray, Any]:
    """Return styles and pictures at one value (-2 to 2) of a cue, from the centre."""
    if value == 0:
        return centre.styles, centre.pictures
    names, wanted = _wanted(line, centre.readings, value / 2 * REACH[line.attribute])
    found = steer(studio, compass, centre.styles, names, wanted, centre if kind == "face only" else None)
    return found, shown(studio, found, centre, kind)


def shown(studio: Studio, styles: np.ndarray, centre: Centre, kind: str) -> Any:
    """Return the pictures of styles, of the face only or whole."""
    pictures = studio.render(styles)
    return pictures if kind == "whole" else studio.over(pictures, centre)


def steer(
    studio: Studio,
    compass: Compass,
    styles: np.ndarray,
    names: Sequence[str],
    wanted: np.ndarray,
    over: Centre | None = None,
    rounds: int = ROUNDS,
) -> np.ndarray:
    """Correct styles until their readings are those wanted; returns for each face the best styles that were seen.

    Parameters
    ----------
    studio, compass
        Who renders and reads, and which way to go.
    styles
        Where to start, n x 512.
    names, wanted
        The readings steered, the cue first, and their values, n x names.
    over
        Blend over this centre before reading: steps are then even in what the face alone shows.
    rounds
        How often to correct.
    """
    at, moves = places(list(names)), compass.moves(names)
    scale, weights = compass.scale[at], np.array([CUE_COUNTS, *[1.0] * (len(at) - 1)])
    best, least = styles.copy(), np.full(len(styles), np.inf)
    now = styles.copy()
    for turn in range(rounds + 1):
        pictures = studio.render(now) if over is None else shown(studio, now, over, "face only")
        off = (wanted - studio.read(pictures)[:, at]) / scale
        error = ((off * weights) ** 2).sum(axis=1)
        better = error < least
        best[better], least[better] = now[better], error[better]
        if turn < rounds:
            now = now + DAMPING * (np.clip(off, -LONGEST, LONGEST) * scale) @ moves
            now = styles + compass.shortened(now - styles, FARTHEST)
    return best


def placebo(
    studio: Studio,
    compass: Compass,
    centre: Centre,
    ways: np.ndarray,
    sizes: np.ndarray,
    sign: int,
    kind: str,
) -> tuple[np.ndarray, Any]:
    """Return styles and pictures as far from the centre as `sizes` says, along ways that change no reading.

    Parameters
    ----------
    studio, compass, centre, kind
        As for `walk`.
    ways
        One random way a face, n x 512.
    sizes
        The root mean square difference of pictures to reach, n.
    sign
        -1 or 1: which side.
    """
    at, moves = places(PLACEBO_HELD), compass.moves(PLACEBO_HELD)
    scale, ways = compass.scale[at], compass.neutral(ways, PLACEBO_HELD)
    length, correction = np.full(len(ways), 0.5), np.zeros_like(ways)
    best, least = centre.styles.copy(), np.full(len(ways), np.inf)
    for _ in range(ROUNDS + 2):
        now = centre.styles + sign * length[:, None] * ways + correction
        pictures = shown(studio, now, centre, kind)
        off = (centre.readings - studio.read(pictures))[:, at] / scale
        size = studio.distance(pictures, centre.pictures)
        larger = np.maximum(size, 1e-3) / np.maximum(sizes, 1e-3)
        error = (off**2).sum(axis=1) + (SIZE_COUNTS * np.log(larger)) ** 2
        better = error < least
        best[better], least[better] = now[better], error[better]
        length = length / np.clip(larger, 0.5, 2.0)
        length = np.minimum(length, FARTHEST / np.maximum(compass.lengths(ways), 1e-9))
        correction = correction + DAMPING * (np.clip(off, -LONGEST, LONGEST) * scale) @ moves
    return best, shown(studio, best, centre, kind)


def _wanted(line: Line, start: np.ndarray, value: float) -> tuple[list[str], np.ndarray]:
    """Name the readings to steer and their values: the cue's, the pair's level, and what is held as at the start."""
    names = [line.varied, *((line.level,) if line.level else ()), *line.held]
    wanted = start[:, places(names)].copy()
    wanted[:, 0] = value
    if line.level:
        wanted[:, 1] = PAIR_LEVEL
    return names, wanted
