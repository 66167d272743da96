"""What a network runs on."""

from __future__ import annotations


def choose_device(device: str) -> str:
    """Return the device asked for; 'auto' takes a GPU where there is one."""
    import torch

    return ("cuda" if torch.cuda.is_available() else "cpu") if device == "auto" else device
