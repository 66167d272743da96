"""Results as plain data: JSON, in which arrays and tables are bytes and the caller's own kinds are named. Nothing is pickled."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import polars as pl


def codec(kinds: Sequence[type] = ()) -> tuple[Callable[[Any], bytes], Callable[[bytes], Any]]:
    """Return what writes results as bytes, and what reads them back as they were.

    Examples
    --------
    >>> write, read = codec()
    >>> read(write({"p": (0.1, None), 2: ["a", True]}))
    {'p': (0.1, None), 2: ['a', True]}
    """
    named = {kind.__name__: kind for kind in kinds}
    return lambda result: json.dumps(_told(result, named)).encode(), lambda data: _made(json.loads(data), named)


def _told(value: Any, named: Mapping[str, type]) -> Any:
    """Return a value as JSON knows it; whatever is no list, text or number is an object with one name."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if type(value) is list:
        return [_told(one, named) for one in value]
    if type(value).__name__ in named:
        return {type(value).__name__: [_told(one, named) for one in _parts(value)]}
    if type(value) is tuple:
        return {"tuple": [_told(one, named) for one in value]}
    if isinstance(value, Mapping):
        return {"map": [[_told(key, named), _told(one, named)] for key, one in value.items()]}
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        return {"array": [value.dtype.str, list(value.shape), _text(np.ascontiguousarray(value).tobytes())]}
    if isinstance(value, pl.DataFrame):
        return {"table": _text(table_bytes(value))}
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"a result may hold plain data, arrays, tables and the kinds named, not {type(value)}")


def _made(value: Any, named: Mapping[str, type]) -> Any:
    """Return the value that was told."""
    if isinstance(value, list):
        return [_made(one, named) for one in value]
    if not isinstance(value, dict):
        return value
    ((name, told),) = value.items()
    if name == "array":
        dtype, shape, data = told
        return np.frombuffer(base64.b64decode(data), np.dtype(dtype)).reshape(shape).copy()
    if name == "table":
        return pl.read_ipc(io.BytesIO(base64.b64decode(told)))
    if name == "map":
        return {_made(key, named): _made(one, named) for key, one in told}
    parts = [_made(one, named) for one in told]
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
