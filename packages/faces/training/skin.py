"""The Fader network's mask: an oval by the landmarks, less hair and background at its rim.

Changes are kept inside it and feathered towards its edge; where the mask is 0 the picture stays as it was.
"""

from __future__ import annotations

import numpy as np

from portrayal.pictures.faces.align import SIZE
from portrayal_faces.series.mask import radius, skin_likeness

CORE = 0.72  # inside this share of the radii everything is face: eyes, nose, mouth, beard
FEATHER = 0.22  # the rim over which the mask falls from 1 to 0


def oval(size: int = SIZE) -> np.ndarray:
    """Return the feathered oval: 1 in the middle, exactly 0 outside."""
    return _ramp((1.0 - radius(size)) / FEATHER)


def skin_mask(face: np.ndarray) -> np.ndarray:
    """Return the oval less what at its rim has not the colour of this face's skin (hair, hat, background)."""
    from scipy.ndimage import gaussian_filter

    away = radius(face.shape[0])
    likeness = gaussian_filter(skin_likeness(face), 1.5)
    rim = _ramp((away - CORE) / 0.1)
    return oval(face.shape[0]) * (1 - rim * (1 - _ramp((likeness - 0.15) / 0.35)))


def _ramp(values: np.ndarray) -> np.ndarray:
    """Rise smoothly from 0 to 1 over the unit interval."""
    inside = np.clip(values, 0.0, 1.0)
    return inside * inside * (3 - 2 * inside)
