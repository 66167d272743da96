"""Regression of mouth widths (distance of the corners by landmarks) on styles.

The compass has a reading of mouths of its own, the spread of their pixels; it follows the thickness of lips, and turning a way against it
did not keep the corners where they were.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from PIL import Image

from portrayal.engine import in_order
from portrayal_faces.generator.device import best_device
from portrayal_faces.generator.directions import regressed
from portrayal_faces.generator.generator import draw_noise, map_noise, truncated
from portrayal_faces.generator.pool import NOISE
from portrayal_faces.generator.studio import SmallStudio, ready_compass
from portrayal_faces.series.judges import pose

STYLES = 4096  # whose mouths are measured
PART = 128  # by a worker at a time


class Looking(SmallStudio):
    """A studio that measures mouths too."""

    def mouths(self, pictures: np.ndarray) -> np.ndarray:
        """Return how wide mouths are, in eye distances."""
        return np.array([pose(Image.fromarray(one))[1] for one in pictures])


@dataclass(frozen=True)
class Mouths:
    """Spread of mouth widths over styles, and their slopes in units of it."""

    spread: float
    slopes: np.ndarray

    def wider(self, narrow: np.ndarray, wide: np.ndarray) -> float:
        """Return by how much mouths are wider."""
        moved = wide - narrow
        if np.isnan(moved).all():
            raise SystemExit("nobody's mouth could be measured at both ends: take more people.")
        return float(np.nanmean(moved)) / self.spread


def find_mouths(seed: int, workers: int) -> Mouths:
    """Measure the mouths of many styles, and regress."""
    parts = list(in_order(measurer, [seed * NOISE + at for at in range(STYLES // PART)], "part", workers))
    styles, widths = (np.concatenate(each) for each in zip(*parts, strict=True))
    seen = ~np.isnan(widths)
    spread = float(widths[seen].std())
    slopes, explained = regressed(styles[seen], widths[seen, None] / spread)
    print(f"mouths: {seen.sum()} of {len(seen)} measured, R2 {explained:.2f}", flush=True)
    return Mouths(spread, slopes[:, 0])


def measurer() -> Callable[[int], tuple[np.ndarray, np.ndarray]]:
    """Return a worker's function that draws a seed's styles and measures mouths."""
    studio, mean = Looking(best_device()[0]), ready_compass().mean

    def measured(seed: int) -> tuple[np.ndarray, np.ndarray]:
        styles = truncated(map_noise(draw_noise(PART, seed)), mean)
        return styles, studio.mouths(studio.render(styles))

    return measured
