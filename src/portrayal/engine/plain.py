"""Results as plain data: JSON with arrays and tables as bytes, and hashes of data."""

import base64
import hashlib
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import fields, is_dataclass
from functools import cache, partial
from importlib.metadata import version
from itertools import chain
from pathlib import Path, PurePath
from typing import Any

import numpy as np
import polars as pl


def codec(kinds: Sequence[type] = ()) -> tuple[Callable[[Any], bytes], Callable[[bytes], Any]]:
    """Return what writes results as bytes, and what reads them back as they were."""
    named = {kind.__name__: kind for kind in kinds}
    return lambda result: json.dumps(_encoded(result, named)).encode(), lambda data: _decoded(json.loads(data), named)


def _encoded(value: Any, named: Mapping[str, type]) -> Any:
    """Return a value as JSON knows it; other kinds become objects with one name."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if type(value) is list:
        return [_encoded(one, named) for one in value]
    if type(value).__name__ in named:
        return {type(value).__name__: [_encoded(one, named) for one in _parts(value)]}
    if type(value) is tuple:
        return {"tuple": [_encoded(one, named) for one in value]}
    if isinstance(value, Mapping):
        return {"map": [[_encoded(key, named), _encoded(one, named)] for key, one in value.items()]}
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        return {"array": [value.dtype.str, list(value.shape), _text(np.ascontiguousarray(value).tobytes())]}
    if isinstance(value, pl.DataFrame):
        return {"table": _text(table_bytes(value))}
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"a result may hold plain data, arrays, tables and the kinds named, not {type(value)}")


def _decoded(value: Any, named: Mapping[str, type]) -> Any:
    """Return the value that was encoded."""
    if isinstance(value, list):
        return [_decoded(one, named) for one in value]
    if not isinstance(value, dict):
        return value
    ((name, content),) = value.items()
    if name == "array":
        dtype, shape, data = content
        return np.frombuffer(base64.b64decode(data), np.dtype(dtype)).reshape(shape).copy()
    if name == "table":
        return pl.read_ipc(io.BytesIO(base64.b64decode(content)))
    if name == "map":
        return {_decoded(key, named): _decoded(one, named) for key, one in content}
    parts = [_decoded(one, named) for one in content]
    return tuple(parts) if name == "tuple" else named[name](*parts)


def _parts(value: Any) -> list[Any]:
    """Return what a dataclass or a named tuple is made of."""
    return [getattr(value, one.name) for one in fields(value)] if is_dataclass(value) else list(value)


def table_bytes(table: pl.DataFrame) -> bytes:
    """Return a table as Arrow writes it, the same for the same rows."""
    file = io.BytesIO()
    table.rechunk().write_ipc(file)
    return file.getvalue()


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()


LIBRARIES = ("numpy", "scipy", "polars")


def fingerprint(value: Any) -> str:
    """Return a hash that is the same for the same data on any machine."""
    return hashlib.sha256(json.dumps(_identity(value)).encode()).hexdigest()


def _identity(value: Any) -> Any:
    """Return plain JSON that only the same data give, each kind under its name."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return [type(value).__name__, *map(_identity, _contents(value))]


def _contents(value: Any) -> Iterable[Any]:
    if isinstance(value, Mapping):
        return chain.from_iterable(value.items())
    if isinstance(value, list | tuple):
        return value
    if isinstance(value, Set):
        return sorted(map(fingerprint, value))
    if isinstance(value, bytes):
        return [hashlib.sha256(value).hexdigest()]
    if isinstance(value, np.ndarray | np.generic):
        array = np.ascontiguousarray(value)
        return [array.dtype.str, value.shape, array.tolist() if array.dtype.hasobject else array.tobytes()]
    if isinstance(value, pl.DataFrame):
        return [table_bytes(value)]
    if isinstance(value, PurePath):
        return [str(value)]
    if isinstance(value, range):
        return [value.start, value.stop, value.step]
    if isinstance(value, partial):
        return [value.func, value.args, value.keywords]
    if is_dataclass(value) and not isinstance(value, type):
        return _parts(value)
    if hasattr(value, "model_dump"):  # settings
        return [value.model_dump()]
    if hasattr(value, "__qualname__"):
        return [f"{value.__module__}.{value.__qualname__}"]
    raise TypeError(f"a shard may hold plain data, arrays, tables, settings and dataclasses, not {type(value)}")


@cache
def code() -> str:
    """Return a short hash of this package's code and the versions of its libraries."""
    root = Path(__file__).parents[1]
    digest = hashlib.sha256("".join(f"{name} {version(name)}," for name in LIBRARIES).encode())
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:16]
