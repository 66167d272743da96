"""The same products with fewer passes over memory, for embedding on a processor; gradients need the plain way."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

STEEPNESS = 1.702  # of CLIP's GELU


def is_lean(x: Tensor) -> bool:
    """Tell whether nothing but the result is wanted, in single precision on a processor."""
    plain = x.device.type == "cpu" and x.dtype == torch.float32
    return plain and not torch.is_grad_enabled() and not torch.is_autocast_enabled("cpu")


def room_for(x: Tensor, widen: nn.Linear) -> Tensor:
    """Return room for what `quick_map` has in the middle: one for all blocks, since new memory costs as much as its use."""
    return x.new_empty(x.shape[:-1].numel(), widen.out_features)


def quick_map(x: Tensor, widen: nn.Linear, narrow: nn.Linear, room: Tensor) -> Tensor:
    """Return two linear maps around x sigmoid(1.702 x), which is silu(1.702 x) / 1.702: the factors go into the products."""
    rows = x.flatten(0, -2)
    hidden = room[: len(rows)]
    torch.addmm(widen.bias, rows, widen.weight.t(), beta=STEEPNESS, alpha=STEEPNESS, out=hidden)
    functional.silu(hidden, inplace=True)
    return torch.addmm(narrow.bias, hidden, narrow.weight.t(), alpha=1 / STEEPNESS).view_as(x)


def patches_of(pixels: Tensor, weight: Tensor) -> Tensor:
    """Return the embedding of each patch, batch x patches x width: a convolution whose windows do not overlap."""
    side = weight.shape[-1]
    down, across = pixels.shape[2] // side, pixels.shape[3] // side
    whole = pixels[:, :, : down * side, : across * side]  # what is left over of a patch is not looked at
    split = whole.unflatten(3, (across, side)).unflatten(2, (down, side))
    return functional.linear(split.permute(0, 2, 4, 1, 3, 5).flatten(3).flatten(1, 2), weight.flatten(1))
