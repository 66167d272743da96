"""Alignment of faces by a similarity of five landmarks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

SIZE = 128  # pixels of an aligned face

# Left eye, right eye, nose tip, left and right mouth corner, in an aligned face of SIZE pixels. The eyes are
# 38 pixels apart, so that forehead, chin and both cheeks lie inside.
TEMPLATE = np.array([[45.0, 52.0], [83.0, 52.0], [64.0, 74.0], [48.5, 91.5], [79.5, 91.5]])


@dataclass(frozen=True)
class Similarity:
    """A turn, a scale and a shift: y = matrix @ x + shift."""

    matrix: np.ndarray
    shift: np.ndarray

    def __call__(self, points: np.ndarray) -> np.ndarray:
        """Map points (n x 2)."""
        return points @ self.matrix.T + self.shift

    @property
    def scale(self) -> float:
        """Return how much longer a length becomes."""
        return float(np.sqrt(abs(np.linalg.det(self.matrix))))

    def inverse(self) -> Similarity:
        """Return the way back."""
        back = np.linalg.inv(self.matrix)
        return Similarity(back, -back @ self.shift)


def fit_similarity(points: np.ndarray, template: np.ndarray = TEMPLATE) -> Similarity:
    """Return the similarity that brings `points` closest to `template` in least squares."""
    # As complex numbers a similarity is y = w x + c, so this is a regression with one complex slope.
    x = points @ np.array([1, 1j])
    y = template @ np.array([1, 1j])
    spread = x - x.mean()
    w = np.vdot(spread, y - y.mean()) / np.vdot(spread, spread)
    c = y.mean() - w * x.mean()
    return Similarity(np.array([[w.real, -w.imag], [w.imag, w.real]]), np.array([c.real, c.imag]))


def crop(picture: Any, similarity: Similarity, size: int = SIZE) -> np.ndarray:
    """Return the aligned crop as uint8 (size x size x 3), with edges repeated outside."""
    from PIL import Image

    picture, similarity = _reduce(picture.convert("RGB"), similarity)
    padded, offset = _pad(picture, similarity, size)
    back = similarity.inverse()
    # PIL maps output pixel centres to input: x_in = A (x_out + 0.5) + b - 0.5, with its own half pixels.
    shift = back.shift + offset
    data = (*back.matrix[0], shift[0], *back.matrix[1], shift[1])
    return np.asarray(padded.transform((size, size), Image.Transform.AFFINE, data, Image.Resampling.BICUBIC))


def head_turn(landmarks: np.ndarray) -> float:
    """Return the nose's distance from the middle, in eye distances: 0 is frontal."""
    aligned = fit_similarity(landmarks)(landmarks)
    eyes, mouth = aligned[:2].mean(axis=0), aligned[3:].mean(axis=0)
    width = max(aligned[1, 0] - aligned[0, 0], aligned[4, 0] - aligned[3, 0], 1e-9)
    return float(abs(aligned[2, 0] - (eyes[0] + mouth[0]) / 2) / width)


def _reduce(picture: Any, similarity: Similarity) -> tuple[Any, Similarity]:
    """Shrink a picture first where its crop has far fewer pixels, to average detail."""
    factor = int(1 / similarity.scale)
    if factor < 2:
        return picture, similarity
    return picture.reduce(factor), Similarity(similarity.matrix * factor, similarity.shift)


def _pad(picture: Any, similarity: Similarity, size: int) -> tuple[Any, np.ndarray]:
    """Repeat the edge where the crop leaves the picture."""
    from PIL import Image

    corners = similarity.inverse()(np.array([[0, 0], [size, 0], [0, size], [size, size]], dtype=float))
    low = np.maximum(np.ceil(-corners.min(axis=0)), 0).astype(int) + 2
    high = np.maximum(np.ceil(corners.max(axis=0) - picture.size), 0).astype(int) + 2
    pixels = np.pad(np.asarray(picture), ((low[1], high[1]), (low[0], high[0]), (0, 0)), mode="edge")
    return Image.fromarray(pixels), low.astype(float)
