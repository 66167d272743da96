"""Aligned faces on the training device, and what is done to them there: small moves, light, occlusion."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from portrayal.pictures.faces.align import SIZE
from training.packed import open_packed, pictures_of

# Trained on; looked at while settings were chosen, then trained on too; never seen before the last word; generated people.
PARTS = ("train", "choose", "held", "samples")
FOLDS = 4  # each latent critic never sees one fold, and judges the encoder there


@dataclass
class Faces:
    """Faces in memory: pixels as uint8 with a margin, values with NaN where unlabelled, and folds."""

    pixels: Tensor  # n x 3 x side x side
    values: Tensor  # n x WIDTH
    folds: Tensor  # n

    def __len__(self) -> int:
        return len(self.values)

    def to(self, device: str) -> Faces:
        """Move to the device, once: the whole set fits there."""
        return Faces(self.pixels.to(device), self.values.to(device), self.folds.to(device))

    def __add__(self, other: Faces) -> Faces:
        mine = (self.pixels, self.values, self.folds)
        theirs = (other.pixels, other.values, other.folds)
        return Faces(*(torch.cat(pair) for pair in zip(mine, theirs, strict=True)))

    def batch(self, size: int, random: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
        """Draw faces with replacement, moved a little; returns faces in [-1, 1], values and folds."""
        at = torch.randint(len(self), (size,), generator=random, device=self.pixels.device)
        return moved(self.pixels[at], random), self.values[at], self.folds[at]

    def centred(self) -> Tensor:
        """Return all faces without any move, in [-1, 1]."""
        edge = (self.pixels.shape[-1] - SIZE) // 2
        inner = self.pixels[:, :, edge : edge + SIZE, edge : edge + SIZE]
        return inner.float() / 127.5 - 1


def read_packed(path: Path | str) -> tuple[dict[str, Faces], dict[str, Any]]:
    """Read a packed file (see `prepare`): faces by part (see PARTS), and what it says of itself."""
    packed = open_packed(path)
    pixels = np.ascontiguousarray(np.stack([np.asarray(each) for each in pictures_of(packed)]).transpose(0, 3, 1, 2))
    values, parts, about = packed["values"], packed["parts"], json.loads(str(packed["about"]))
    folds = np.random.default_rng(about["seed"]).integers(FOLDS, size=len(values))
    chosen = {name: np.flatnonzero(parts == name) for name in PARTS}
    return {
        name: Faces(torch.from_numpy(pixels[at]), torch.from_numpy(values[at]), torch.from_numpy(folds[at]))
        for name, at in chosen.items()
    }, about


def moved(pixels: Tensor, random: torch.Generator) -> Tensor:
    """Turn by up to 4 degrees, scale by up to 5%, shift by up to 4 pixels, mirror half; to [-1, 1]."""
    n, device = len(pixels), pixels.device
    spin, grow, right, down = (2 * torch.rand(4, n, generator=random, device=device) - 1).unbind()
    flip = torch.where(torch.rand(n, generator=random, device=device) < 0.5, -1.0, 1.0)
    size = SIZE / pixels.shape[-1] * (1 + 0.05 * grow)
    cos, sin = torch.cos(0.07 * spin) * size, torch.sin(0.07 * spin) * size
    shift = 8.0 / pixels.shape[-1]
    rows = [cos * flip, -sin, right * shift, sin * flip, cos, down * shift]
    grid = functional.affine_grid(torch.stack(rows, 1).view(n, 2, 3), [n, 3, SIZE, SIZE], align_corners=False)
    return functional.grid_sample(pixels.float() / 127.5 - 1, grid, padding_mode="border", align_corners=False)


def disturbed(faces: Tensor, random: torch.Generator, copies: int = 1) -> Tensor:
    """Change light and colour, shift, cover a square, add noise: what a reader must see through.

    With `copies` the faces are that many stacked sets, and face i of each set is disturbed alike.
    """
    n, device = len(faces), faces.device

    def draw(*shape: int) -> Tensor:
        drawn = 2 * torch.rand(n // copies, *shape, generator=random, device=device) - 1
        return drawn.repeat(copies, *(1 for _ in shape))

    theta = torch.zeros(n, 2, 3, device=device)
    theta[:, 0, 0] = theta[:, 1, 1] = 1 + 0.1 * draw()
    theta[:, 0, 1], theta[:, 1, 0] = 0.08 * draw(), 0.08 * draw()
    theta[:, :, 2] = 0.1 * draw(2)
    grid = functional.affine_grid(theta, list(faces.shape), align_corners=False)
    faces = functional.grid_sample(faces, grid, padding_mode="border", align_corners=False)
    grey = faces.mean(1, keepdim=True)
    faces = grey + (faces - grey) * (1 + 0.5 * draw(1, 1, 1))
    faces = faces * (1 + 0.25 * draw(1, 1, 1)) + 0.25 * draw(1, 1, 1) + 0.05 * draw(3, 1, 1)
    noise = torch.randn((n // copies, *faces.shape[1:]), generator=random, device=device).repeat(copies, 1, 1, 1)
    return _covered(faces + 0.08 * noise, (draw(2) + 1) / 2)


def _covered(faces: Tensor, places: Tensor, side: float = 0.3) -> Tensor:
    """Cover a square of 0.3 of the side in each face with grey."""
    height = faces.shape[2]
    corner = places * (1 + side) - side
    line = torch.linspace(0, 1, height, device=faces.device)
    rows = (line > corner[:, :1]) & (line < corner[:, :1] + side)
    columns = (line > corner[:, 1:]) & (line < corner[:, 1:] + side)
    hidden = (rows[:, :, None] & columns[:, None, :])[:, None]
    return faces.masked_fill(hidden, 0.0)
