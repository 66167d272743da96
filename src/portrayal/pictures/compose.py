"""Composites of one person and one background (Barlas et al. 2020, Section 4.3).

Studio light falls off, so a quadratic is fitted to the border; mixed pixels lose their share of backdrop.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from portrayal.errors import PortrayalError

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

COARSE = 48  # the backdrop is fitted on a picture of this size
LEAST_UNIFORM = 0.6  # share of the border (top, upper sides) that must match the fitted backdrop
BAND = 32  # rows worked on at a time, which stay in the processor's cache
FRINGE = 2  # pixels beside the flood that count as mixed
# What makes a cut-out suspect; see `flaws`.
SMALL = 256  # checks run on a picture of about this width
HOLES = 0.01  # share of the person
LEFTOVER = 0.003  # share of the picture, in one piece: small ones are shadows on clothes
CUT_HEAD = "head clipped at the top"
CLIPPED = 0.05  # share of the picture's width
Crop = Literal["top", "bottom", "both"]
CutHeads = Literal["enlarge", "leave out"]


class NoUniformBackdrop(PortrayalError):
    """A picture without a backdrop that could be flooded."""


@dataclass(frozen=True)
class Cutout:
    """A person with an opacity, and the backdrop-coloured pixels the flood did not reach."""

    image: Picture  # RGBA
    leftover: np.ndarray | None  # True where the colour is the backdrop's but the pixel was kept


def cut_out(image: Picture, tolerance: int = 24, name: str = "picture") -> Cutout:
    """Return the person with a transparent backdrop."""
    if image.mode == "RGBA" and np.asarray(image.getchannel("A")).min() < 255:
        return Cutout(image, None)
    rgb = image.convert("RGB")
    pixels = _words(rgb)
    backdrop = np.broadcast_to(_words(fit_backdrop(rgb, tolerance, name)), pixels.shape)
    distance = _distance(pixels, backdrop)
    alike = distance <= tolerance
    flooded = flood(alike)
    alpha, mixed = _soft_edge(distance, flooded, tolerance)
    return Cutout(_clean(pixels, backdrop, alpha, mixed), alike ^ flooded)


def fit_backdrop(rgb: Picture, tolerance: int, name: str = "picture") -> Picture:
    """Return the backdrop, fitted to the border; one pixel where it has one colour."""
    from PIL import Image

    small = np.asarray(rgb.resize((COARSE, COARSE), Image.Resampling.BOX), dtype=float)
    surface, matching = _robust_fit(small.reshape(-1, 3), tolerance)
    if matching < LEAST_UNIFORM:
        raise NoUniformBackdrop(
            f"{name} has no uniform backdrop: {matching:.0%} of its border fits one, {LEAST_UNIFORM:.0%} are"
            " needed. Give a picture with an alpha channel, or raise the tolerance."
        )
    grid = np.clip(surface.reshape(COARSE, COARSE, 3), 0, 255).round().astype(np.uint8)
    if np.ptp(grid, axis=(0, 1)).max() <= 2:
        return Image.new("RGB", (1, 1), tuple(np.median(grid, axis=(0, 1)).astype(int).tolist()))
    return Image.fromarray(grid).resize(rgb.size, Image.Resampling.BILINEAR)


def _robust_fit(colours: np.ndarray, tolerance: int) -> tuple[np.ndarray, float]:
    """Return a quadratic surface without outliers, and the share of the border it explains."""
    y, x = np.mgrid[0:COARSE, 0:COARSE].reshape(2, -1) / (COARSE - 1) - 0.5
    terms = np.stack([np.ones_like(x), x, y, x * x, x * y, y * y], axis=1)
    edge = np.zeros((COARSE, COARSE), dtype=bool)  # where nobody stands in a portrait
    edge[:3] = edge[: COARSE // 2, :3] = edge[: COARSE // 2, -3:] = True
    border = edge.ravel()
    start = np.median(colours[border], axis=0)
    fitted = border & (np.abs(colours - start).max(axis=1) <= 2 * tolerance)
    surface = np.broadcast_to(start, colours.shape)
    for _ in range(4):
        if fitted.sum() < 4 * terms.shape[1]:
            break
        surface = terms @ np.linalg.lstsq(terms[fitted], colours[fitted], rcond=None)[0]
        fitted = border & (np.abs(colours - surface).max(axis=1) <= tolerance)
    near = np.abs(colours - surface).max(axis=1) <= tolerance
    corners = near[:4].all() and near[COARSE - 4 : COARSE].all()
    return surface, float(near[border].mean()) if corners else 0.0


def _words(rgb: Picture) -> np.ndarray:
    """Return one number per pixel, red in its lowest byte: half the passes over memory."""
    return np.frombuffer(rgb.tobytes("raw", "RGBX"), "<u4").reshape(rgb.height, rgb.width)


def _distance(pixels: np.ndarray, backdrop: np.ndarray) -> np.ndarray:
    """Return the farthest channel's difference from the backdrop."""
    distance = np.empty(pixels.shape, np.uint8)
    low, high = np.empty((2, min(BAND, len(pixels)), pixels.shape[1]), "<u4")
    for top in range(0, len(pixels), BAND):
        rows = slice(top, min(top + BAND, len(pixels)))
        distance[rows] = _farthest(pixels[rows], backdrop[rows], low[: rows.stop - top], high[: rows.stop - top])
    return distance


