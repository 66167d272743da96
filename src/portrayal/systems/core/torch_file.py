"""Weights of a PyTorch file as arrays, read without PyTorch or running a pickle.

It reads the form that PyTorch wrote before version 1.6: five pickles (a number, the version, the machine, the tensors by name,
the names of their storages), then the storages' numbers. Nothing is called but what builds a dict of tensors.
"""

from __future__ import annotations

import io
import pickle
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np

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
    """A reader of pickles that knows tensors, their storages and dicts, and refuses everything else."""

    def find_class(self, module: str, name: str) -> Any:
        known: dict[tuple[str, str], Any] = {
            ("collections", "OrderedDict"): OrderedDict,
            ("torch._utils", "_rebuild_tensor_v2"): lambda *given: given,
        }
        known |= {("torch", kind): dtype for kind, dtype in KINDS.items()}
        if (module, name) not in known:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}")
        return known[module, name]

    def persistent_load(self, pid: Any) -> tuple[str, np.dtype[Any]]:
        _, kind, key, *_ = pid
        return key, kind
