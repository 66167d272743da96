"""TensorFlow.js networks (`model.json` and shards) in torch, for parser and recogniser."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional

NUMBERS = {"float32": "<f4", "int32": "<i4"}
Tensor = Any  # of torch, which is not looked into


class TfjsNetwork:
    """A graph model; pictures go in as n x 3 x height x width."""

    def __init__(self, folder: Path, device: str = "cpu") -> None:
        model = json.loads((folder / "model.json").read_text(encoding="utf-8"))
        self.nodes = {node["name"]: node for node in model["modelTopology"]["node"]}
        self.entry = next(node["name"] for node in self.nodes.values() if node["op"] == "Placeholder")
        self.constants = {
            name: torch.from_numpy(values.copy()).to(device) for name, values in _weights(model, folder).items()
        }

    def __call__(self, batch: Tensor, wanted: str) -> Tensor:
        """Return the node `wanted` for a batch."""
        values: dict[str, Any] = {self.entry: batch}
        waiting = [wanted]
        while waiting:
            name = waiting[-1]
            node = self.nodes[name]
            missing = [one for one in node.get("input", []) if one not in values]
            if missing and name not in values:
                waiting += missing
                continue
            waiting.pop()
            if name not in values:
                values[name] = self._run(node, [values[one] for one in node.get("input", [])])
        return values[wanted]

    def _run(self, node: dict[str, Any], inputs: list[Any]) -> Any:
        if node["op"] == "Const":
            return self.constants[node["name"]]
        return OPERATIONS[node["op"]](node, inputs)


def _weights(model: dict[str, Any], folder: Path) -> dict[str, np.ndarray]:
    weights = {}
    for group in model["weightsManifest"]:
        stored, at = b"".join((folder / path).read_bytes() for path in group["paths"]), 0
        for one in group["weights"]:
            count = int(np.prod(one["shape"], dtype=int))
            values = np.frombuffer(stored, NUMBERS[one["dtype"]], count, at).reshape(one["shape"])
            weights[one["name"]], at = values, at + 4 * count
    return weights


def _pair(node: dict[str, Any], option: str) -> tuple[int, int]:
    """Return height and width of an option such as strides."""
    _, high, wide, _ = (int(number) for number in node["attr"][option]["list"]["i"])
    return high, wide


def _same(values: Tensor, size: tuple[int, int], stride: tuple[int, int], fill: float = 0.0) -> Tensor:
    """Pad as TensorFlow's SAME does: the odd pixel at the far side."""
    pads = []
    for length, one, step in zip(values.shape[2:], size, stride, strict=True):
        whole = max((-(-length // step) - 1) * step + one - length, 0)
        pads.append((whole // 2, whole - whole // 2))
    (top, bottom), (left, right) = pads
    return functional.pad(values, (left, right, top, bottom), value=fill)


def _padded(node: dict[str, Any], values: Tensor, size: tuple[int, int], stride: tuple[int, int]) -> Tensor:
    """Pad as the node says: SAME, or not at all."""
    padding = base64.b64decode(node["attr"]["padding"]["s"]).decode()
    return _same(values, size, stride) if padding == "SAME" else values


def _finish(node: dict[str, Any], output: Tensor, inputs: list[Tensor]) -> Tensor:
    """Add the bias and apply what was fused into a convolution."""
    fused = [
        base64.b64decode(word).decode() for word in node["attr"].get("fused_ops", {"list": {}})["list"].get("s", [])
    ]
    if "BiasAdd" in fused:
        output = output + inputs[2].view(1, -1, 1, 1)
    return output.relu() if "Relu" in fused else output


def _convolution(node: dict[str, Any], inputs: list[Tensor]) -> Tensor:
    weights = inputs[1].permute(3, 2, 0, 1)
    stride = _pair(node, "strides")
    padded = _padded(node, inputs[0], tuple(weights.shape[2:]), stride)
    return _finish(node, functional.conv2d(padded, weights, None, stride), inputs)


def _depthwise(node: dict[str, Any], inputs: list[Tensor]) -> Tensor:
    high, wide, channels, each = inputs[1].shape
    weights = inputs[1].permute(2, 3, 0, 1).reshape(channels * each, 1, high, wide)
    stride = _pair(node, "strides")
    padded = _padded(node, inputs[0], (high, wide), stride)
    return _finish(node, functional.conv2d(padded, weights, None, stride, groups=channels), inputs)


def _maximum(node: dict[str, Any], inputs: list[Tensor]) -> Tensor:
    size, stride = _pair(node, "ksize"), _pair(node, "strides")
    return functional.max_pool2d(_same(inputs[0], size, stride, -torch.inf), size, stride)


def _average(node: dict[str, Any], inputs: list[Tensor]) -> Tensor:
    """Average over the pixels that are there, as TensorFlow does at the edge."""
    size, stride = _pair(node, "ksize"), _pair(node, "strides")
    sums = functional.avg_pool2d(_same(inputs[0], size, stride), size, stride)
    there = functional.avg_pool2d(_same(torch.ones_like(inputs[0][:1, :1]), size, stride), size, stride)
    return sums / there


def _resize(node: dict[str, Any], inputs: list[Tensor]) -> Tensor:
    """Resize with the old convention: source = place * (old / new), without half pixels."""
    high, wide = (int(number) for number in inputs[1])
    rows, columns = (_between(old, new) for old, new in zip(inputs[0].shape[2:], (high, wide), strict=True))
    return _interpolate(_interpolate(inputs[0], rows, 2), columns, 3)


def _between(old: int, new: int) -> tuple[Tensor, Tensor, Tensor]:
    place = torch.arange(new) * (old / new)
    low = place.floor().long()
    return low, (low + 1).clamp(max=old - 1), (place - low).float()


def _interpolate(values: Tensor, between: tuple[Tensor, Tensor, Tensor], axis: int) -> Tensor:
    low, high, share = (one.to(values.device) for one in between)
    shape = [1, 1, 1, 1]
    shape[axis] = -1
    share = share.view(shape)
    return values.index_select(axis, low) * (1 - share) + values.index_select(axis, high) * share


def _slice(_: dict[str, Any], inputs: list[Any]) -> Any:
    start, stop = int(inputs[1][0]), int(inputs[2][0])
    return inputs[0][start:stop] if stop - start > 1 else inputs[0][start]


def _shape(_: dict[str, Any], inputs: list[Tensor]) -> Tensor:
    n, channels, high, wide = inputs[0].shape
    return torch.tensor([n, high, wide, channels])


OPERATIONS: dict[str, Callable[[dict[str, Any], list[Any]], Any]] = {
    "_FusedConv2D": _convolution,
    "Conv2D": _convolution,
    "FusedDepthwiseConv2dNative": _depthwise,
    "MaxPool": _maximum,
    "AvgPool": _average,
    "ResizeBilinear": _resize,
    "StridedSlice": _slice,
    "Shape": _shape,
    "Relu": lambda _, inputs: inputs[0].relu(),
    "Sigmoid": lambda _, inputs: inputs[0].sigmoid(),
    "Add": lambda _, inputs: _both(inputs, torch.add),
    "Mul": lambda _, inputs: _both(inputs, torch.mul),
    "ConcatV2": lambda _, inputs: torch.cat(inputs[:-1], 1),
    "AddV2": lambda _, inputs: _both(inputs, torch.add),
    "Sub": lambda _, inputs: _both(inputs, torch.sub),
    "Maximum": lambda _, inputs: _both(inputs, torch.maximum),
    "Minimum": lambda _, inputs: _both(inputs, torch.minimum),
    "Pad": lambda _, inputs: functional.pad(inputs[0], inputs[1].flip(0)[1:3].flatten().tolist()),
    "DepthwiseConv2dNative": _depthwise,
    # TensorFlow flattens with channels last.
    "Reshape": lambda _, inputs: inputs[0].permute(0, 2, 3, 1).flatten(1),
    "MatMul": lambda _, inputs: inputs[0] @ inputs[1],
    "Mean": lambda _, inputs: inputs[0].mean((2, 3), keepdim=True),
    "Pack": lambda _, inputs: torch.stack([torch.as_tensor(one).reshape(()).cpu() for one in inputs]),
}


def _both(inputs: list[Any], join: Callable[[Any, Any], Any]) -> Any:
    """Join two values, either of which may be a constant of one number a channel."""
    first, second = inputs
    return join(torch.as_tensor(_channels(first, second)), torch.as_tensor(_channels(second, first)))


def _channels(values: Any, other: Any) -> Any:
    """Move a constant per channel to the second axis, torch's channels."""
    if (
        isinstance(values, torch.Tensor)
        and isinstance(other, torch.Tensor)
        and other.dim() == 4
        and values.dim() in (1, 4)
    ):
        return values.reshape(1, -1, 1, 1) if values.dim() == 1 or values.shape[:3] == (1, 1, 1) else values
    return values.cpu() if isinstance(values, torch.Tensor) and not isinstance(other, torch.Tensor) else values
