"""What keeps an edit decent: colours cannot run, dark pictures change by less, and race is varied as an even tint only.

The difference of two decoded faces is split into luma and two colour differences (ITU-R BT.601). The colour differences
are bent so that they never pass COLOUR levels, and all of it is scaled by the light on the face, since light multiplies.
An edit of race keeps only its slowest cosines over the face: left free, the network painted grins and lips, a caricature.
Training and use do the same: `tempered` here in numpy, `objective.tempered` in torch.
"""

from __future__ import annotations

import numpy as np

from portrayal.pictures.faces.align import SIZE
from portrayal_faces.series.mask import TO_LUMA_CHROMA
from training.skin import oval

COLOUR = 12.0  # levels of 255
BRIGHT = 110.0  # mean luma of a face on which an edit counts fully
LEAST = 0.3  # of an edit, on the darkest picture


def slowest(size: int = SIZE, count: int = 2) -> np.ndarray:
    """Return the projection (size x size) on the first cosines: a constant and one half wave."""
    phase = np.pi * (np.arange(size) + 0.5) / size
    waves = np.cos(np.outer(np.arange(count), phase))
    waves /= np.linalg.norm(waves, axis=1, keepdims=True)
    return waves.T @ waves


def tempered(edit: np.ndarray, face: np.ndarray, even: bool = False) -> np.ndarray:
    """Return an edit as it may be added to a face."""
    if even:
        keep = slowest(face.shape[0])
        edit = np.einsum("ij,...jkc,kl->...ilc", keep, edit, keep, optimize=True)
    parts = edit @ TO_LUMA_CHROMA
    parts[..., 1:] = COLOUR * np.tanh(parts[..., 1:] / COLOUR)
    return light(face) * (parts @ np.linalg.inv(TO_LUMA_CHROMA))


def light(face: np.ndarray) -> float:
    """Return how much of an edit this face bears, from LEAST to 1."""
    mask = oval(face.shape[0])
    mean = float(((face.astype(float) @ TO_LUMA_CHROMA[:, 0]) * mask).sum() / mask.sum())
    return float(np.clip(mean / BRIGHT, LEAST, 1.0))
