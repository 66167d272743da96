"""Small networks in plain torch: a residual reader of faces, and a parser of masks."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import torch
from torch import nn
from torch.nn import functional


class Block(nn.Module):
    """Two convolutions and a way around them."""

    def __init__(self, in_channels: int, out_channels: int, stride: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(in_channels, out_channels, 3, stride, 1, bias=False)
        self.second = nn.Conv2d(out_channels, out_channels, 3, 1, 1, bias=False)
        self.norms = nn.ModuleList([nn.BatchNorm2d(out_channels), nn.BatchNorm2d(out_channels)])
        self.around = (
            nn.Conv2d(in_channels, out_channels, 1, stride, bias=False)
            if stride > 1 or in_channels != out_channels
            else nn.Identity()
        )

    def forward(self, values: Any) -> Any:
        """Return the block's output."""
        inside = functional.relu(self.norms[0](self.first(values)))
        return functional.relu(self.norms[1](self.second(inside)) + self.around(values))


class ResidualReader(nn.Module):
    """Reader of a few numbers from faces (n x 3 x side x side)."""

    def __init__(self, outputs: int, width: int = 32, blocks: int = 2, drop: float = 0.3) -> None:
        super().__init__()
        widths = [width, width, 2 * width, 4 * width, 8 * width]
        layers: list[nn.Module] = [
            nn.Conv2d(3, width, 3, 1, 1, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.MaxPool2d(2),
        ]
        for in_channels, out_channels in pairwise(widths):
            layers += [Block(in_channels, out_channels, 1 if in_channels == out_channels else 2)]
            layers += [Block(out_channels, out_channels, 1) for _ in range(blocks - 1)]
        self.body = nn.Sequential(*layers)
        self.head = nn.Sequential(nn.Dropout(drop), nn.Linear(widths[-1], outputs))

    def forward(self, faces: Any) -> Any:
        """Return the numbers."""
        return self.head(self.body(faces).mean((2, 3)))


class Parser(nn.Module):
    """Small U-Net with each pixel's log odds of face, glasses or person."""

    def __init__(self, width: int = 16, outputs: int = 1) -> None:
        super().__init__()
        widths = [width, 2 * width, 3 * width, 4 * width]
        self.down = nn.ModuleList(
            [
                _pair(in_channels, out_channels)
                for in_channels, out_channels in zip([3, *widths[:-1]], widths, strict=True)
            ]
        )
        self.up = nn.ModuleList(
            [_pair(deep + flat, flat) for deep, flat in zip(widths[:0:-1], widths[-2::-1], strict=True)]
        )
        self.last = nn.Conv2d(width, outputs, 1)

    def forward(self, faces: Any) -> Any:
        """Return n x outputs x side x side."""
        skips, values = [], faces
        for place, layer in enumerate(self.down):
            values = layer(functional.max_pool2d(values, 2) if place else values)
            skips.append(values)
        for layer, flat in zip(self.up, skips[-2::-1], strict=True):
            values = layer(torch.cat([functional.interpolate(values, scale_factor=2.0, mode="nearest"), flat], 1))
        return self.last(values)


def _pair(in_channels: int, out_channels: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(in_channels, out_channels, 3, 1, 1, bias=False), nn.BatchNorm2d(out_channels), nn.ReLU(),
        nn.Conv2d(out_channels, out_channels, 3, 1, 1, bias=False), nn.BatchNorm2d(out_channels), nn.ReLU(),
    )  # fmt: skip
