"""The tensors of a TorchScript archive, as OpenAI published its CLIPs, read without running any of its code.

Such a file is a zip with the module as a pickle (`data.pkl`), its tensors as plain bytes (`data/0`, ...) and its code.
The pickle may name torch's tensors, storages and lists, and the module's own classes, which are read as plain
containers of their attributes. Any other name is refused, and the code is never looked at.
"""

from __future__ import annotations

import io
import pickle
import zipfile
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from portrayal.errors import PortrayalError

STORAGES = {
    "HalfStorage": torch.float16,
    "BFloat16Storage": torch.bfloat16,
    "FloatStorage": torch.float32,
    "DoubleStorage": torch.float64,
    "LongStorage": torch.int64,
    "IntStorage": torch.int32,
    "ShortStorage": torch.int16,
    "CharStorage": torch.int8,
    "ByteStorage": torch.uint8,
    "BoolStorage": torch.bool,
}
LISTS = ("build_intlist", "build_tensorlist", "build_doublelist", "build_boollist")


class Held:
    """A module of the archive: its attributes, and nothing of its code."""

    def __init__(self, *ignored: Any) -> None:
        self.attributes: dict[str, Any] = {}

    def __setstate__(self, state: Any) -> None:
        self.attributes = state if isinstance(state, dict) else {}


def is_torchscript(file: Path) -> bool:
    """Tell whether a file is a TorchScript archive: a zip with the pickles of a module and of its constants."""
    if not zipfile.is_zipfile(file):
        return False
    with zipfile.ZipFile(file) as archive:
        return any(name.endswith("/constants.pkl") for name in archive.namelist())


def read_torchscript(file: Path) -> dict[str, Tensor]:
    """Return every tensor of the module by its dotted name, as its state dict has it."""
    with zipfile.ZipFile(file) as archive:
        root = next(name for name in archive.namelist() if name.endswith("/constants.pkl"))
        root = root.removesuffix("constants.pkl")
        order = f"{root}byteorder"
        if order in archive.namelist() and archive.read(order) != b"little":
            raise PortrayalError(f"{file.name} was written on a big-endian machine, which is not read here.")
        module = _Tensors(archive, root, file.name).load()
    return dict(_flat(module))


class _Tensors(pickle.Unpickler):
    """Reads tensors and containers, and refuses every other name."""

    def __init__(self, archive: zipfile.ZipFile, root: str, called: str) -> None:
        super().__init__(io.BytesIO(archive.read(f"{root}data.pkl")))
        self.archive, self.root, self.called = archive, root, called
        self.storages: dict[str, Tensor] = {}

    def find_class(self, module: str, name: str) -> Any:
        """Return the plain stand-in of a name."""
        if module.split(".")[0] == "__torch__":
            return Held
        found = {
            ("torch._utils", "_rebuild_tensor_v2"): _tensor,
            ("torch._utils", "_rebuild_parameter"): lambda data, *further: data,
            ("torch.jit._pickle", "restore_type_tag"): lambda value, tag: value,
            ("collections", "OrderedDict"): OrderedDict,
            **{("torch.jit._pickle", kind): list for kind in LISTS},
            **{("torch", kind): kind for kind in STORAGES},
        }.get((module, name))
        if found is None:
            raise PortrayalError(f"{self.called} holds {module}.{name}, which is no weight. It was not read.")
        return found

    def persistent_load(self, saved: Any) -> Tensor:
        """Return the numbers of a storage: ('storage', kind, key, device, count)."""
        _, kind, key, *_ = saved
        if key not in self.storages:
            raw = bytearray(self.archive.read(f"{self.root}data/{key}"))
            dtype = STORAGES[kind]
            self.storages[key] = torch.frombuffer(raw, dtype=dtype) if raw else torch.empty(0, dtype=dtype)
        return self.storages[key]


def _tensor(storage: Tensor, offset: int, size: Sequence[int], stride: Sequence[int], *further: Any) -> Tensor:
    return storage.as_strided(tuple(size), tuple(stride), offset)


def _flat(value: Any, name: str = "") -> Iterator[tuple[str, Tensor]]:
    """Yield the tensors of a module and of all inside it, with dotted names."""
    if isinstance(value, Tensor):
        yield name, value
    inner: Mapping[Any, Any] = value.attributes if isinstance(value, Held) else {}
    for key, part in inner.items():
        yield from _flat(part, f"{name}.{key}" if name else str(key))
