"""Share of an aligned face with the colour of its skin, low when covered."""

from __future__ import annotations

import numpy as np

from portrayal.pictures.faces import SIZE

CENTRE, RADII = (64.0, 71.0), (38.0, 50.0)  # of the face oval in an aligned face of SIZE pixels


def skin_likeness(face: np.ndarray) -> np.ndarray:
    """Return each pixel's similarity to the median colour of cheeks and nose, 0 to 1."""
    pixels = face.astype(float) @ TO_LUMA_CHROMA
    cheeks = np.concatenate([pixels[row, column].reshape(-1, 3) for row, column in CHEEKS])
    middle = np.median(cheeks, axis=0)
    spread = np.maximum(1.4826 * np.median(np.abs(cheeks - middle), axis=0), SPREAD)
    return np.exp(-0.5 * np.sum(((pixels - middle) / (3 * spread)) ** 2, axis=-1))


def skin_share(face: np.ndarray) -> float:
    """Return the share of the face's core that has its skin's colour."""
    inside = radius(face.shape[0]) < 0.8
    return float((skin_likeness(face)[inside] > 0.1).mean())


# Luma and the two colour differences of ITU-R BT.601.
TO_LUMA_CHROMA = np.array([[0.299, -0.169, 0.5], [0.587, -0.331, -0.419], [0.114, 0.5, -0.081]])
CHEEKS = [(slice(64, 84), slice(36, 52)), (slice(64, 84), slice(76, 92)), (slice(62, 76), slice(58, 70))]
SPREAD = np.array([22.0, 5.0, 5.0])  # the least spread allowed: light varies more over a face than hue


def radius(size: int) -> np.ndarray:
    """Distance from the oval's centre, 1 on its edge."""
    scale = SIZE / size
    y, x = (np.indices((size, size)) + 0.5) * scale
    return np.hypot((x - CENTRE[0]) / RADII[0], (y - CENTRE[1]) / RADII[1])
