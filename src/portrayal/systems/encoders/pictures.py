"""Pictures for encoders: shortest side resized, centre cut out, normalised, by Pillow and numpy."""

from __future__ import annotations

from collections.abc import Mapping
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
OPEN_CLIP = "open_clip_config.json"


@dataclass(frozen=True)
class Preparation:
    """Size, resampling and normalisation of an encoder's pictures; the defaults are CLIP's."""

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
        shortest, least = self.shortest or self.side, min(picture.size)
        # The longer side is cut to a whole number.
        width, height = (shortest if side == least else int(shortest * side / least) for side in picture.size)
        target = (self.side, self.side) if self.square else (width, height)
        if picture.size != target:
            picture = picture.resize(target, RESAMPLING[self.resample])
        return _centre(np.asarray(picture), self.side, self.crop == "transformers")


def on_device(pixels: np.ndarray, preparation: Preparation, device: str) -> Any:
    """Return 8-bit pixels on a device, normalised there as `Preparation.normal` does it."""
    import torch

    scaled = torch.from_numpy(pixels).to(device).permute(0, 3, 1, 2).float() / 255
    mean, deviation = (
        torch.tensor(values, device=device)[:, None, None] for values in (preparation.mean, preparation.deviation)
    )
    return (scaled - mean) / deviation


def cut_file(path: str, preparation: Preparation) -> np.ndarray | CallFailed:
    """Return the cut-out of a file, or the error of one that cannot be read."""
    try:
        return preparation.pixels(read_picture(path))
    except CallFailed as error:
        return error


def folder_preparation(folder: Path, side: int) -> Preparation:
    """Return the preparation of a model's folder, by default CLIP's own."""
    from portrayal.tables import read_json  # needs polars, which preparing pictures does not

    path = folder / OPEN_CLIP
    if path.is_file():
        return _open_clip_preparation(path.name, read_json(path, "a config").get("preprocess_cfg", {}), side)
    path = folder / "preprocessor_config.json"
    if not path.is_file():
        return Preparation(side)
    config = read_json(path, "a config")
    size, crop = config.get("size", side), config.get("crop_size", side)
    shortest = size if isinstance(size, int) else size.get("shortest_edge", size.get("height"))
    cut = crop if isinstance(crop, int) else crop.get("height", side)
    resample = {number: name for name, number in RESAMPLING.items()}.get(config.get("resample", 3))
    if resample is None:
        raise PortrayalError(f"{path.name} asks for resampling {config['resample']}. Known: {', '.join(RESAMPLING)}.")
    return Preparation(
        side=cut if config.get("do_center_crop", True) else shortest,
        shortest=shortest,
        square=not config.get("do_center_crop", True),
        resample=resample,
        crop="transformers",
        mean=tuple(config.get("image_mean", CLIP_MEAN)),
        deviation=tuple(config.get("image_std", CLIP_DEVIATION)),
    )


def _open_clip_preparation(name: str, config: Mapping[str, Any], side: int) -> Preparation:
    mode, resample = config.get("resize_mode", "shortest"), config.get("interpolation", "bicubic")
    if mode not in ("shortest", "squash") or resample not in RESAMPLING:
        raise PortrayalError(f"{name} asks for resize_mode {mode!r}, interpolation {resample!r}, which are not known.")
    mean, deviation = config.get("mean", CLIP_MEAN), config.get("std", CLIP_DEVIATION)
    return Preparation(side, None, mode == "squash", resample, mean=tuple(mean), deviation=tuple(deviation))


def _centre(pixels: np.ndarray, side: int, up_and_left: bool) -> np.ndarray:
    """Return the centre, filled up with black where the picture is smaller."""
    border, start = [(0, 0), (0, 0), (0, 0)], [0, 0]
    for axis, length in enumerate(pixels.shape[:2]):
        missing, half = max(side - length, 0), max(length - side, 0) / 2
        # Of an odd number of black lines torchvision puts the one more below and right, transformers above and left.
        before = (missing + up_and_left) // 2
        border[axis] = (before, missing - before)
        start[axis] = int(half) if up_and_left else round(half)
    return np.pad(pixels, border)[start[0] : start[0] + side, start[1] : start[1] + side]
