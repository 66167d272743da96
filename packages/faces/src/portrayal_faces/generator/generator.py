"""Face generator of the package `random-face`: noise to styles, styles to faces.

Its two networks are written as ONNX once and kept in the user's cache; a GPU runs them through torch (`torch_network.py`).
"""

from __future__ import annotations

import hashlib
import os
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from portrayal.edges.parts.table import part_file
from portrayal.edges.writing import write_bytes
from portrayal.engine.pool import is_inside
from portrayal.pictures.images import cache_folder
from portrayal_faces.generator.network import read_network
from portrayal_faces.generator.onnx_network import to_onnx

PACKAGE, WHAT = "random-face", "generating faces"
WRITING = 1  # raised when networks are written otherwise, so that older copies are not used again
SHAPES = {"MappingNetwork": (512,), "SynthesisNetwork": (3, 1024, 1024)}
TRUNCATION = 0.85  # how far a drawn style may lie from the mean; nearer faces are plainer


def draw_noise(count: int, seed: int) -> np.ndarray:
    """Return noise (n x 512) that for the first people does not depend on `count`."""
    return np.random.default_rng(seed).standard_normal((count, 512)).astype(np.float32)


def map_noise(noise: np.ndarray) -> np.ndarray:
    """Return the style of each row of noise, not yet drawn towards the mean."""
    return _network("MappingNetwork").run(None, {"given": noise.astype(np.float32)})[0]


def truncated(styles: np.ndarray, mean: np.ndarray, share: float = TRUNCATION) -> np.ndarray:
    """Draw styles towards the mean style."""
    return mean + share * (styles - mean)


def synthesise(styles: np.ndarray, side: int = 1024) -> np.ndarray:
    """Return faces (uint8, n x side x side x 3), averaged from 1024 pixels."""
    return np.concatenate([_picture(style[None], side) for style in np.asarray(styles, np.float32)])


def _picture(style: np.ndarray, side: int) -> np.ndarray:
    planes = np.clip(_network("SynthesisNetwork").run(None, {"given": style})[0], -1, 1)
    each = planes.shape[-1] // side
    return levels(planes.reshape(len(planes), 3, side, each, side, each).mean(axis=(3, 5)))


def levels(planes: np.ndarray) -> np.ndarray:
    """Return a network's output (n x 3 x side x side) as pictures."""
    return np.floor(np.clip((planes + 1) * 127.5 + 0.5, 0, 255)).astype(np.uint8).transpose(0, 2, 3, 1)


@cache
def _network(name: str) -> Any:
    return session(converted(name))


def session(path: Path) -> Any:
    """Return a network of a file, on all cores, in a worker on one."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1 if is_inside() else os.cpu_count() or 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # others work here too
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def converted(name: str, folder: Path | None = None) -> Path:
    """Return the ONNX file of one of the two networks, written on first use."""
    graph = part_file(PACKAGE, f"data/{name}.xml", WHAT)
    digest = hashlib.sha256(graph.read_bytes() + bytes([WRITING])).hexdigest()[:12]
    path = (folder or cache_folder("generator")) / f"{name}-{digest}.onnx"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(path, to_onnx(read_network(graph), SHAPES[name]))
    return path
