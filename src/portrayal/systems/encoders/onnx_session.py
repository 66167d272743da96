"""ONNX Runtime sessions for encoders on the CPU."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from portrayal.errors import PortrayalError


def open_session(path: Path) -> Any:
    """Open an ONNX file."""
    import onnxruntime

    if not path.is_file():
        raise PortrayalError(f"no ONNX file at {path}. Check the path.")
    try:
        return onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    except Exception as error:  # ONNX Runtime raises bare exceptions of its own
        raise PortrayalError(f"{path.name} is no ONNX network: {str(error).splitlines()[0][:160]}") from None


def run_rows(session: Any, feeds: Mapping[str, np.ndarray], output: str | None = None) -> np.ndarray:
    """Return one row per item: the named output, or the first of two axes."""
    names = [entry.name for entry in session.get_outputs()]
    if output is not None and output not in names:
        raise PortrayalError(f"the network has no output {output!r}. Known: {', '.join(names)}.")
    kinds = {entry.name: entry.type for entry in session.get_inputs()}
    typed = {name: _typed(array, kinds.get(name, "")) for name, array in feeds.items() if name in kinds}
    found = session.run([output] if output else None, typed)
    rows = next((array for array in found if array.ndim == 2), found[0])
    return np.asarray(rows if rows.ndim == 2 else rows[:, 0], dtype=np.float32)


def _typed(array: np.ndarray, kind: str) -> np.ndarray:
    types = {"tensor(int32)": np.int32, "tensor(int64)": np.int64, "tensor(float16)": np.float16}
    return array.astype(types.get(kind, array.dtype), copy=False)
