"""Grad-CAM for CLIP: which parts of a picture carry its similarity with a text [1]_.

The target is the cosine of picture and text. Its gradient flows back to the last convolution of a ResNet, or to the
tokens the last block of a transformer attends to (the class token left out); channels are weighted by their mean
gradient, and what is left above zero is the map.

References
----------
.. [1] Selvaraju et al. (2017), Grad-CAM: visual explanations from deep networks via gradient-based localization, ICCV.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from portrayal.systems.encoders.clip.network import Clip


def gradcam(network: Clip, pixels: np.ndarray | Tensor, targets: np.ndarray | Tensor) -> np.ndarray:
    """Return one map per picture, on the grid of the last layer, zero or more everywhere."""
    network = network.eval()
    device = next(network.parameters()).device
    images = torch.as_tensor(pixels, dtype=torch.float32, device=device)
    texts = torch.as_tensor(targets, dtype=torch.float32, device=device)
    seen: list[Tensor] = []

    def keep(module: Any, given: Any, output: Tensor) -> Tensor:
        seen.append(output.detach().requires_grad_(True))
        return seen[-1]

    handle = last_layer(network).register_forward_hook(keep)
    try:
        with torch.enable_grad():
            cosine = functional.cosine_similarity(network.encode_image(images), texts, dim=1)
            (gradient,) = torch.autograd.grad(cosine.sum(), seen[0])
    finally:
        handle.remove()
    return _map(seen[0].detach(), gradient, network).cpu().numpy()


def last_layer(network: Clip) -> torch.nn.Module:
    """Return the layer whose output is weighted."""
    visual: Any = network.visual
    return visual.layer4 if network.size.is_resnet else visual.transformer.resblocks[-1].ln_1


def _map(activation: Tensor, gradient: Tensor, network: Clip) -> Tensor:
    if not network.size.is_resnet:  # tokens to a grid of channels
        side = network.size.image_size // (network.size.patch or 1)
        activation, gradient = (
            part[:, 1:].transpose(1, 2).unflatten(2, (side, side)) for part in (activation, gradient)
        )
    weights = gradient.mean(dim=(2, 3), keepdim=True)
    return functional.relu((weights * activation).sum(dim=1))


def enlarge(grid: np.ndarray, side: int) -> np.ndarray:
    """Return a map at side x side pixels, by bilinear interpolation."""
    tensor = torch.as_tensor(np.asarray(grid, np.float32))[None, None]
    return functional.interpolate(tensor, (side, side), mode="bilinear", align_corners=False)[0, 0].numpy()
