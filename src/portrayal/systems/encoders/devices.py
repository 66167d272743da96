"""Device and precision of a network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch


def choose_device(device: str) -> str:
    """Return the device asked for; 'auto' takes a GPU where there is one."""
    import torch

    return ("cuda" if torch.cuda.is_available() else "cpu") if device == "auto" else device


def place(network: Any, device: str, precision: str) -> tuple[Any, torch.dtype]:
    """Return a network on its device in a precision, and the type it computes in.

    A processor computes in single precision with the rounded weights: few have arithmetic for halves, and torch's way around
    takes hundreds of times as long. So a model gives the same embeddings on every processor, too.
    """
    import torch

    rounded: torch.dtype = getattr(torch, precision)
    computed = torch.float32 if device.startswith("cpu") else rounded
    return network.to(device, rounded).to(device, computed).eval(), computed
