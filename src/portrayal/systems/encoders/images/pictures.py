"""Pictures as an encoder wants them: shortest side resized, centre cut out, normalised. Pillow and numpy only."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from portrayal.errors import PortrayalError
from portrayal.systems.core.base import CallFailed
from portrayal.systems.core.pictures import read_picture

CLIP_MEAN = (0.48145466, 0.4578275, 0.40821073)
CLIP_DEVIATION = (0.26862954, 0.26130258, 0.27577711)
RESAMPLING = {"nearest": 0, "lanczos": 1, "bilinear": 2, "bicubic": 3}


@dataclass(frozen=True)
class Preparation:
    """How a picture becomes numbers. The defaults are CLIP's."""

    side: int = 224
    shortest: int | None = None  # the shortest side before the cut; None: `side`
    square: bool = False  # squeeze to a square instead of cutting the centre
    resample: str = "bicubic"
    crop: str = "torchvision"  # whose rounding: a half pixel goes to the even side, or up and left ('transformers')
    mean: tuple[float, ...] = CLIP_MEAN
    deviation: tuple[float, ...] = CLIP_DEVIATION

    def array(self, picture: Any) -> np.ndarray:
        """Return a picture as float32, channels first."""
        return self.normal(self.pixels(picture)[None])[0]

    def normal(self, pixels: np.ndarray) -> np.ndarray:
        """Return 8-bit pixels (batch x side x side x 3) normalised, as float32, channels first."""
        scaled = pixels.astype(np.float32) / 255
        normal = (scaled - np.asarray(self.mean, np.float32)) / np.asarray(self.deviation, np.float32)
        return np.ascontiguousarray(normal.transpose(0, 3, 1, 2))

    def pixels(self, picture: Any) -> np.ndarray:
        """Return the cut-out as 8-bit pixels, side x side x 3."""
        picture = picture.convert("RGB")
        target = self.target(picture.size)
        if picture.size != target:
            picture = picture.resize(target, RESAMPLING[self.resample], reducing_gap=None)
        return _centre(np.asarray(picture), self.side, self.crop)

    def target(self, size: tuple[int, int]) -> tuple[int, int]:
        """Return width and height that a picture of this width and height is resized to."""
        return (self.side, self.side) if self.square else _scaled(size, self.shortest or self.side)


def cut_file(path: str, preparation: Preparation) -> np.ndarray | CallFailed:
    """Read, decode and cut one picture; what cannot be read is given back as an error, not raised."""
    try:
        return preparation.pixels(read_picture(path))
    except CallFailed as error:
        return error


def folder_preparation(folder: Path, side: int) -> Preparation:
    """Read how a folder prepares pictures (transformers, OpenCLIP); CLIP's own preparation where it does not say."""
    from portrayal.tables import read_json

    if (folder / "open_clip_config.json").is_file():
        return _open_clip_preparation(folder / "open_clip_config.json", side)
    path = folder / "preprocessor_config.json"
    if not path.is_file():
        return Preparation(side)
    given = read_json(path, "a config")
    size, crop = given.get("size", side), given.get("crop_size", side)
    shortest = size if isinstance(size, int) else size.get("shortest_edge", size.get("height"))
    cut = crop if isinstance(crop, int) else crop.get("height", side)
    names = {number: name for name, number in RESAMPLING.items()}
    resample = names.get(given.get("resample", 3))
    if resample is None:
        raise PortrayalError(f"{path.name} asks for resampling {given['resample']}. Known: {', '.join(RESAMPLING)}.")
    return Preparation(
        side=cut if given.get("do_center_crop", True) else shortest,
        shortest=shortest,
        square=not given.get("do_center_crop", True),
        resample=resample,
        crop="transformers",
        mean=tuple(given.get("image_mean", CLIP_MEAN)),
        deviation=tuple(given.get("image_std", CLIP_DEVIATION)),
    )


def _open_clip_preparation(path: Path, side: int) -> Preparation:
    from portrayal.tables import read_json

    given = read_json(path, "a config").get("preprocess_cfg", {})
    mode, resample = given.get("resize_mode", "shortest"), given.get("interpolation", "bicubic")
    if mode not in ("shortest", "squash") or resample not in RESAMPLING:
        raise PortrayalError(
            f"{path.name} asks for resize_mode {mode!r}, interpolation {resample!r}, which are not known."
        )
    mean, deviation = given.get("mean", CLIP_MEAN), given.get("std", CLIP_DEVIATION)
    return Preparation(side, None, mode == "squash", resample, mean=tuple(mean), deviation=tuple(deviation))


def _scaled(size: tuple[int, int], shortest: int) -> tuple[int, int]:
    """Return width and height with the shortest side at `shortest`, the other cut to a whole number."""
    width, height = size
    if width <= height:
        return shortest, int(shortest * height / width)
    return int(shortest * width / height), shortest


def window(length: int, side: int, crop: str) -> tuple[int, int]:
    """Return how many black lines come before one side of a picture, and where its cut then begins."""
    theirs = crop == "transformers"
    # Of an odd number of black lines torchvision puts the one more below and right, transformers above and left.
    before = (max(side - length, 0) + theirs) // 2
    half = (max(length, side) - side) / 2
    return before, int(half) if theirs else round(half)


def _centre(pixels: np.ndarray, side: int, crop: str) -> np.ndarray:
    """Cut the centre out; where the picture is smaller than the cut, it is filled up with black."""
    lengths = pixels.shape[:2]
    (above, top), (beside, left) = (window(length, side, crop) for length in lengths)
    if min(lengths) < side:
        lines = [max(side - length, 0) for length in lengths]
        around = [(first, many - first) for first, many in zip((above, beside), lines, strict=True)]
        pixels = np.pad(pixels, (*around, (0, 0)))
    return pixels[top : top + side, left : left + side]
