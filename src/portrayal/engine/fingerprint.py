"""What a result hangs on beside its shard: a hash of all that the work was built from, and of the code that does it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import fields, is_dataclass
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path, PurePath
from typing import Any

import numpy as np
import polars as pl

from portrayal.engine.plain import table_bytes

LIBRARIES = ("numpy", "scipy", "polars")


def fingerprint(value: Any) -> str:
    """Return a hash that is the same for the same data, in any process and on any machine.

    Examples
    --------
    >>> fingerprint({"a": [1, 2.0]}) == fingerprint({"a": [1, 2.0]}), fingerprint([1]) == fingerprint(["1"])
    (True, False)
    """
    digest = hashlib.sha256()
    for piece in _pieces(value):
        digest.update(len(piece).to_bytes(8, "big") + piece)
    return digest.hexdigest()


def _pieces(value: Any) -> Iterator[bytes]:
    """Yield a value as bytes, its kind first."""
    yield type(value).__name__.encode()
    if value is None or isinstance(value, bool | int | float | str | PurePath):
        yield str(value).encode() if isinstance(value, str | PurePath) else repr(value).encode()
    elif isinstance(value, bytes):
        yield value
    elif isinstance(value, np.ndarray):
        yield repr((value.dtype.str, value.shape)).encode()
        yield from (_pieces(value.tolist()) if value.dtype.hasobject else [np.ascontiguousarray(value).tobytes()])
    elif isinstance(value, pl.DataFrame):
        yield table_bytes(value)
    else:
        yield from _inside(value)


def _inside(value: Any) -> Iterator[bytes]:
    """Yield what a collection or an object holds."""
    if isinstance(value, Mapping):
        parts: Sequence[Any] = [part for item in value.items() for part in item]
    elif isinstance(value, Set):
        parts = sorted(map(fingerprint, value))
    elif isinstance(value, list | tuple):
        parts = value
    elif isinstance(value, partial):
        parts = [value.func, value.args, value.keywords]
    elif is_dataclass(value) and not isinstance(value, type):
        parts = [getattr(value, one.name) for one in fields(value)]
    elif hasattr(value, "model_dump"):  # settings
        parts = [value.model_dump()]
    elif hasattr(value, "__qualname__"):
        parts = [f"{value.__module__}.{value.__qualname__}"]
    else:
        raise TypeError(f"work may be built from plain data, arrays, tables and settings, not {type(value)}")
    yield str(len(parts)).encode()
    for part in parts:
        yield from _pieces(part)


@cache
def code() -> str:
    """Return a short hash of this package's code and the versions of what it computes with."""
    root = Path(__file__).parents[1]
    digest = hashlib.sha256("".join(f"{name} {version(name)}," for name in LIBRARIES).encode())
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:16]
