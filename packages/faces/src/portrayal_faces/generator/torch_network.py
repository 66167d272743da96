"""A network of `network.py` run by torch, on a GPU where there is one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from portrayal.errors import PortrayalError
from portrayal_faces.generator.network import Network, Node


class TorchNetwork:
    """A network ready to run on one device."""

    def __init__(self, network: Network, device: str = "cpu") -> None:
        import torch

        self.network, self.device = network, device
        self.done = _done_with(network)
        self.constants = {
            number: torch.from_numpy(np.array(values, dtype=_dtype(values))).to(
                device if np.issubdtype(values.dtype, np.floating) else "cpu"  # shapes are worked out on the CPU
            )
            for number, values in network.constants.items()
        }

    def __call__(self, batch: Any) -> Any:
        """Return the network's output for a batch (a tensor on the network's device)."""
        import torch

        values: dict[tuple[int, int], Any] = {}
        with torch.no_grad():
            for node in self.network.nodes:
                outputs = self._run(node, [values[place] for place in node.inputs], batch)
                if node.kind == "Result":
                    return outputs[0]
                values.update({(node.number, port): one for port, one in zip(node.outputs, outputs, strict=True)})
                for place in self.done[node.number]:
                    del values[place]
        raise PortrayalError("this network has no result.")

    def _run(self, node: Node, inputs: list[Any], batch: Any) -> list[Any]:
        if node.kind == "Const":
            return [self.constants[node.number]]
        if node.kind == "Parameter":
            return [batch]
        if node.kind not in OPERATIONS:
            raise PortrayalError(f"no operation {node.kind!r} is known. Known: {', '.join(sorted(OPERATIONS))}.")
        outputs = OPERATIONS[node.kind](node, inputs)
        return list(outputs) if isinstance(outputs, tuple) else [outputs]


def _done_with(network: Network) -> dict[int, set[tuple[int, int]]]:
    """Return after which node each value can be freed: 16 faces take 30 GB otherwise."""
    last = {place: node.number for node in network.nodes for place in node.inputs}
    made = {(node.number, port) for node in network.nodes for port in node.outputs}
    done: dict[int, set[tuple[int, int]]] = {node.number: set() for node in network.nodes}
    for place in made:
        done[last.get(place, place[0])].add(place)
    return done


def _dtype(values: np.ndarray) -> Any:
    return np.float32 if np.issubdtype(values.dtype, np.floating) else np.int64


def _matmul(node: Node, inputs: list[Any]) -> Any:
    first, second = (
        one.transpose(-1, -2) if node.has(turned) else one
        for one, turned in zip(inputs, ("transpose_a", "transpose_b"), strict=True)
    )
    return first @ second


def _mean(node: Node, inputs: list[Any]) -> Any:
    return inputs[0].mean(inputs[1].flatten().tolist(), keepdim=node.has("keep_dims"))


def _shape(_: Node, inputs: list[Any]) -> Any:
    import torch

    return torch.tensor(inputs[0].shape)


def _gather(_: Node, inputs: list[Any]) -> Any:
    values, places, axis = inputs
    slices = values.index_select(int(axis), places.flatten())
    return slices.reshape(values.shape[: int(axis)] + places.shape + values.shape[int(axis) + 1 :])


def _unsqueeze(_: Node, inputs: list[Any]) -> Any:
    tensor = inputs[0]
    for axis in sorted(inputs[1].flatten().tolist()):
        tensor = tensor.unsqueeze(axis)
    return tensor


def _squeeze(_: Node, inputs: list[Any]) -> Any:
    return inputs[0].squeeze(inputs[1].flatten().tolist())


def _concat(node: Node, inputs: list[Any]) -> Any:
    import torch

    return torch.cat(inputs, int(node.options["axis"]))


def _reshape(node: Node, inputs: list[Any]) -> Any:
    """Reshape; with special_zero a length of 0 keeps the input's."""
    wanted, had = inputs[1].tolist(), inputs[0].shape
    if node.has("special_zero"):
        wanted = [had[axis] if length == 0 else length for axis, length in enumerate(wanted)]
    return inputs[0].reshape(wanted)


def _broadcast(_: Node, inputs: list[Any]) -> Any:
    """Stretch either way: lengths of 1 of the wanted shape take the input's."""
    import torch

    return inputs[0].expand(torch.broadcast_shapes(inputs[0].shape, tuple(inputs[1].tolist())))


def _prelu(_: Node, inputs: list[Any]) -> Any:
    import torch

    return torch.nn.functional.prelu(inputs[0], inputs[1].flatten())


def _split(_: Node, inputs: list[Any]) -> Any:
    return tuple(inputs[0].split(inputs[2].tolist(), int(inputs[1])))


def _convolution(node: Node, inputs: list[Any], groups: int = 1) -> Any:
    import torch

    padded, weights = _padded(inputs[0], node), inputs[1]
    return torch.nn.functional.conv2d(
        padded, weights, None, node.numbers("strides"), 0, node.numbers("dilations"), groups
    )


def _group_convolution(node: Node, inputs: list[Any]) -> Any:
    """Convolve group by group; weights are groups x outputs x inputs x height x width."""
    weights = inputs[1]
    return _convolution(node, [inputs[0], weights.flatten(0, 1)], weights.shape[0])


def _group_deconvolution(node: Node, inputs: list[Any]) -> Any:
    import torch

    values, weights = inputs
    output = torch.nn.functional.conv_transpose2d(
        values, weights.flatten(0, 1), None, node.numbers("strides"), 0, node.numbers("output_padding"),
        weights.shape[0], node.numbers("dilations"),
    )  # fmt: skip
    (top, left), (bottom, right) = node.numbers("pads_begin"), node.numbers("pads_end")
    return output[:, :, top : output.shape[2] - bottom, left : output.shape[3] - right]


def _padded(values: Any, node: Node) -> Any:
    import torch

    (top, left), (bottom, right) = node.numbers("pads_begin"), node.numbers("pads_end")
    return torch.nn.functional.pad(values, (left, right, top, bottom))


OPERATIONS: dict[str, Callable[[Node, list[Any]], Any]] = {
    "Add": lambda _, inputs: inputs[0] + inputs[1],
    "Multiply": lambda _, inputs: inputs[0] * inputs[1],
    "Power": lambda _, inputs: inputs[0] ** inputs[1],
    "Broadcast": _broadcast,
    "Tile": lambda _, inputs: inputs[0].repeat(inputs[1].tolist()),
    "Result": lambda _, inputs: inputs[0],
    "MatMul": _matmul,
    "ReduceMean": _mean,
    "ShapeOf": _shape,
    "Gather": _gather,
    "Unsqueeze": _unsqueeze,
    "Squeeze": _squeeze,
    "Concat": _concat,
    "Reshape": _reshape,
    "PReLU": _prelu,
    "VariadicSplit": _split,
    "Convolution": _convolution,
    "GroupConvolution": _group_convolution,
    "GroupConvolutionBackpropData": _group_deconvolution,
}
