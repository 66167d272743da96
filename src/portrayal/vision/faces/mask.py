"""The skin region of an aligned face: an oval by the landmarks, less hair and background at its rim.

Changes are kept inside it and feathered towards its edge; where the mask is 0 the picture stays as it was.
"""

from __future__ import annotations

import numpy as np

from portrayal.vision.faces.align import SIZE

CENTRE, RADII = (64.0, 71.0), (38.0, 50.0)  # of the face oval in an aligned face of SIZE pixels
CORE = 0.72  # inside this share of the radii everything is face: eyes, nose, mouth, beard
FEATHER = 0.22  # the rim over which the mask falls from 1 to 0


def oval(size: int = SIZE) -> np.ndarray:
    """Return the feathered oval: 1 in the middle, exactly 0 outside."""
    return _ramp((1.0 - _radius(size)) / FEATHER)


def skin_mask(face: np.ndarray) -> np.ndarray:
    """Return the oval less what at its rim has not the colour of this face's skin (hair, hat, background).

    Parameters
    ----------
    face
        An aligned face, uint8, SIZE x SIZE x 3.
    """
    from scipy.ndimage import gaussian_filter

    radius = _radius(face.shape[0])
    likeness = gaussian_filter(skin_likeness(face), 1.5)
    rim = _ramp((radius - CORE) / 0.1)
    return oval(face.shape[0]) * (1 - rim * (1 - _ramp((likeness - 0.15) / 0.35)))


def skin_likeness(face: np.ndarray) -> np.ndarray:
    """Return how close each pixel's colour is to the median of both cheeks and the nose, from 0 to 1."""
    pixels = face.astype(float) @ TO_LUMA_CHROMA
    cheeks = np.concatenate([pixels[row, column].reshape(-1, 3) for row, column in CHEEKS])
    middle = np.median(cheeks, axis=0)
    spread = np.maximum(1.4826 * np.median(np.abs(cheeks - middle), axis=0), SPREAD)
    return np.exp(-0.5 * np.sum(((pixels - middle) / (3 * spread)) ** 2, axis=-1))


def skin_share(face: np.ndarray) -> float:
    """Return the share of the face's core that has its skin's colour: low where something covers the face."""
    inside = _radius(face.shape[0]) < 0.8
    return float((skin_likeness(face)[inside] > 0.1).mean())


# Luma and the two colour differences of ITU-R BT.601.
TO_LUMA_CHROMA = np.array([[0.299, -0.169, 0.5], [0.587, -0.331, -0.419], [0.114, 0.5, -0.081]])
CHEEKS = [
    (slice(64, 84), slice(36, 52)),
    (slice(64, 84), slice(76, 92)),
    (slice(62, 76), slice(58, 70)),
]
SPREAD = np.array([22.0, 5.0, 5.0])  # the least spread allowed: light varies more over a face than hue


def _radius(size: int) -> np.ndarray:
    """Distance from the oval's centre, 1 on its edge."""
    scale = SIZE / size
    y, x = (np.indices((size, size)) + 0.5) * scale
    return np.hypot((x - CENTRE[0]) / RADII[0], (y - CENTRE[1]) / RADII[1])


def _ramp(values: np.ndarray) -> np.ndarray:
    """Rise smoothly from 0 to 1 over the unit interval."""
    inside = np.clip(values, 0.0, 1.0)
    return inside * inside * (3 - 2 * inside)
