"""Directions in the space of styles that change one reading and keep the others.

Readings are regressed on styles (ridge). A move takes the way most probable under the styles' own spread, as in transects
of a generator's space; linear readings are only the compass, and `steering.py` corrects by what is really read.

References
----------
.. [1] Balakrishnan, Xiong, Xia, Perona (2020), Towards causal benchmarking of bias in face analysis algorithms, ECCV.
.. [2] Shen, Gu, Tang, Zhou (2020), Interpreting the latent space of GANs for semantic face editing, CVPR.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from portrayal.pictures.series.manifest import FACE_ONLY
from portrayal_faces.generator.readings import COLUMNS, places

RIDGE = 0.02  # of the mean variance of a style's coordinate
IDENTITY = 100.0  # chosen by trying: see the card
SLACK = 1e-3  # of a reading's own explained variance: keeps nearly equal readings from calling for long moves


@dataclass(frozen=True)
class Compass:
    """Linear model of readings: mean style, spread, slopes, and how much they explain."""

    mean: np.ndarray  # 512
    spread: np.ndarray  # 512 x 512, of styles
    slopes: np.ndarray  # 512 x readings
    scale: np.ndarray  # standard deviation of each reading
    explained: np.ndarray  # R2 of each reading
    near: np.ndarray  # 512 x 512, the spread of styles less what would make somebody else of a face
    # By cue (and kind of series, where it is not FACE_ONLY), the move that changes it by 1, corrected by what was seen to drift along
    # it (`training/generated/calibrate.py` and `whole_ways.py`).
    ways: dict[str, np.ndarray] = field(default_factory=dict)

    def way(self, varied: str, controls: Sequence[str], kind: str = FACE_ONLY) -> np.ndarray:
        """Return the move that changes a cue by 1 in series of a kind."""
        known = self.ways.get(way_name(varied, kind), self.ways.get(varied))
        return self.moves([varied, *controls])[0] if known is None else known

    def moves(self, names: Sequence[str]) -> np.ndarray:
        """Return the moves that each change one reading by 1 and no other."""
        return self.moves_of(self.slopes[:, places(list(names))])

    def moves_of(self, slopes: np.ndarray) -> np.ndarray:
        """Return the moves of readings whose slopes (512 x readings) are given."""
        along = self.near @ slopes
        inner = slopes.T @ along
        return np.linalg.solve(inner + SLACK * np.diag(np.diag(inner)), along.T)

    def neutral(self, way: np.ndarray, names: Sequence[str]) -> np.ndarray:
        """Return a way (rows of 512) less what would change the readings named."""
        return way - (way @ self.slopes[:, places(list(names))]) @ self.moves(names)

    def lengths(self, moves: np.ndarray) -> np.ndarray:
        """Return how long moves are in standard deviations of styles (Mahalanobis)."""
        floor = 1e-4 * np.trace(self.spread) / len(self.spread) * np.eye(len(self.spread))
        return np.sqrt(np.sum(moves * np.linalg.solve(self.spread + floor, moves.T).T, axis=1))

    def shortened(self, moves: np.ndarray, longest: float) -> np.ndarray:
        """Return moves of at most this length, the way unchanged."""
        return moves * np.minimum(1.0, longest / np.maximum(self.lengths(moves), 1e-9))[:, None]

    def keeping(self, recognised: np.ndarray, weight: float = IDENTITY) -> Compass:
        """Return the compass whose moves cost as little identity as they can."""
        floor = 1e-4 * np.trace(self.spread) / len(self.spread) * np.eye(len(self.spread))
        cost = np.linalg.inv(self.spread + floor) + weight * recognised @ recognised.T
        return replace(self, near=np.linalg.inv(cost))

    def save(self, path: Path, half: bool = False) -> None:
        """Write it; half of it in 16 bits, which change no move by a hundredth."""
        large = {"spread": self.spread, "near": self.near, "slopes": self.slopes}
        arrays = {name: values.astype(np.float16 if half else np.float32) for name, values in large.items()}
        np.savez_compressed(path, mean=self.mean.astype(np.float32), scale=self.scale, explained=self.explained,
                            names=np.array(COLUMNS), cues=np.array(list(self.ways), dtype=str), allow_pickle=False,
                            ways=np.array(list(self.ways.values()), np.float32).reshape(-1, len(self.mean)), **arrays)  # fmt: skip


def way_name(varied: str, kind: str) -> str:
    """Return what a cue's way is called among `Compass.ways`."""
    return varied if kind == FACE_ONLY else f"{varied}, {kind}"


def find_compass(styles: np.ndarray, readings: np.ndarray, mean: np.ndarray) -> Compass:
    """Regress readings (n x COLUMNS) on styles (n x 512)."""
    centred, wanted = styles - styles.mean(axis=0), readings - readings.mean(axis=0)
    spread, slopes = _ridge(centred, wanted)
    explained = 1 - ((wanted - centred @ slopes) ** 2).sum(axis=0) / (wanted**2).sum(axis=0)
    return Compass(mean, spread, slopes, readings.std(axis=0), explained, spread)


def regressed(styles: np.ndarray, embedded: np.ndarray) -> tuple[np.ndarray, float]:
    """Return an embedding's slopes on styles, and how much of it they explain."""
    centred, wanted = styles - styles.mean(axis=0), embedded - embedded.mean(axis=0)
    slopes = _ridge(centred, wanted)[1]
    return slopes, float(1 - ((wanted - centred @ slopes) ** 2).sum() / (wanted**2).sum())


def _ridge(centred: np.ndarray, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the spread of styles, and slopes."""
    spread = centred.T @ centred / len(centred)
    ridge = RIDGE * np.trace(spread) / len(spread) * np.eye(len(spread))
    return spread, np.linalg.solve(spread + ridge, centred.T @ wanted / len(centred))


def read_compass(path: Path) -> Compass:
    """Read what `Compass.save` wrote."""
    with np.load(path) as arrays:
        fields = {name: arrays[name].astype(float) for name in ("mean", "spread", "slopes", "scale", "explained")}
        fields["near"] = arrays["near"].astype(float) if "near" in arrays else fields["spread"]
        ways = (
            {str(cue): way.astype(float) for cue, way in zip(arrays["cues"], arrays["ways"], strict=True)}
            if "ways" in arrays
            else {}
        )
    return Compass(**fields, ways=ways)
