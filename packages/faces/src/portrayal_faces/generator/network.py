"""Reader of OpenVINO networks (`.xml` graph, `.bin` constants) without OpenVINO."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from portrayal.errors import PortrayalError

NUMBERS = {"f32": "<f4", "f16": "<f2", "i64": "<i8", "i32": "<i4"}
Place = tuple[int, int]  # a node and the number of one of its outputs


@dataclass(frozen=True)
class Node:
    """One operation: what it does, its options, and where its inputs come from."""

    number: int
    kind: str
    options: Mapping[str, str]
    inputs: tuple[Place, ...]
    outputs: tuple[int, ...]

    def numbers(self, option: str) -> list[int]:
        """Return an option that lists whole numbers, such as the strides of a convolution."""
        return [int(word) for word in self.options[option].split(",")]

    def has(self, option: str) -> bool:
        """Return whether a yes-or-no option is set."""
        return self.options.get(option) == "true"


@dataclass(frozen=True)
class Network:
    """Nodes in the order in which they run, and the constants by their node's number."""

    nodes: tuple[Node, ...]
    constants: Mapping[int, np.ndarray]


def read_network(graph: Path) -> Network:
    """Read a network from its `.xml` and the `.bin` beside it."""
    root = ElementTree.parse(graph).getroot()
    stored = graph.with_suffix(".bin").read_bytes()
    sources = _sources(root)
    nodes = {node.number: node for node in (_node(layer, sources) for layer in root.iterfind("layers/layer"))}
    constants = {node.number: _constant(node, stored, graph) for node in nodes.values() if node.kind == "Const"}
    return Network(tuple(_in_order(nodes)), constants)


def _sources(root: Any) -> dict[int, dict[int, Place]]:
    """Return the source node and port of each input port of each node."""
    sources: dict[int, dict[int, Place]] = {}
    for edge in root.iterfind("edges/edge"):
        to = sources.setdefault(int(edge.get("to-layer")), {})
        to[int(edge.get("to-port"))] = (int(edge.get("from-layer")), int(edge.get("from-port")))
    return sources


def _node(layer: Any, sources: dict[int, dict[int, Place]]) -> Node:
    number, data = int(layer.get("id")), layer.find("data")
    inputs = tuple(place for _, place in sorted(sources.get(number, {}).items()))
    outputs = tuple(int(port.get("id")) for port in layer.iterfind("output/port"))
    return Node(number, layer.get("type"), {} if data is None else dict(data.attrib), inputs, outputs)


def _constant(node: Node, stored: bytes, graph: Path) -> np.ndarray:
    start, size = int(node.options["offset"]), int(node.options["size"])
    if start + size > len(stored):
        raise PortrayalError(
            f"{graph.with_suffix('.bin').name} ends at byte {len(stored)}, but a constant lies at {start} to "
            f"{start + size}. The package is damaged: install it again."
        )
    shape = node.numbers("shape") if node.options.get("shape") else []
    return np.frombuffer(stored[start : start + size], NUMBERS[node.options["element_type"]]).reshape(shape)


def _in_order(nodes: dict[int, Node]) -> Iterator[Node]:
    """Yield the result's ancestors, each node after its inputs; iterative, as chains are long."""
    done: set[int] = set()
    waiting = [(node.number, False) for node in nodes.values() if node.kind == "Result"]
    while waiting:
        number, ready = waiting.pop()
        if ready:
            yield nodes[number]
        elif number not in done:
            done.add(number)
            waiting.append((number, True))
            waiting += [(place[0], False) for place in reversed(nodes[number].inputs)]
