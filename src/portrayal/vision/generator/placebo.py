"""Placebos: as large a change as a cue's, along a way of its own that changes no reading."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from portrayal.vision.faces.manifest import WHOLE
from portrayal.vision.generator.directions import Compass
from portrayal.vision.generator.readings import PLACEBO_HELD, places
from portrayal.vision.generator.steering import (
    DAMPING,
    FARTHEST,
    FULL,
    LONGEST,
    Centre,
    Effort,
    Studio,
    shown,
)


def placebo(
    studio: Studio,
    compass: Compass,
    centre: Centre,
    sizes: Sequence[np.ndarray],
    kind: str,
    random: np.random.Generator,
    effort: Effort = FULL,
) -> list[np.ndarray]:
    """Return styles as far from the centre as each of `sizes` says, along one way that changes no reading.

    Of a few random ways, each corrected by what is read, the one that changes readings least is taken for each face; the steps lie on it.

    Parameters
    ----------
    studio, compass, centre, kind
        As for `between`.
    sizes
        The root mean square difference of pictures to reach, one array of n for each step on this side of the centre, smallest first.
    random
        Draws the ways; the other side of a series gets ways of its own.
    effort
        How many ways are tried, and how often each is corrected.
    """
    best, least = np.zeros_like(centre.styles), np.full(len(centre.styles), np.inf)
    for _ in range(effort.tries):
        way = compass.neutral(_drawn_ways(compass, centre, kind, random), PLACEBO_HELD)
        found, error = _quiet(studio, compass, centre, way, sizes[-1], kind, effort.quiet_rounds)
        better = error < least
        best[better], least[better] = found[better], error[better]
    looked = [
        studio.distance(shown(studio, centre.styles + scale * best, centre, kind), centre.pictures)
        for scale in effort.scales
    ]
    grown = np.maximum.accumulate(np.column_stack([np.zeros(len(best)), *looked]), axis=1)
    lengths = [
        np.array([np.interp(one, row, (0.0, *effort.scales)) for one, row in zip(size, grown, strict=True)])
        for size in sizes
    ]
    return [centre.styles + length[:, None] * best for length in lengths]


def _drawn_ways(compass: Compass, centre: Centre, kind: str, random: np.random.Generator) -> np.ndarray:
    """Return a random way for each face: as styles spread, and in whole series more along what they spread most by.

    That is what changes hair and place, as a cue does there. As styles spread, the longest way allowed was too short: 44 of 114
    sides of gender's placebos ended more than a tenth under their axis.
    """
    drawn = random.standard_normal(centre.styles.shape)
    if kind == WHOLE:
        return drawn @ compass.spread
    return drawn @ np.linalg.cholesky(compass.spread + 1e-6 * np.eye(len(compass.spread))).T


def _quiet(
    studio: Studio,
    compass: Compass,
    centre: Centre,
    way: np.ndarray,
    sizes: np.ndarray,
    kind: str,
    rounds: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Return a way corrected until it is as large as wanted and changes no reading, and how much it still changes."""
    at, moves = places(PLACEBO_HELD), compass.moves(PLACEBO_HELD)
    scale = compass.scale[at]
    way = way / np.maximum(compass.lengths(way), 1e-9)[:, None]
    for _ in range(rounds):
        pictures = shown(studio, centre.styles + way, centre, kind)
        off = (centre.readings - studio.read(pictures))[:, at] / scale
        larger = np.maximum(studio.distance(pictures, centre.pictures), 1e-3) / np.maximum(sizes, 1e-3)
        corrected = way + DAMPING * (np.clip(off, -LONGEST, LONGEST) * scale) @ moves
        way = compass.shortened(corrected / np.clip(larger, 0.5, 2.0)[:, None], FARTHEST)
    pictures = shown(studio, centre.styles + way, centre, kind)
    off = (centre.readings - studio.read(pictures))[:, at] / scale
    larger = np.maximum(studio.distance(pictures, centre.pictures), 1e-3) / np.maximum(sizes, 1e-3)
    return way, (off**2).sum(axis=1) + np.log(larger) ** 2
