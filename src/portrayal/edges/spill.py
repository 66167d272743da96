"""Numbers spilled to files of a temporary folder, to bound memory."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl


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


FILES = 256  # a hash lies in the file of its first byte, so that a file is looked through alone
NONE = np.zeros(0, np.uint64)


class Seen:
    """The units of earlier tables; a context, which removes its files."""

    HELD = 1 << 18  # hashes in memory: the first for good, and as many on their way to the files

    def __init__(self) -> None:
        self._first = NONE
        self._waiting: list[np.ndarray] = []
        self._folder: TemporaryDirectory[str] | None = None

    def __enter__(self) -> Seen:
        return self

    def __exit__(self, *error: object) -> None:
        if self._folder is not None:
            self._folder.cleanup()

    def again(self, units: pl.DataFrame) -> tuple[Any, ...] | None:
        """Return the first of these units that is among the first ever, and note all."""
        hashes = hashes_of(units)
        ordered = np.sort(hashes)  # looked up in order: several times as fast
        if len(self._first):
            places = np.minimum(np.searchsorted(self._first, ordered), len(self._first) - 1)
            known_before = self._first[places] == ordered
            if known_before.any():
                return units.row(int(np.isin(hashes, ordered[known_before]).argmax()))
        if len(self._first) < self.HELD:
            self._first = np.sort(np.concatenate([self._first, ordered]))
            return None
        self._waiting.append(ordered)
        if sum(map(len, self._waiting)) >= self.HELD:
            self._write()
        return None

    def twice(self) -> np.ndarray:
        """Return the hashes that came more than once, as far as `again` has not told."""
        if self._folder is None:
            return _repeated(np.concatenate([NONE, *self._waiting]))
        self._write()
        files = Path(self._folder.name).iterdir()
        return np.concatenate([_repeated(np.fromfile(file, np.uint64)) for file in files])

    def _write(self) -> None:
        """Add what waits to the files."""
        self._folder = self._folder or TemporaryDirectory(prefix="portrayal-seen-")
        hashes = np.sort(np.concatenate([NONE, *self._waiting]))
        self._waiting = []
        firsts = np.arange(FILES, dtype=np.uint64) << np.uint64(56)
        for name, part in enumerate(np.split(hashes, np.searchsorted(hashes, firsts)[1:])):
            with (Path(self._folder.name) / f"{name:03}").open("ab") as file:
                part.tofile(file)


def hashes_of(units: pl.DataFrame) -> np.ndarray:
    """Return the hash of each unit."""
    return units.hash_rows(seed=0).to_numpy()


def unit_in_two(tables: Iterable[pl.DataFrame], hashes: np.ndarray) -> tuple[Any, ...] | None:
    """Return the first unit with one of these hashes that is in two tables."""
    seen: set[tuple[Any, ...]] = set()
    for units in tables if len(hashes) else ():
        matching = units.filter(pl.Series(np.isin(hashes_of(units), hashes))).rows()
        again = next((unit for unit in matching if unit in seen), None)
        if again is not None:
            return again
        seen.update(matching)
    return None


def _repeated(hashes: np.ndarray) -> np.ndarray:
    """Return those that occur more than once."""
    ordered = np.sort(hashes)
    return np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
