"""Decoded pictures resized, cut and normalised where they are, on a GPU or a CPU."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from portrayal.systems.encoders.images.pictures import Preparation
from portrayal.systems.encoders.images.resampling import cutting_matrices

MOST = 64_000_000  # values resized at once: 256 MB as float32


def device_cuts(pictures: Sequence[Any], preparation: Preparation) -> Any:
    """Return the cut-outs of decoded pictures as 8-bit pixels, within one level of what Pillow gives.

    Returns
    -------
    torch.Tensor
        8-bit pixels on the same device, picture x side x side x 3, in the order given.
    """
    import torch

    places: dict[tuple[int, int], list[int]] = defaultdict(list)
    for place, picture in enumerate(pictures):
        places[(picture.shape[2], picture.shape[1])].append(place)
    side = preparation.side
    cuts = torch.empty((len(pictures), side, side, 3), dtype=torch.uint8, device=pictures[0].device)
    for (width, height), alike in places.items():
        step = max(1, MOST // (3 * width * height))
        for start in range(0, len(alike), step):
            some = alike[start : start + step]
            stacked = torch.stack([pictures[place] for place in some])
            rows = torch.tensor(some, device=cuts.device)
            cuts[rows] = resized(stacked, preparation).permute(0, 2, 3, 1)
    return cuts


def resized(pixels: Any, preparation: Preparation) -> Any:
    """Return pictures of one size (batch x 3 x height x width, 8 bit) resized and cut: rows first, as Pillow does."""
    wide, tall = _matrices((pixels.shape[3], pixels.shape[2]), preparation, str(pixels.device))
    return _rounded(tall @ _rounded(pixels.float() @ wide.T)).byte()


def on_device(pixels: Any, preparation: Preparation, device: str, dtype: Any) -> Any:
    """Return pixels, an array or a tensor, normalised on a device; an array is normalised as numpy does it."""
    import torch

    from portrayal.systems.encoders.clip.network import normalised

    if isinstance(pixels, np.ndarray):
        return torch.from_numpy(preparation.normal(pixels)).to(device, dtype)
    return normalised(pixels.to(device), preparation.mean, preparation.deviation, dtype)


def _rounded(values: Any) -> Any:
    """Round to the 8 bits of a pixel, halves up."""
    return values.add_(0.5).floor_().clamp_(0, 255)


@lru_cache(maxsize=128)
def _matrices(size: tuple[int, int], preparation: Preparation, device: str) -> tuple[Any, ...]:
    import torch

    return tuple(torch.from_numpy(weights).to(device) for weights in cutting_matrices(size, preparation))
