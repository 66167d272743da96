"""Placebos: changes as large as a cue's that change no reading."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from portrayal.pictures.series.manifest import WHOLE
from portrayal_faces.generator.directions import Compass
from portrayal_faces.generator.readings import AGES, LOOKS, PLACEBO_HELD, places
from portrayal_faces.generator.steering import (
    AGE_COUNTS,
    BACKGROUND,
    CUE_COUNTS,
    DAMPING,
    FARTHEST,
    FULL,
    LONGEST,
    Centre,
    Effort,
    Line,
    Studio,
    levelling,
    pictures_of,
)

# Of the ways tried in whole series, one that moves a cue loses first: at a cue's centre a small move turns what is perceived.
COUNTS = {**dict.fromkeys(PLACEBO_HELD, CUE_COUNTS), **dict.fromkeys(AGES, AGE_COUNTS), **dict.fromkeys(LOOKS, 1.0)}


def placebo(
    studio: Studio,
    compass: Compass,
    centre: Centre,
    sizes: Sequence[np.ndarray],
    kind: str,
    random: np.random.Generator,
    effort: Effort = FULL,
    line: Line | None = None,
) -> list[np.ndarray]:
    """Return styles at given distances from the centre along one way without readings.

    Of a few random ways, each corrected by what is read, the one that changes readings least is taken for each face; the steps lie on it.
    In whole series it is then bent once more, so that its end reads as the centre does: in the background's brightness, as a cue's way is
    (it was left 2.5 levels off when corrected with everything else), and where the cue is gender, in gender. FARTHEST holds for the way
    before that.
    """
    best, least = np.zeros_like(centre.styles), np.full(len(centre.styles), np.inf)
    for _ in range(effort.tries):
        way = compass.neutral(_drawn_ways(compass, centre, kind, random), PLACEBO_HELD)
        candidates, error = _quiet(studio, compass, centre, way, sizes[-1], kind, effort.quiet_rounds)
        better = error < least
        best[better], least[better] = candidates[better], error[better]
    if kind == WHOLE:
        for reading, names in _levelled(line):
            best = best + levelling(studio, compass, centre, centre.styles + best, reading, names)
    lengths = _lengths(studio, centre, best, sizes, kind, effort.scales)
    return [centre.styles + length[:, None] * best for length in lengths]


def _levelled(line: Line | None) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the readings to level at the end of a whole placebo, with their companions.

    Where nobody is read as a woman or a man faces answer by more than the compass says, so corrected as one of many gender was left off. It
    comes last, since its check is the narrower one. Beside race no check asked for as much.
    """
    yield BACKGROUND, PLACEBO_HELD
    if line is not None and line.attribute == "gender":
        yield line.varied, (line.varied, *line.held)


def _lengths(
    studio: Studio, centre: Centre, way: np.ndarray, sizes: Sequence[np.ndarray], kind: str, scales: Sequence[float]
) -> list[np.ndarray]:
    """Return the shares of each face's way that are as large as `sizes`."""
    looked = [
        studio.distance(pictures_of(studio, centre.styles + scale * way, centre, kind), centre.pictures)
        for scale in scales
    ]
    grown = np.maximum.accumulate(np.column_stack([np.zeros(len(way)), *looked]), axis=1)
    return [
        np.array([np.interp(one, row, (0.0, *scales)) for one, row in zip(size, grown, strict=True)]) for size in sizes
    ]


def _drawn_ways(compass: Compass, centre: Centre, kind: str, random: np.random.Generator) -> np.ndarray:
    """Return a random way for each face, drawn from the spread of styles.

    That is what changes hair and place, as a cue does there: as styles spread, the longest way allowed was too short. What would make
    somebody else of a face is left out of it, as it is of a cue's way: by one of two judges placebos moved P(female) by .03 to .07.
    """
    drawn = random.standard_normal(centre.styles.shape)
    if kind == WHOLE:
        return drawn @ compass.near
    return drawn @ np.linalg.cholesky(compass.spread + 1e-6 * np.eye(len(compass.spread))).T


def _quiet(
    studio: Studio, compass: Compass, centre: Centre, way: np.ndarray, sizes: np.ndarray, kind: str, rounds: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return a way corrected to its size without changing a reading, and its remaining change."""
    at, moves = places(PLACEBO_HELD), compass.moves(PLACEBO_HELD)
    scale = compass.scale[at]
    way = way / np.maximum(compass.lengths(way), 1e-9)[:, None]
    for _ in range(rounds):
        pictures = pictures_of(studio, centre.styles + way, centre, kind)
        off = (centre.readings - studio.read(pictures))[:, at] / scale
        larger = np.maximum(studio.distance(pictures, centre.pictures), 1e-3) / np.maximum(sizes, 1e-3)
        corrected = way + DAMPING * (np.clip(off, -LONGEST, LONGEST) * scale) @ moves
        way = compass.shortened(corrected / np.clip(larger, 0.5, 2.0)[:, None], FARTHEST)
    pictures = pictures_of(studio, centre.styles + way, centre, kind)
    off = (centre.readings - studio.read(pictures))[:, at] / scale
    larger = np.maximum(studio.distance(pictures, centre.pictures), 1e-3) / np.maximum(sizes, 1e-3)
    return way, _unrest(off, larger, kind)


def _unrest(off: np.ndarray, larger: np.ndarray, kind: str) -> np.ndarray:
    """Return the unwanted change of ways and their error of size, as one penalty."""
    weights = np.array([COUNTS[name] for name in PLACEBO_HELD]) if kind == WHOLE else 1.0
    return ((off * weights) ** 2).sum(axis=1) + np.log(larger) ** 2
