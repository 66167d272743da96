"""A studio of drawn squares: a style is drawn as one grey square for each reading that it promises, and read from that again."""

from __future__ import annotations

import numpy as np

from portrayal_faces.generator.readings import READ, with_pairs
from portrayal_faces.generator.studio import SIDE, SmallStudio, ready_compass
from portrayal_faces.series.attributes import RACES

LEVELS, EACH = 10.0, 32  # levels of 255 for 1 of a reading, pixels of its square
AT_REST = np.array([0, 0.6, 0.6, 0.6, 0, *[-2.0] * len(RACES), *[0.0] * 6])  # 49 years


def drawn_squares(styles: np.ndarray, side: int) -> np.ndarray:
    """Draw a grey square for each reading that the directions which ship promise of a style."""
    compass = ready_compass()
    read = AT_REST + (styles - compass.mean) @ compass.slopes[:, : len(READ)]
    grid = np.zeros((len(styles), 64))
    grid[:, : len(READ)] = read * LEVELS
    squares = np.clip(np.rint(128 + grid), 0, 255).astype(np.uint8).reshape(-1, 8, 8)
    each = side // 8
    return np.repeat(squares.repeat(each, axis=1).repeat(each, axis=2)[..., None], 3, axis=3)


class DrawnStudio(SmallStudio):
    """Reads its squares again; everything is face. After `last` faces the plug is pulled. `series` counts those whose years were read."""

    def __init__(self, last: int = 10**9) -> None:
        super().__init__(drawn_squares)
        self.last, self.looked, self.series = last, 0, 0

    def drawn(self, styles: np.ndarray, side: int) -> np.ndarray:
        if self.renders + len(styles) > self.last:
            raise KeyboardInterrupt
        return super().drawn(styles, side)

    def regions(self, pictures: np.ndarray) -> np.ndarray:
        return np.ones((len(pictures), SIDE, SIDE), np.float32)

    def read(self, pictures: np.ndarray) -> np.ndarray:
        each = pictures.shape[1] // 8
        levels = pictures[:, each // 2 :: each, each // 2 :: each, 0].reshape(len(pictures), 64)
        read = (levels[:, : len(READ)].astype(float) - 128) / LEVELS
        races = slice(READ.index(RACES[0]), READ.index(RACES[-1]) + 1)
        read[:, races] -= np.log(np.exp(read[:, races]).sum(axis=1, keepdims=True))
        return with_pairs(read)

    def plain(self, pictures: np.ndarray) -> np.ndarray:
        return np.ones(len(pictures), dtype=bool)

    def years(self, pictures: np.ndarray) -> np.ndarray:
        self.looked += 1
        self.series += len(pictures) > 1
        return 40 + 15 * self.read(pictures)[:, READ.index("age")]
