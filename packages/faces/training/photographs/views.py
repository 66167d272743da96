"""Photographic views of generated pairs: moved, relit, softened, noisy, stored as JPEG."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional

Tensor = Any
# The luminance table of ITU-T T.81, Annex K, by which JPEG rounds.
TABLE = [[16, 11, 10, 16, 24, 40, 51, 61], [12, 12, 14, 19, 26, 58, 60, 55], [14, 13, 16, 24, 40, 57, 69, 56],
         [14, 17, 22, 29, 51, 87, 80, 62], [18, 22, 37, 56, 68, 109, 103, 77], [24, 35, 55, 64, 81, 104, 113, 92],
         [49, 64, 78, 87, 103, 121, 120, 101], [72, 92, 95, 98, 112, 100, 103, 99]]  # fmt: skip


def views(first: Tensor, second: Tensor, mask: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return both pictures and the mask as a camera might have seen them.

    What adds to a picture (noise, rounding of a JPEG) is worked out on the first and added to both: the change to be learnt is clean.
    """
    count = first.shape[1]
    together = _moved(torch.cat([first, second, mask], 1))
    both = _softened(_relit(together[:, : 2 * count]))
    inputs = both[:, :count]
    noisy = _stored(inputs + _noise(inputs))
    added = noisy - inputs
    return (noisy.clamp(-1, 1), (both[:, count:] + added).clamp(-1, 1), together[:, 2 * count :].clamp(0, 1))


def shifted(pictures: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Return photographs slightly moved and relit; they have noise of their own."""
    moved = _moved(torch.cat([pictures, mask], 1))
    lit = (moved[:, :-1] + 1) * _uniform(pictures, 0.85, 1.1, 1, 1, 1) - 1
    return lit.clamp(-1, 1), moved[:, -1:].clamp(0, 1)


def _uniform(like: Tensor, low: float, high: float, *shape: int) -> Tensor:
    return low + (high - low) * torch.rand(len(like), *shape, device=like.device)


def _moved(pictures: Tensor) -> Tensor:
    """Turn, scale, shift and mirror a little: landmarks of photographs are never found exactly."""
    turn, scale = _uniform(pictures, -0.10, 0.10), _uniform(pictures, 0.92, 1.08)
    mirror = (_uniform(pictures, 0, 1) < 0.5).float() * 2 - 1
    across, down = _uniform(pictures, -0.05, 0.05), _uniform(pictures, -0.05, 0.05)
    rows = [
        torch.stack([scale * turn.cos() * mirror, -scale * turn.sin(), across], 1),
        torch.stack([scale * turn.sin() * mirror, scale * turn.cos(), down], 1),
    ]
    grid = functional.affine_grid(torch.stack(rows, 1), list(pictures.shape), align_corners=False)
    return functional.grid_sample(pictures, grid, align_corners=False, padding_mode="border")


def _relit(pictures: Tensor) -> Tensor:
    """Change exposure, contrast, gamma, cast and side light, the same for both."""
    side, pairs = pictures.shape[-1], pictures.shape[1] // 3
    light = ((pictures + 1) / 2).clamp(1e-3, 1)
    light = light ** _uniform(pictures, 0.65, 1.5, 1, 1, 1)
    place = torch.linspace(-0.5, 0.5, side, device=pictures.device)
    slope = _uniform(pictures, -0.35, 0.35, 1, 1, 1) * place.view(1, 1, 1, -1)
    slope = slope + _uniform(pictures, -0.25, 0.25, 1, 1, 1) * place.view(1, 1, -1, 1)
    gain = _uniform(pictures, 0.6, 1.2, 1, 1, 1) * _uniform(pictures, 0.9, 1.1, 3, 1, 1).repeat(1, pairs, 1, 1)
    lit = light * gain * (1 + slope)
    grey = lit.unflatten(1, (pairs, 3)).mean(2, keepdim=True)
    pale = _uniform(pictures, 0.6, 1.15, 1, 1, 1, 1)
    lit = (grey + pale * (lit.unflatten(1, (pairs, 3)) - grey)).flatten(1, 2)
    haze = _uniform(pictures, 0.0, 0.12, 1, 1, 1)
    return (lit * (1 - haze) + haze) * 2 - 1


def _softened(pictures: Tensor) -> Tensor:
    """Shrink two thirds of the pictures and enlarge them, like small photographs."""
    side, count = pictures.shape[-1], len(pictures)
    parts = [pictures[: count // 3]]
    for part in pictures[count // 3 :].chunk(3):
        small = max(16, int(side / (1.2 + 2.0 * float(torch.rand(())))))
        tiny = functional.interpolate(part, size=(small, small), mode="bilinear", antialias=True, align_corners=False)
        parts.append(functional.interpolate(tiny, size=(side, side), mode="bicubic", align_corners=False))
    return torch.cat(parts)


def _noise(pictures: Tensor) -> Tensor:
    side = pictures.shape[-1]
    coarse = torch.randn(len(pictures), 3, side // 2, side // 2, device=pictures.device)
    coarse = functional.interpolate(coarse, size=(side, side), mode="bilinear", align_corners=False)
    return _uniform(pictures, 0.0, 0.04, 1, 1, 1) * (0.5 * torch.randn_like(pictures) + 0.5 * coarse)


def _stored(pictures: Tensor) -> Tensor:
    """Quantise half of the pictures as a JPEG of quality 40 to 95 does."""
    half, side = len(pictures) // 2, pictures.shape[-1]
    waves = _waves(pictures.device)
    quality = _uniform(pictures[:half], 40, 95, 1, 1, 1, 1, 1)
    scale = torch.where(quality < 50, 50 / quality, 2 - quality / 50)
    table = torch.tensor(TABLE, device=pictures.device, dtype=torch.float32) * scale / 127.5
    squares = pictures[:half].unflatten(3, (side // 8, 8)).unflatten(2, (side // 8, 8)).transpose(3, 4)
    cosines = waves @ squares @ waves.T
    rounded = (cosines / table).round() * table
    back = (waves.T @ rounded @ waves).transpose(3, 4).flatten(4, 5).flatten(2, 3)
    return torch.cat([back, pictures[half:]])


def _waves(device: Any) -> Tensor:
    place = torch.arange(8, device=device, dtype=torch.float32)
    waves = torch.cos(torch.pi * place[:, None] * (2 * place + 1) / 16) / 2
    waves[0] /= 2**0.5
    return waves
