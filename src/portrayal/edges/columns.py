"""Columns of numbers in files of a temporary folder: filled in anywhere, read one at a time."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path

import numpy as np


class Columns:
    """Columns of `size` numbers by name; NaN where nothing was put.

    A file is in memory only while it is written or read, so that memory grows with one column and not with their number.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     columns = Columns(Path(folder), 3)
    ...     columns.put("share", np.array([2, 0]), np.array([0.5, 0.25]))
    ...     columns.get("share").tolist()
    [0.25, nan, 0.5]
    """

    def __init__(self, folder: Path, size: int) -> None:
        self._folder, self._size = folder, size
        self._files: dict[Hashable, Path] = {}

    def __contains__(self, name: Hashable) -> bool:
        return name in self._files

    def put(self, name: Hashable, places: np.ndarray, values: np.ndarray) -> None:
        """Fill in a column at these places."""
        if name not in self._files:
            self._files[name] = self._folder / str(len(self._files))
            np.full(self._size, np.nan).tofile(self._files[name])
        np.memmap(self._files[name], np.float64, "r+", shape=(self._size,))[places] = values

    def get(self, name: Hashable) -> np.ndarray:
        """Return a column; nothing but NaN where it was never put."""
        return np.fromfile(self._files[name]) if name in self._files else np.full(self._size, np.nan)