def _farthest(colour: np.ndarray, behind: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return the greatest difference of the channels; `low` and `high` are room to work in."""
    np.copyto(low, behind)
    seen, least, most = (part.reshape(-1).view(np.uint8) for part in (colour, low, high))
    np.maximum(seen, least, out=most)
    np.minimum(seen, least, out=least)
    most -= least
    # Every byte beside its neighbours: what comes to stand in red's place is the greatest of the three.
    np.maximum(most[:-1], most[1:], out=least[:-1])
    np.maximum(least[:-2], most[2:], out=least[:-2])
    return low  # assigned to bytes, the lowest of each word is kept


def flood(alike: np.ndarray) -> np.ndarray:
    """Return the pixels of a mask connected to its top-left or top-right corner."""
    from scipy import ndimage

    pieces, _ = ndimage.label(alike)
    left, right = pieces[0, 0], pieces[0, -1]
    return ((pieces == left) | (pieces == right)) & alike


def _soft_edge(distance: np.ndarray, flooded: np.ndarray, tolerance: int) -> tuple[np.ndarray, np.ndarray]:
    """Return opacity, and where it is neither full nor none."""
    fringe = np.flatnonzero(grow(flooded, FRINGE) ^ flooded)
    alpha = flooded.view(np.uint8) - np.uint8(1)  # 1 becomes 0, and 0 goes round to 255
    opacity = np.clip((distance.ravel()[fringe].astype(int) - tolerance) * 255 // (2 * tolerance), 0, 255)
    alpha.ravel()[fringe] = opacity
    return alpha, fringe[(opacity > 0) & (opacity < 255)]


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


def _clean(pixels: np.ndarray, backdrop: np.ndarray, alpha: np.ndarray, mixed: np.ndarray) -> Picture:
    """Take the backdrop out of mixed pixels."""
    from PIL import Image

    rows, columns = np.unravel_index(mixed, alpha.shape)
    share = alpha[rows, columns].astype(np.float32)[:, None] / 255
    colour, behind = (part[rows, columns].view(np.uint8).reshape(-1, 4)[:, :3] for part in (pixels, backdrop))
    # A mixed colour is C = a F + (1 - a) B, so the person's is F = (C - (1 - a) B) / a.
    cleaned = (colour - (1 - share) * behind.astype(np.float32)) / np.maximum(share, 0.2)
    words = alpha.astype("<u4")
    words <<= 24
    words |= pixels & 0xFFFFFF
    picture = words.view(np.uint8).reshape(*alpha.shape, 4)
    picture[rows, columns, :3] = np.clip(cleaned, 0, 255).astype(np.uint8)
    return Image.fromarray(picture)


def flaws(cutout: Cutout) -> tuple[str, ...]:
    """Return in words what looks wrong; nothing when all looks right."""
    opaque = np.asarray(cutout.image.getchannel("A"))
    step = max(1, opaque.shape[1] // SMALL)
    person, left = opaque[::step, ::step] > 127, cutout.leftover
    if not person.any():
        return ("nobody is left after removing the backdrop",)
    seen = {
        "holes in the person": _hole_share(person) > HOLES,
        "backdrop left over": left is not None and _largest_piece(left[::step, ::step]) > LEFTOVER,
        CUT_HEAD: person[0].mean() > CLIPPED,
    }
    return tuple(flaw for flaw, there in seen.items() if there)


def _hole_share(person: np.ndarray) -> float:
    """Return the area of gaps and holes as a share of the person."""
    from scipy import ndimage

    padded = np.pad(person, 8)
    closed = ndimage.binary_closing(padded, iterations=3)
    filled = ndimage.binary_fill_holes(closed)
    inner = ndimage.binary_erosion(filled, iterations=4)  # wisps at the outline are not holes
    return float((inner & ~padded).sum() / max(person.sum(), 1))


def _largest_piece(mask: np.ndarray) -> float:
    """Return the largest connected piece as a share of the picture."""
    from scipy import ndimage

    labels, count = ndimage.label(mask)
    return float(np.bincount(labels.ravel())[1:].max() / mask.size) if count else 0.0


@dataclass(frozen=True)
class Placed:
    """A composite with its measurements."""

    image: Picture  # RGB
    scale: float  # by which the person's picture was scaled
    person_share: float  # of all pixels
    clipped: bool  # the person did not fit


def fit_background(image: Picture, size: tuple[int, int], crop: Crop = "both") -> Picture:
    """Scale a background to cover `size` (width, height), and crop what sticks out."""
    from PIL import Image

    if crop not in ("top", "bottom", "both"):
        raise PortrayalError(f"crop is {crop!r}. Expected top, bottom or both.")
    width, height = size
    scale = max(width / image.width, height / image.height)
    scaled = (max(width, round(image.width * scale)), max(height, round(image.height * scale)))
    fitted = image.convert("RGB").resize(scaled, Image.Resampling.LANCZOS)
    left = (scaled[0] - width) // 2
    spare = scaled[1] - height
    top = {"top": spare, "bottom": 0, "both": spare // 2}[crop]
    return fitted.crop((left, top, left + width, top + height))


def trim(person: Picture) -> Picture:
    """Cut away fully transparent margins, so that the person's own box is centred."""
    box = person.getchannel("A").point(lambda value: 255 if value > 8 else 0).getbbox()
    return person.crop(box) if box else person


def person_scale(person: Picture, size: tuple[int, int], ratio: float) -> float:
    """Return the scale at which person pixels : unobscured background pixels is `ratio`."""
    if ratio <= 0:
        raise PortrayalError(f"ratio is {ratio}. Expected a positive ratio of person to background pixels.")
    if (pixels := _opaque(person)) == 0:
        raise PortrayalError("nobody is left after removing the backdrop. Check the picture and the tolerance.")
    wanted = size[0] * size[1] * ratio / (1 + ratio)
    return float(np.sqrt(wanted / pixels))


def scale_person(person: Picture, scale: float) -> Picture:
    """Return the person scaled, alpha and colour together."""
    from PIL import Image

    size = max(1, round(person.width * scale)), max(1, round(person.height * scale))
    shrunk = person.convert("RGBa").resize(size, Image.Resampling.BOX if scale < 0.5 else Image.Resampling.LANCZOS)
    return shrunk.convert("RGBA")


def place(person: Picture, background: Picture, scale: float = 1.0) -> Placed:
    """Put an already scaled person at the bottom of a fitted background, centred."""
    canvas = background.convert("RGB")
    left = (canvas.width - person.width) // 2
    top = canvas.height - person.height
    clipped = person.width > canvas.width or person.height > canvas.height
    box, pixels = person.getbbox() or (0, 0, 0, 0), 0.0
    x, y = max(box[0], -left), max(box[1], -top)
    right, bottom = min(box[2], canvas.width - left), min(box[3], canvas.height - top)
    if x < right and y < bottom:
        body = person.crop((x, y, right, bottom))
        canvas.paste(body, (left + x, top + y), body)
        pixels = _opaque(body)
    return Placed(canvas, scale, pixels / (canvas.width * canvas.height), clipped)


def _opaque(person: Picture) -> float:
    """Return how many pixels the person covers, partly covered ones in part."""
    counts = person.getchannel("A").histogram()
    return float(np.dot(counts, np.arange(256)) / 255)
