"""Network from a photograph and a value to flow, residual and mask."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from training.photographs.lines import WIDTH

WIDTHS = (48, 96, 160, 224)  # at a half, a quarter, an eighth and a sixteenth of the side
TOLD, DEEP = 96, 3
FLOW = 0.10  # of the side: the farthest a pixel comes from
Tensor = Any


class Told(nn.Module):
    """Two convolutions with a skip, their channels scaled and shifted by the condition."""

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.norms = nn.ModuleList([nn.GroupNorm(8, in_channels), nn.GroupNorm(8, out_channels)])
        self.first, self.second = (
            nn.Conv2d(in_channels, out_channels, 3, 1, 1),
            nn.Conv2d(out_channels, out_channels, 3, 1, 1),
        )
        self.told = nn.Linear(TOLD, 2 * out_channels)
        self.around = nn.Conv2d(in_channels, out_channels, 1) if in_channels != out_channels else nn.Identity()
        nn.init.zeros_(self.told.weight)
        nn.init.zeros_(self.told.bias)

    def forward(self, values: Tensor, embedding: Tensor) -> Tensor:
        """Return as many channels as were asked for."""
        inside = self.first(functional.silu(self.norms[0](values)))
        scale, shift = self.told(embedding)[:, :, None, None].chunk(2, 1)
        inside = self.norms[1](inside) * (1 + scale) + shift
        return self.around(values) + self.second(functional.silu(inside))


class Editor(nn.Module):
    """U-Net from faces and conditions to changed faces and masks of the change."""

    def __init__(self, widths: Sequence[int] = WIDTHS) -> None:
        super().__init__()
        self.told = nn.Sequential(nn.Linear(WIDTH, TOLD), nn.SiLU(), nn.Linear(TOLD, TOLD), nn.SiLU())
        self.enter = nn.Conv2d(3, widths[0], 5, 2, 2)
        self.down = nn.ModuleList([Told(width, width) for width in widths])
        self.shrink = nn.ModuleList([nn.Conv2d(one, two, 3, 2, 1) for one, two in pairwise(widths)])
        self.deep = nn.ModuleList([Told(widths[-1], widths[-1]) for _ in range(DEEP)])
        self.up = nn.ModuleList([Told(two + one, one) for one, two in zip(widths[-2::-1], widths[:0:-1], strict=True)])
        self.flow = nn.Conv2d(widths[0], 2, 3, 1, 1)
        self.wide = nn.Conv2d(widths[0] + 3, 32, 3, 1, 1)
        self.last = nn.Conv2d(32, 4, 3, 1, 1)
        for layer in (self.flow, self.last):
            nn.init.normal_(layer.weight, std=1e-3)
            nn.init.zeros_(layer.bias)

    def forward(self, faces: Tensor, conditions: Tensor) -> tuple[Tensor, Tensor]:
        """Return the masked change of each face, and the mask."""
        flow, residual, logits = self.parts(faces, conditions)
        mask = (1.2 * logits.sigmoid() - 0.1).clamp(0, 1)
        return mask * (warped(faces, flow) - faces + residual), mask

    def parts(self, faces: Tensor, conditions: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return the flow (shares of the side), the residual and the mask's log odds."""
        embedding = self.told(conditions)
        values, passed = self.enter(faces), []
        for place, block in enumerate(self.down):
            values = block(self.shrink[place - 1](values) if place else values, embedding)
            passed.append(values)
        for block in self.deep:
            values = block(values, embedding)
        for block, flat in zip(self.up, passed[-2::-1], strict=True):
            values = block(torch.cat([_twice(values), flat], 1), embedding)
        flow = FLOW * torch.tanh(self.flow(values))
        wide = functional.silu(self.wide(torch.cat([_twice(values), faces.to(values.dtype)], 1)))
        last = self.last(wide).float()
        return _twice(flow.float()), last[:, :3], last[:, 3:]


def warped(faces: Tensor, flow: Tensor) -> Tensor:
    """Return faces resampled by a flow (n x 2 x side x side, shares)."""
    side = faces.shape[-1]
    line = (torch.arange(side, device=faces.device, dtype=torch.float32) + 0.5) * (2 / side) - 1
    across, down = line.view(1, 1, side).expand(1, side, side), line.view(1, side, 1).expand(1, side, side)
    places = torch.stack([across, down], -1) + 2 * flow.permute(0, 2, 3, 1)
    return functional.grid_sample(faces.float(), places, mode="bilinear", padding_mode="border", align_corners=False)


def _twice(values: Tensor) -> Tensor:
    return functional.interpolate(values, scale_factor=2.0, mode="bilinear", align_corners=False)


class Critic(nn.Module):
    """Patches that look real, or not."""

    def __init__(self, width: int = 48) -> None:
        super().__init__()
        widths = [3, width, 2 * width, 4 * width, 4 * width]
        layers: list[nn.Module] = []
        for place, (in_channels, out_channels) in enumerate(pairwise(widths)):
            layer = nn.Conv2d(in_channels, out_channels, 4, 2 if place < 3 else 1, 1)
            layers += [nn.utils.parametrizations.spectral_norm(layer), nn.LeakyReLU(0.2)]
        self.body = nn.Sequential(*layers, nn.Conv2d(widths[-1], 1, 3, 1, 1))

    def forward(self, faces: Tensor) -> Tensor:
        """Return one number a patch."""
        return self.body(faces)
