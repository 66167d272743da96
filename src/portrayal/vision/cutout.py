"""Cutting a person out of a uniform backdrop: flood from the top corners, then clean the fringe.

The backdrop is a smooth surface, not one colour: studio light falls off towards the corners, so a quadratic is fitted to
the picture's border and the tolerance is around it. Pixels near the edge are a mix of person and backdrop; their share
of backdrop is taken out of both their opacity and their colour. `flaws` says what may have gone wrong.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from portrayal.errors import PortrayalError

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

COARSE = 48  # the backdrop is fitted on a picture of this size
LEAST_UNIFORM = 0.6  # share of the border (top, upper sides) that must match the fitted backdrop
FRINGE = 2  # pixels beside the flood that count as mixed
# What makes a cut-out suspect; see `flaws`.
SMALL = 256  # checks run on a picture of about this width
HOLES = 0.01  # share of the person
LEFTOVER = 0.003  # share of the picture, in one piece: small ones are shadows on clothes
CUT_HEAD = "head clipped at the top"
CLIPPED = 0.05  # share of the picture's width


class NoUniformBackdrop(PortrayalError):
    """There is nothing to flood."""


@dataclass(frozen=True)
class Cutout:
    """A person with an opacity, and the backdrop-coloured pixels the flood did not reach."""

    image: Picture  # RGBA
    leftover: np.ndarray | None  # True where the colour is the backdrop's but the pixel was kept


def cut_out(image: Picture, tolerance: int = 24, name: str = "picture") -> Cutout:
    """Return the person with a transparent backdrop.

    Parameters
    ----------
    image
        RGB, or RGBA whose alpha channel already says what is person.
    tolerance
        How far, in 8-bit steps of the farthest channel, a pixel may be from the backdrop.
    name
        What the picture is called in error messages.

    Raises
    ------
    NoUniformBackdrop
        When the border does not look like one smooth backdrop.
    """
    if image.mode == "RGBA" and np.asarray(image.getchannel("A")).min() < 255:
        return Cutout(image, None)
    rgb = image.convert("RGB")
    backdrop = fit_backdrop(rgb, tolerance, name)
    distance = _distance(rgb, backdrop)
    alike = distance <= tolerance
    flooded = flood(alike)
    alpha = _soft_edge(distance, flooded, tolerance)
    return Cutout(_clean(rgb, backdrop, alpha), alike & ~flooded)


def flood(alike: np.ndarray) -> np.ndarray:
    """Return the pixels of `alike` connected to the top-left or top-right corner."""
    from scipy import ndimage

    labels, _ = ndimage.label(alike)
    corners = {int(labels[0, 0]), int(labels[0, -1])} - {0}
    reached = np.zeros(int(labels.max()) + 1, dtype=bool)
    reached[list(corners)] = True
    return reached[labels]


def fit_backdrop(rgb: Picture, tolerance: int, name: str = "picture") -> Picture:
    """Return the backdrop as a picture of the same size: a quadratic fitted to the border, outliers left out."""
    from PIL import Image

    small = np.asarray(rgb.resize((COARSE, COARSE), Image.Resampling.BOX), dtype=float)
    terms = _terms(COARSE)
    border = _border(COARSE)
    surface, matching = _robust_fit(terms, small.reshape(-1, 3), border, tolerance)
    if matching < LEAST_UNIFORM:
        raise NoUniformBackdrop(
            f"{name} has no uniform backdrop: {matching:.0%} of its border fits one, {LEAST_UNIFORM:.0%} are"
            " needed. Give a picture with an alpha channel, or raise the tolerance."
        )
    grid = np.clip(surface.reshape(COARSE, COARSE, 3), 0, 255).round().astype(np.uint8)
    if np.ptp(grid, axis=(0, 1)).max() <= 2:  # one colour: nothing to scale up
        return Image.new("RGB", rgb.size, tuple(np.median(grid, axis=(0, 1)).astype(int).tolist()))
    return Image.fromarray(grid).resize(rgb.size, Image.Resampling.BILINEAR)


def _terms(size: int) -> np.ndarray:
    y, x = np.mgrid[0:size, 0:size].reshape(2, -1) / (size - 1) - 0.5
    return np.stack([np.ones_like(x), x, y, x * x, x * y, y * y], axis=1)


def _border(size: int) -> np.ndarray:
    """The top rows and the upper part of the sides: where nobody stands in a portrait."""
    place = np.zeros((size, size), dtype=bool)
    place[:3] = True
    place[: size // 2, :3] = place[: size // 2, -3:] = True
    return place.ravel()


def _robust_fit(
    terms: np.ndarray, colours: np.ndarray, border: np.ndarray, tolerance: int
) -> tuple[np.ndarray, float]:
    """Fit, drop what is far off, fit again; return the surface and the share of the border it explains.

    The two top corners are where the flood starts: when either does not match, nothing does.
    """
    start = np.median(colours[border], axis=0)
    kept = border & (np.abs(colours - start).max(axis=1) <= 2 * tolerance)
    surface = np.broadcast_to(start, colours.shape)
    for _ in range(4):
        if kept.sum() < 4 * terms.shape[1]:
            break
        surface = terms @ np.linalg.lstsq(terms[kept], colours[kept], rcond=None)[0]
        kept = border & (np.abs(colours - surface).max(axis=1) <= tolerance)
    near = np.abs(colours - surface).max(axis=1) <= tolerance
    corners = near[:4].all() and near[COARSE - 4 : COARSE].all()
    return surface, float(near[border].mean()) if corners else 0.0


def _distance(rgb: Picture, backdrop: Picture) -> np.ndarray:
    """The farthest channel's difference from the backdrop."""
    from PIL import ImageChops

    red, green, blue = ImageChops.difference(rgb, backdrop).split()
    return np.asarray(ImageChops.lighter(ImageChops.lighter(red, green), blue))


def _soft_edge(distance: np.ndarray, flooded: np.ndarray, tolerance: int) -> np.ndarray:
    """Opacity: 0 in the flood, 255 in the person, and by distance from the backdrop in the fringe between."""
    fringe = grow(flooded, FRINGE) & ~flooded
    alpha = np.where(flooded, 0, 255).astype(np.uint8)
    mixed = (distance[fringe].astype(int) - tolerance) * 255 // (2 * tolerance)
    alpha[fringe] = np.clip(mixed, 0, 255)
    return alpha


def grow(mask: np.ndarray, steps: int) -> np.ndarray:
    """Return the mask with `steps` more pixels on every side, corners included."""
    grown = mask.copy()
    for shift in range(1, steps + 1):
        grown[shift:] |= mask[:-shift]
        grown[:-shift] |= mask[shift:]
    rows = grown.copy()
    for shift in range(1, steps + 1):
        grown[:, shift:] |= rows[:, :-shift]
        grown[:, :-shift] |= rows[:, shift:]
    return grown


def _clean(rgb: Picture, backdrop: Picture, alpha: np.ndarray) -> Picture:
    """Take the backdrop out of mixed pixels: F = (C - (1 - a) B) / a."""
    from PIL import Image

    pixels = np.array(rgb)
    mixed = (alpha > 0) & (alpha < 255)
    share = alpha[mixed].astype(np.float32)[:, None] / 255
    behind = np.asarray(backdrop)[mixed].astype(np.float32)
    cleaned = (pixels[mixed] - (1 - share) * behind) / np.maximum(share, 0.2)
    pixels[mixed] = np.clip(cleaned, 0, 255).astype(np.uint8)
    image = Image.fromarray(pixels)
    image.putalpha(Image.fromarray(alpha))
    return image


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
        found.append(CUT_HEAD)
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
