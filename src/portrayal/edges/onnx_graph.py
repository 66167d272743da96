"""A small network written in ONNX's own form (protocol buffers), to run on ONNX Runtime.

Only what networks of convolutions need: nodes with numbers and texts as attributes, tensors of floats and integers, one input
and one output. The numbers of fields are those of onnx.proto3.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

IR, OPSET = 8, 13
FLOAT, INTEGER, HALF = 1, 7, 10  # of 32, 64 and 16 bits
STORED = {FLOAT: "<f4", INTEGER: "<i8", HALF: "<f2"}
ANY = -1  # a length of a shape that is known only when the network runs
Attribute = int | float | str | Sequence[int]


@dataclass
class Graph:
    """Nodes and tensors, added in the order in which they run."""

    nodes: list[bytes] = field(default_factory=list)
    tensors: list[bytes] = field(default_factory=list)

    def tensor(self, name: str, values: np.ndarray, kind: int = FLOAT) -> str:
        """Add an array of floats, or of integers as they are; return its name."""
        kind = INTEGER if np.issubdtype(values.dtype, np.integer) else kind
        dims = b"".join(_number(1, length) for length in values.shape)
        raw = np.asarray(values, dtype=STORED[kind]).tobytes()
        self.tensors.append(dims + _number(2, kind) + _text(8, name) + _bytes(9, raw))
        return name

    def half(self, name: str, values: np.ndarray) -> str:
        """Add an array kept as floats of 16 bits; return its name."""
        return self.node("Cast", [self.tensor(f"{name}.half", values.astype("<f2"), HALF)], name, to=FLOAT)

    def node(self, kind: str, inputs: Sequence[str], output: str, **attributes: Attribute) -> str:
        """Add a node; return the name of its output."""
        return self.split(kind, inputs, [output], **attributes)[0]

    def split(self, kind: str, inputs: Sequence[str], outputs: Sequence[str], **attributes: Attribute) -> Sequence[str]:
        """Add a node of several outputs; return their names."""
        named = b"".join(_text(1, one) for one in inputs) + b"".join(_text(2, one) for one in outputs)
        named += _text(3, outputs[0]) + _text(4, kind)
        self.nodes.append(named + b"".join(_bytes(5, _attribute(*one)) for one in attributes.items()))
        return outputs

    def model(self, shapes: Mapping[str, Sequence[int]]) -> bytes:
        """Return the model; `shapes` has the input's first, then the output's."""
        first, last = (_value(name, shape) for name, shape in shapes.items())
        nodes = b"".join(_bytes(1, node) for node in self.nodes)
        tensors = b"".join(_bytes(5, tensor) for tensor in self.tensors)
        graph = nodes + _text(2, "network") + tensors + _bytes(11, first) + _bytes(12, last)
        return _number(1, IR) + _bytes(7, graph) + _bytes(8, _text(1, "") + _number(2, OPSET))


def _attribute(name: str, value: Attribute) -> bytes:
    if isinstance(value, str):
        return _text(1, name) + _text(4, value) + _number(20, 3)
    if isinstance(value, int):
        return _text(1, name) + _number(3, value) + _number(20, 2)
    if isinstance(value, float):
        return _text(1, name) + _key(2, 5) + np.float32(value).tobytes() + _number(20, 1)
    return _text(1, name) + b"".join(_number(8, one) for one in value) + _number(20, 7)


def _value(name: str, shape: Sequence[int]) -> bytes:
    dims = b"".join(_bytes(1, _text(2, "n") if length == ANY else _number(1, length)) for length in shape)
    return _text(1, name) + _bytes(2, _bytes(1, _number(1, FLOAT) + _bytes(2, dims)))


def _key(place: int, kind: int) -> bytes:
    return _varint(place << 3 | kind)


def _number(place: int, value: int) -> bytes:
    return _key(place, 0) + _varint(value)


def _text(place: int, value: str) -> bytes:
    return _bytes(place, value.encode())


def _bytes(place: int, value: bytes) -> bytes:
    return _key(place, 2) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    """Seven bits a byte, the lowest first; the highest bit says that more follow."""
    last = bytearray()
    while value > 0x7F:
        last.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*last, value])
