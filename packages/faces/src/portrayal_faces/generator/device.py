"""Device that faces are drawn on: a GPU through torch, else the CPU through ONNX."""

from __future__ import annotations

import os
from importlib.util import find_spec

import numpy as np

from portrayal.edges.parts.table import part_file
from portrayal_faces.generator.generator import PACKAGE, WHAT, levels, synthesise
from portrayal_faces.generator.network import read_network
from portrayal_faces.generator.studio import Draw
from portrayal_faces.generator.torch_network import TorchNetwork

BATCH = 16
CPU = "CPU"  # how the name of a device begins that is no GPU


def best_device() -> tuple[Draw, str]:
    """Return who draws faces fastest here, and what it is called."""
    if find_spec("torch"):
        import torch

        if torch.cuda.is_available():
            return on_torch("cuda"), torch.cuda.get_device_name()
    return synthesise, f"{CPU}, {os.cpu_count()} core(s), ONNX Runtime"


def on_torch(device: str) -> Draw:
    """Return who draws faces through torch on a device."""
    import torch

    network = TorchNetwork(read_network(part_file(PACKAGE, "data/SynthesisNetwork.xml", WHAT)), device)

    def draw(styles: np.ndarray, side: int) -> np.ndarray:
        tensor = torch.as_tensor(np.asarray(styles, np.float32)).to(device)
        made = [
            torch.nn.functional.interpolate(network(part).clamp(-1, 1), size=side, mode="area").cpu().numpy()
            for part in tensor.split(BATCH)
        ]
        return levels(np.concatenate(made))

    return draw
