"""Placebo of an edit: as large a change at every step, without the cue.

What a step changes against the centre is multiplied by a smooth random field, so that it is taken forward in one part of the face and
back in another; what of the cue is left is taken out, and the size of the step is restored. Each side of the centre has a field of its
own: nothing is symmetric by construction.
"""

from __future__ import annotations

import numpy as np

STEEP = 2.0  # how fast the field goes over from forward to back
ROUNDS = 6  # of making up for what black and white cut off
PATCH = 1 / 10  # of the side: how wide a part that goes one way is (a Gaussian's standard deviation)


def placebo_edits(face: np.ndarray, edits: np.ndarray, mask: np.ndarray, seed: int) -> np.ndarray:
    """Return edits as large as an axis' and orthogonal to them, step by step."""
    middle, random = len(edits) // 2, np.random.default_rng(seed)
    below, above = (smooth_field(mask.shape[0], random)[:, :, None] for _ in range(2))
    centre = face + edits[middle]
    beside = [
        _beside(centre, edit - edits[middle], mask[:, :, None], below if place < middle else above)
        for place, edit in enumerate(edits)
    ]
    return edits[middle] + np.stack(beside)


def smooth_field(side: int, random: np.random.Generator) -> np.ndarray:
    """Return a smooth random field of about -1 and 1, side x side.

    It is bounded, so that nowhere is more added than the axis adds there, but for the scale that restores the size.
    """
    from scipy.ndimage import gaussian_filter

    field = gaussian_filter(random.standard_normal((side, side)), side * PATCH, mode="wrap")
    return np.tanh(STEEP * (field - field.mean()) / field.std())


def _beside(centre: np.ndarray, edit: np.ndarray, mask: np.ndarray, field: np.ndarray) -> np.ndarray:
    """Return an edit of the same size, orthogonal to it inside the mask."""
    size = float(np.sum((mask * edit) ** 2))
    if size == 0:
        return np.zeros_like(edit)
    turned = (field - float(np.sum(field * (mask * edit) ** 2)) / size) * edit
    made = turned
    for _ in range(ROUNDS):
        turned = turned * np.sqrt(size / float(np.sum((mask * made) ** 2)))
        made = np.clip(centre + turned, 0, 255) - centre
    return made
