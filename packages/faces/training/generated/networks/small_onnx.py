"""The two small networks of `distil.py` as ONNX, with folded norms and 16-bit weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from portrayal.edges.onnx_graph import ANY, Graph
from portrayal_faces.generator.studio import PARSER_SIDE, READER_SIDE
from training.generated.networks.nets import Block, Parser, ResidualReader


def reader_onnx(net: ResidualReader, mean: np.ndarray, spread: np.ndarray) -> bytes:
    """Return the reader as ONNX: pictures (-1 to 1) to readings in own units."""
    graph = Graph()
    first, norm = net.body[0], net.body[1]
    now = graph.node("Relu", [_folded(graph, "given", first, norm, "first")], "first.on")
    now = graph.node("MaxPool", [now], "pooled", kernel_shape=[2, 2], strides=[2, 2])
    for place, block in enumerate(part for part in net.body if isinstance(part, Block)):
        now = _block(graph, now, block, f"block{place}")
    now = graph.node("ReduceMean", [now], "mean", axes=[2, 3], keepdims=0)
    head = net.head[1]
    weight = graph.half("head.weight", _numbers(head.weight).T * spread)
    now = graph.node("MatMul", [now, weight], "head")
    graph.node(
        "Add", [now, graph.tensor("head.bias", _numbers(head.bias) * spread + mean)], "found"
    )  # not halved: means of readings
    return graph.model({"given": (ANY, 3, READER_SIDE, READER_SIDE), "found": (ANY, len(mean))})


def parser_onnx(net: Parser) -> bytes:
    """Return the parser as ONNX: pictures (-1 to 1) to probabilities of each kind."""
    graph, skips, now = Graph(), [], "given"
    for place, pair in enumerate(net.down):
        if place:
            now = graph.node("MaxPool", [now], f"down{place}.half", kernel_shape=[2, 2], strides=[2, 2])
        now = _pair(graph, now, pair, f"down{place}")
        skips.append(now)
    scales = graph.tensor("scales", np.array([1.0, 1.0, 2.0, 2.0]))
    for place, (pair, flat) in enumerate(zip(net.up, skips[-2::-1], strict=True)):
        wide = graph.node("Resize", [now, "", scales], f"up{place}.wide", mode="nearest", nearest_mode="floor",
                          coordinate_transformation_mode="asymmetric")  # fmt: skip
        now = _pair(graph, graph.node("Concat", [wide, flat], f"up{place}.both", axis=1), pair, f"up{place}")
    last = [graph.half("last.weight", _numbers(net.last.weight)), graph.tensor("last.bias", _numbers(net.last.bias))]
    graph.node("Sigmoid", [graph.node("Conv", [now, *last], "last")], "found")
    kinds = net.last.out_channels
    return graph.model({"given": (ANY, 3, PARSER_SIDE, PARSER_SIDE), "found": (ANY, kinds, PARSER_SIDE, PARSER_SIDE)})


def _block(graph: Graph, tensor: str, block: Block, name: str) -> str:
    inside = graph.node("Relu", [_folded(graph, tensor, block.first, block.norms[0], f"{name}.first")], f"{name}.on")
    second = _folded(graph, inside, block.second, block.norms[1], f"{name}.second")
    around = tensor
    if hasattr(block.around, "weight"):
        weight = graph.half(f"{name}.around.weight", _numbers(block.around.weight))
        around = graph.node("Conv", [tensor, weight], f"{name}.around", strides=[int(block.around.stride[0])] * 2)
    return graph.node("Relu", [graph.node("Add", [second, around], f"{name}.sum")], f"{name}.out")


def _pair(graph: Graph, tensor: str, pair: Any, name: str) -> str:
    for place in (0, 3):
        output = _folded(graph, tensor, pair[place], pair[place + 1], f"{name}.{place}")
        tensor = graph.node("Relu", [output], f"{name}.{place}.on")
    return tensor


def _folded(graph: Graph, tensor: str, convolution: Any, norm: Any, name: str) -> str:
    """Write a convolution and the norm after it as one convolution."""
    scale = _numbers(norm.weight) / np.sqrt(_numbers(norm.running_var) + norm.eps)
    weight = graph.half(f"{name}.weight", _numbers(convolution.weight) * scale[:, None, None, None])
    bias = graph.tensor(f"{name}.bias", _numbers(norm.bias) - _numbers(norm.running_mean) * scale)
    stride, pad = int(convolution.stride[0]), int(convolution.padding[0])
    return graph.node("Conv", [tensor, weight, bias], name, strides=[stride] * 2, pads=[pad] * 4)


def _numbers(values: Any) -> np.ndarray:
    return values.detach().double().cpu().numpy()
