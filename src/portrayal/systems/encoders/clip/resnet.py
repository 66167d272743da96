"""CLIP's ResNet: a stem of three convolutions, average pooling before strides, attention in the last pooling [1]_.

References
----------
.. [1] Radford et al. (2021), Learning transferable visual models from natural language supervision, ICML.
"""

from __future__ import annotations

from collections import OrderedDict

import torch
from torch import Tensor, nn
from torch.nn import functional

from portrayal.systems.encoders.clip.sizes import Size

EXPANSION = 4


class Bottleneck(nn.Module):
    """Three convolutions and a shortcut; strides are average poolings."""

    def __init__(self, width_in: int, width: int, stride: int) -> None:
        super().__init__()
        width_out = width * EXPANSION
        self.conv1 = nn.Conv2d(width_in, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.avgpool = nn.AvgPool2d(stride) if stride > 1 else nn.Identity()
        self.conv3 = nn.Conv2d(width, width_out, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(width_out)
        self.downsample: nn.Module | None = None
        if stride > 1 or width_in != width_out:
            convolution = nn.Conv2d(width_in, width_out, 1, bias=False)
            parts = [("-1", nn.AvgPool2d(stride)), ("0", convolution), ("1", nn.BatchNorm2d(width_out))]
            self.downsample = nn.Sequential(OrderedDict(parts))

    def forward(self, x: Tensor) -> Tensor:
        """Add the convolutions to the shortcut."""
        out = functional.relu(self.bn1(self.conv1(x)))
        out = functional.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(self.avgpool(out)))
        return functional.relu(out + (x if self.downsample is None else self.downsample(x)))


class AttentionPool(nn.Module):
    """The mean of the grid attends to the grid; the result is the embedding."""

    def __init__(self, side: int, width: int, heads: int, embedding: int) -> None:
        super().__init__()
        self.heads = heads
        self.positional_embedding = nn.Parameter(torch.randn(side**2 + 1, width) * width**-0.5)
        self.k_proj = nn.Linear(width, width)
        self.q_proj = nn.Linear(width, width)
        self.v_proj = nn.Linear(width, width)
        self.c_proj = nn.Linear(width, embedding)

    def forward(self, x: Tensor) -> Tensor:
        """Pool a map, batch x width x side x side."""
        tokens = x.flatten(2).transpose(1, 2)
        tokens = torch.cat([tokens.mean(dim=1, keepdim=True), tokens], dim=1)
        tokens = tokens + self.positional_embedding.to(tokens.dtype)
        query, key, value = self.q_proj(tokens[:, :1]), self.k_proj(tokens), self.v_proj(tokens)
        parts = [part.unflatten(2, (self.heads, -1)).transpose(1, 2) for part in (query, key, value)]
        seen = functional.scaled_dot_product_attention(*parts)
        return self.c_proj(seen.transpose(1, 2).flatten(2))[:, 0]


class ModifiedResNet(nn.Module):
    """The vision tower of RN50 to RN50x64."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        width = size.vision_width
        self.conv1 = nn.Conv2d(3, width // 2, 3, stride=2, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(width // 2)
        self.conv2 = nn.Conv2d(width // 2, width // 2, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width // 2)
        self.conv3 = nn.Conv2d(width // 2, width, 3, padding=1, bias=False)
        self.bn3 = nn.BatchNorm2d(width)
        self.avgpool = nn.AvgPool2d(2)
        blocks = size.vision_layers if isinstance(size.vision_layers, tuple) else (0, 0, 0, 0)
        self.layer1 = _layer(width, width, blocks[0], 1)
        self.layer2 = _layer(width * 4, width * 2, blocks[1], 2)
        self.layer3 = _layer(width * 8, width * 4, blocks[2], 2)
        self.layer4 = _layer(width * 16, width * 8, blocks[3], 2)
        self.attnpool = AttentionPool(size.image_size // 32, width * 32, size.heads, size.embedding)

    def features(self, pixels: Tensor) -> Tensor:
        """Return the map before the last pooling."""
        x = functional.relu(self.bn1(self.conv1(pixels)))
        x = functional.relu(self.bn2(self.conv2(x)))
        x = self.avgpool(functional.relu(self.bn3(self.conv3(x))))
        return self.layer4(self.layer3(self.layer2(self.layer1(x))))

    def forward(self, pixels: Tensor) -> Tensor:
        """Return the embedding of each picture."""
        return self.attnpool(self.features(pixels))


def _layer(width_in: int, width: int, blocks: int, stride: int) -> nn.Sequential:
    first = Bottleneck(width_in, width, stride)
    return nn.Sequential(first, *(Bottleneck(width * EXPANSION, width, 1) for _ in range(blocks - 1)))
