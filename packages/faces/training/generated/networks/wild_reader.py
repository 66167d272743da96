"""Second reader of age and gender: small Xception (npm `@vladmandic/face-api`, MIT).

It learnt from other pictures than ours, so that what is held by it and by our own readers is held by two that err differently. Of 900
FairFace adults it is right about gender for 89% and 7.8 years off. It finds; it never judges, and it does not ship.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional

SIDE, BLOCKS = 112, 2
MEANS = (122.782, 117.001, 104.298)
NAME = "age_gender_model"


class WildReader:
    """Age in years and the log odds of masculine, of face crops."""

    def __init__(self, folder: Path, device: str) -> None:
        self.weights = {name: torch.from_numpy(values).to(device) for name, values in read_weights(folder).items()}
        self.means = torch.tensor(MEANS, device=device).view(1, 3, 1, 1)

    @torch.no_grad()
    def read(self, crops: Any, batch: int = 512) -> Any:
        """Return years and log odds (n x 2) of crops (levels 0 to 255)."""
        return torch.cat([self._read(part) for part in crops.split(batch)])

    def _read(self, crops: Any) -> Any:
        small = functional.interpolate(crops.float(), size=(SIDE, SIDE), mode="bilinear", antialias=True)
        seen = (small - self.means) / 255
        features = self._plain(seen, "entry_flow/conv_in").relu()
        features = self._reduced(features, "entry_flow/reduction_block_0", features)
        features = self._reduced(features, "entry_flow/reduction_block_1", features.relu())
        for number in range(BLOCKS):
            features = self._residual(features, f"middle_flow/main_block_{number}")
        features = self._reduced(features, "exit_flow/reduction_block", features.relu())
        pooled = self._separable(features, "exit_flow/separable_conv").relu().mean((2, 3))
        years, odds = (self._last(pooled, name) for name in ("age", "gender"))
        return torch.cat([years, odds[:, :1] - odds[:, 1:]], 1)

    def _last(self, pooled: Any, name: str) -> Any:
        return pooled @ self.weights[f"fc/{name}/weights"] + self.weights[f"fc/{name}/bias"]

    def _reduced(self, inputs: Any, name: str, features: Any) -> Any:
        features = self._separable(features, f"{name}/separable_conv0")
        features = self._separable(features.relu(), f"{name}/separable_conv1")
        features = functional.max_pool2d(_same(features, 3, 2, -torch.inf), 3, 2)
        return features + self._plain(inputs, f"{name}/expansion_conv")

    def _residual(self, inputs: Any, name: str) -> Any:
        features = inputs
        for number in range(3):
            features = self._separable(features.relu(), f"{name}/separable_conv{number}")
        return features + inputs

    def _plain(self, inputs: Any, name: str) -> Any:
        filters = self.weights[f"{name}/filters"].permute(3, 2, 0, 1)
        return functional.conv2d(_same(inputs, filters.shape[2], 2), filters, self.weights[f"{name}/bias"], stride=2)

    def _separable(self, inputs: Any, name: str) -> Any:
        deep = self.weights[f"{name}/depthwise_filter"].permute(2, 3, 0, 1)
        across = self.weights[f"{name}/pointwise_filter"].permute(3, 2, 0, 1)
        features = functional.conv2d(inputs, deep, padding=1, groups=len(deep))
        return functional.conv2d(features, across, self.weights[f"{name}/bias"])


def read_weights(folder: Path) -> dict[str, np.ndarray]:
    """Return the weights by name; bytes become numbers by their own scale."""
    (group,) = json.loads((folder / f"{NAME}-weights_manifest.json").read_text(encoding="utf-8"))
    stored, at, weights = (folder / f"{NAME}.bin").read_bytes(), 0, {}
    for one in group["weights"]:
        count, small = int(np.prod(one["shape"])), one.get("quantization")
        kind = np.dtype(small["dtype"] if small else one["dtype"])
        values = np.frombuffer(stored, kind, count, at).astype(np.float32).reshape(one["shape"])
        weights[one["name"]] = values * np.float32(small["scale"]) + np.float32(small["min"]) if small else values.copy()  # fmt: skip
        at += count * kind.itemsize
    return weights


def _same(values: Any, size: int, stride: int, fill: float = 0.0) -> Any:
    """Pad as TensorFlow's SAME does: the odd pixel at the far side."""
    pads = []
    for length in reversed(values.shape[2:]):
        whole = max((-(-length // stride) - 1) * stride + size - length, 0)
        pads += [whole // 2, whole - whole // 2]
    return functional.pad(values, pads, value=fill) if any(pads) else values
