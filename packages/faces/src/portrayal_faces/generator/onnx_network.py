"""Translation of a `network.py` network to ONNX, operation by operation."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from portrayal.edges.onnx_graph import ANY, Graph
from portrayal.errors import PortrayalError
from portrayal_faces.generator.network import Network, Node

Writer = Callable[["OnnxWriter", Node], object]


class OnnxWriter:
    """A graph being written: the same nodes under names of their own."""

    def __init__(self, network: Network) -> None:
        self.network, self.graph = network, Graph()

    def inputs(self, node: Node) -> list[str]:
        """Return the names of a node's inputs."""
        return [f"{number}.{port}" for number, port in node.inputs]

    def outputs(self, node: Node) -> list[str]:
        """Return the names of a node's outputs."""
        return [f"{node.number}.{port}" for port in node.outputs]

    def constant(self, node: Node, place: int) -> np.ndarray:
        """Return the constant behind an input, for ONNX to take as an option."""
        source = node.inputs[place][0]
        if source not in self.network.constants:
            raise PortrayalError(f"input {place} of a {node.kind} is computed; expected a constant.")
        return self.network.constants[source]

    def reshaped(self, node: Node, place: int, shape: Sequence[int]) -> str:
        """Add a constant input in another shape; return its name."""
        return self.graph.tensor(f"{node.number}.shaped", self.constant(node, place).reshape(shape))


def to_onnx(network: Network, output_shape: Sequence[int]) -> bytes:
    """Return an ONNX model with an input `given` (n x 512) and an output `found`."""
    writer = OnnxWriter(network)
    for node in network.nodes:
        if node.kind not in WRITERS:
            raise PortrayalError(f"no operation {node.kind!r} is known. Known: {', '.join(sorted(WRITERS))}.")
        WRITERS[node.kind](writer, node)
    return writer.graph.model({"given": (ANY, 512), "found": (ANY, *output_shape)})


def _plain(kind: str) -> Writer:
    """Write an operation whose inputs are the same in both forms."""

    def write(writer: OnnxWriter, node: Node) -> object:
        return writer.graph.node(kind, writer.inputs(node), writer.outputs(node)[0])

    return write


def _constant(writer: OnnxWriter, node: Node) -> object:
    return writer.graph.tensor(writer.outputs(node)[0], writer.network.constants[node.number])


def _parameter(writer: OnnxWriter, node: Node) -> object:
    return writer.graph.node("Identity", ["given"], writer.outputs(node)[0])


def _result(writer: OnnxWriter, node: Node) -> object:
    return writer.graph.node("Identity", writer.inputs(node), "found")


def _matmul(writer: OnnxWriter, node: Node) -> object:
    names = writer.inputs(node)
    for place, option in enumerate(("transpose_a", "transpose_b")):
        if node.has(option):
            names[place] = writer.graph.node("Transpose", [names[place]], f"{node.number}.turned{place}", perm=[1, 0])
    return writer.graph.node("MatMul", names, writer.outputs(node)[0])


def _mean(writer: OnnxWriter, node: Node) -> object:
    axes = [int(axis) for axis in writer.constant(node, 1).flatten()]
    first, output = writer.inputs(node)[:1], writer.outputs(node)[0]
    return writer.graph.node("ReduceMean", first, output, axes=axes, keepdims=int(node.has("keep_dims")))


def _gather(writer: OnnxWriter, node: Node) -> object:
    axis = int(writer.constant(node, 2))
    return writer.graph.node("Gather", writer.inputs(node)[:2], writer.outputs(node)[0], axis=axis)


def _concat(writer: OnnxWriter, node: Node) -> object:
    axis = int(node.options["axis"])
    return writer.graph.node("Concat", writer.inputs(node), writer.outputs(node)[0], axis=axis)


def _prelu(writer: OnnxWriter, node: Node) -> object:
    """Translate a slope per channel: ONNX aligns the last axis, OpenVINO the second."""
    slope = writer.constant(node, 1)
    shape = [1] if slope.size == 1 else [-1, 1, 1]
    return writer.graph.node(
        "PRelu", [writer.inputs(node)[0], writer.reshaped(node, 1, shape)], writer.outputs(node)[0]
    )


def _split(writer: OnnxWriter, node: Node) -> object:
    data, _, lengths = writer.inputs(node)
    axis = int(writer.constant(node, 1))
    return writer.graph.split("Split", [data, lengths], writer.outputs(node), axis=axis)


def _convolution(kind: str, grouped: bool) -> Writer:
    def write(writer: OnnxWriter, node: Node) -> object:
        data, weights = writer.inputs(node)
        shape = writer.constant(node, 1).shape if grouped else ()
        if grouped:
            weights = writer.reshaped(node, 1, [-1, *shape[2:]])
        pads = [*node.numbers("pads_begin"), *node.numbers("pads_end")]
        return writer.graph.node(
            kind, [data, weights], writer.outputs(node)[0], strides=node.numbers("strides"), pads=pads,
            dilations=node.numbers("dilations"), group=int(shape[0]) if grouped else 1,
        )  # fmt: skip

    return write


WRITERS: dict[str, Writer] = {
    "Const": _constant,
    "Parameter": _parameter,
    "Result": _result,
    "Add": _plain("Add"),
    "Multiply": _plain("Mul"),
    "Power": _plain("Pow"),
    "Broadcast": _plain("Expand"),
    "Tile": _plain("Tile"),
    "ShapeOf": _plain("Shape"),
    "Unsqueeze": _plain("Unsqueeze"),
    "Squeeze": _plain("Squeeze"),
    "Reshape": _plain("Reshape"),
    "MatMul": _matmul,
    "ReduceMean": _mean,
    "Gather": _gather,
    "Concat": _concat,
    "PReLU": _prelu,
    "VariadicSplit": _split,
    "Convolution": _convolution("Conv", grouped=False),
    "GroupConvolution": _convolution("Conv", grouped=True),
    "GroupConvolutionBackpropData": _convolution("ConvTranspose", grouped=True),
}
