"""Grad-CAM for CLIP: the parts of a picture that resemble a text.

Selvaraju et al. (2017), Grad-CAM: visual explanations from deep networks via gradient-based localization, ICCV.
The gradient of their cosine flows back to the last convolution of a ResNet, or to the tokens that the last block of a
transformer attends to; channels are weighted by their mean gradient, and what is left above zero is the map.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional


def gradcam(
    encode: Callable[[Tensor], Tensor], layer: torch.nn.Module, pixels: np.ndarray | Tensor, targets: np.ndarray
) -> np.ndarray:
    """Return one map per picture on the grid of a layer, zero or more everywhere."""
    device = next(layer.parameters()).device
    images, texts = (torch.as_tensor(part, dtype=torch.float32, device=device) for part in (pixels, targets))
    seen: list[Tensor] = []

    def keep(module: Any, inputs: Any, output: Tensor) -> Tensor:
        seen.append(output.detach().requires_grad_(True))
        return seen[-1]

    handle = layer.register_forward_hook(keep)
    try:
        with torch.enable_grad():
            cosine = functional.cosine_similarity(encode(images), texts, dim=1)
            (gradient,) = torch.autograd.grad(cosine.sum(), seen[0])
    finally:
        handle.remove()
    activation, gradient = _grid(seen[0].detach()), _grid(gradient)
    weights = gradient.mean(dim=(2, 3), keepdim=True)
    return functional.relu((weights * activation).sum(dim=1)).cpu().numpy()


def _grid(values: Tensor) -> Tensor:
    """Return a layer's output as channels of a square grid."""
    if values.ndim == 4:
        return values
    side = round((values.shape[1] - 1) ** 0.5)
    return values[:, 1:].transpose(1, 2).unflatten(2, (side, side))


def enlarge(grid: np.ndarray, side: int) -> np.ndarray:
    """Return a map at side x side pixels, by bilinear interpolation."""
    tensor = torch.as_tensor(np.asarray(grid, np.float32))[None, None]
    return functional.interpolate(tensor, (side, side), mode="bilinear", align_corners=False)[0, 0].numpy()
