"""Composites: one person before one background (Barlas et al. 2020, CSCW3, Section 4.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from portrayal.errors import PortrayalError

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

Crop = Literal["top", "bottom", "both"]
CutHeads = Literal["enlarge", "leave out"]


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
    pixels = _opaque(person)
    if pixels == 0:
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
    shown = _shown(person, (-left, -top, canvas.width - left, canvas.height - top))
    pixels = 0.0
    if shown:
        body = person.crop(shown)
        canvas.paste(body, (left + shown[0], top + shown[1]), body)
        pixels = _opaque(body)
    return Placed(canvas, scale, pixels / (canvas.width * canvas.height), clipped)


def _shown(person: Picture, window: tuple[int, int, int, int]) -> tuple[int, int, int, int] | None:
    """Return the box of what is visible within a window; None for nothing."""
    box = person.getbbox()
    if box is None:
        return None
    left, top, right, bottom = (*map(max, box[:2], window[:2]), *map(min, box[2:], window[2:]))
    return (left, top, right, bottom) if left < right and top < bottom else None


def _opaque(person: Picture) -> float:
    """Return how many pixels the person covers, partly covered ones in part."""
    counts = person.getchannel("A").histogram()
    return float(np.dot(counts, np.arange(256)) / 255)
