"""What a network runs on, and in which precision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch


def choose_device(device: str) -> str:
    """Return the device asked for; 'auto' takes a GPU where there is one."""
    import torch

    return ("cuda" if torch.cuda.is_available() else "cpu") if device == "auto" else device


def place(network: Any, device: str, precision: str) -> tuple[Any, torch.dtype]:
    """Return a network on its device, its weights rounded to a precision, and the type it computes in.

    A processor without bfloat16 arithmetic computes in single precision with the rounded weights: torch's way around is
    many times slower there, and prints its own stack for every network.
    """
    import torch

    dtype: torch.dtype = getattr(torch, precision)
    placed = network.to(device, dtype).eval()
    if dtype != torch.bfloat16 or not str(device).startswith("cpu") or processor_has_bfloat16():
        return placed, dtype
    return placed.float(), torch.float32


def processor_has_bfloat16() -> bool:
    """Tell whether this machine's processor multiplies in bfloat16 itself."""
    import torch

    return torch.backends.mkldnn.is_available() and bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())
