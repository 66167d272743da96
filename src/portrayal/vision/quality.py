"""What may be wrong with a cut-out: holes in the person, backdrop left over, a head that was clipped."""

from __future__ import annotations

import numpy as np

from portrayal.vision.cutout import Cutout

SMALL = 256  # checks run on a picture of about this width
HOLES = 0.01  # share of the person
LEFTOVER = 0.003  # share of the picture, in one piece: small ones are shadows on clothes
CLIPPED = 0.05  # share of the picture's width


def flaws(cutout: Cutout) -> tuple[str, ...]:
    """Return what looks wrong, in words; nothing when all looks right."""
    opaque = np.asarray(cutout.image.getchannel("A"))
    step = max(1, opaque.shape[1] // SMALL)
    person = opaque[::step, ::step] > 127
    found = []
    if not person.any():
        return ("nobody is left after removing the backdrop",)
    if hole_share(person) > HOLES:
        found.append("holes in the person")
    if cutout.leftover is not None and largest_piece(cutout.leftover[::step, ::step]) > LEFTOVER:
        found.append("backdrop left over")
    if person[0].mean() > CLIPPED:
        found.append("head clipped at the top")
    return tuple(found)


def hole_share(person: np.ndarray) -> float:
    """Return the area that closing gaps and filling holes would add, as a share of the person."""
    from scipy import ndimage

    padded = np.pad(person, 8)
    closed = ndimage.binary_closing(padded, iterations=3)
    filled = ndimage.binary_fill_holes(closed)
    inner = ndimage.binary_erosion(filled, iterations=4)  # wisps at the outline are not holes
    return float((inner & ~padded).sum() / max(person.sum(), 1))


def largest_piece(mask: np.ndarray) -> float:
    """Return the largest connected piece as a share of the picture."""
    from scipy import ndimage

    labels, count = ndimage.label(mask)
    return float(np.bincount(labels.ravel())[1:].max() / mask.size) if count else 0.0
