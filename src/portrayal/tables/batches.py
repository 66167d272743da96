"""Tables larger than memory, read in batches of whole units.

A unit's rows must lie together, within a file or from one to the next, as recorded ones do.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import numpy as np
import polars as pl

from portrayal.errors import PortrayalError
from portrayal.tables import Contract, as_frame, check, starts

Source = pl.DataFrame | pl.LazyFrame | Path | str | Sequence[Mapping[str, Any]]  # a path: a folder of Parquet files
Part = TypeVar("Part")
ROWS = 1 << 17  # in a batch: with twice as many, what was freed and not given back differed by a third from run to run


def scan(source: Source, columns: Sequence[str], name: str = "table") -> pl.LazyFrame:
    """Return columns of a table or a folder of Parquet files, read lazily."""
    if isinstance(source, Path | str):
        return pl.concat(list(_files(Path(source), columns, name)))
    return _selected(_lazy(source, name), columns, f"the {name}")


def columns_of(source: Source, name: str = "table") -> list[str]:
    """Return the columns of a table, or those that any file of a folder has."""
    if not isinstance(source, Path | str):
        return _lazy(source, name).collect_schema().names()
    schemas = (pl.read_parquet_schema(file) for file in parquet_files(Path(source), name))
    return list(dict.fromkeys(column for schema in schemas for column in schema))


def parquet_files(folder: Path, name: str = "table") -> list[Path]:
    """Return the Parquet files of a folder in the order of their names."""
    files = sorted(folder.glob("*.parquet")) if folder.is_dir() else []
    if not files:
        raise PortrayalError(f"{name}: {folder} holds no Parquet file. Expected a folder of *.parquet files.")
    return files


def batches(source: Source, columns: Sequence[str], rows: int = ROWS, name: str = "table") -> Iterator[pl.DataFrame]:
    """Yield columns of a table in batches, in its order."""
    if not isinstance(source, Path | str):
        table = scan(source, columns, name)
        yield from table.collect_batches(chunk_size=rows, maintain_order=True, engine="streaming")
        return
    # A streamed file is read ahead, and what it took is given back late: memory would grow with the files.
    for table in _files(Path(source), columns, name):
        total = table.select(pl.len()).collect().item()
        yield from (table.slice(start, rows).collect() for start in range(0, total, rows))


def whole_units(
    source: Source, keys: Sequence[str], columns: Sequence[str], rows: int = ROWS
) -> Iterator[pl.DataFrame]:
    """Yield the rows of a table in batches, each unit whole."""
    return once(
        lambda: _uncut(source, keys, columns, rows),
        lambda batch: batch.select(keys).unique(maintain_order=True),
        lambda unit: f"the rows of {', '.join(map(str, unit))} lie in two places. Sort the table by {', '.join(keys)}.",
    )


def _uncut(source: Source, keys: Sequence[str], columns: Sequence[str], rows: int) -> Iterator[pl.DataFrame]:
    """Yield batches that end where a unit ends."""
    rest = None
    for batch in batches(source, columns, rows):
        joined = batch if rest is None else pl.concat([rest, batch])
        begins = starts(joined.select(keys), keys).arg_true()
        last = int(begins[-1]) if len(begins) else 0
        rest = joined[last:]
        if last:
            yield joined[:last]
    if rest is not None and rest.height:
        yield rest


def parts(root: Path, contracts: Mapping[str, Contract], unit: str) -> Iterator[dict[str, pl.DataFrame]]:
    """Yield parts of several tables; files of one name hold the same units."""
    first = next(iter(contracts))
    files = parquet_files(root / first, first)

    def read() -> Iterator[dict[str, pl.DataFrame]]:
        for file in files:
            yield {name: _read_part(root / name / file.name, name, known) for name, known in contracts.items()}

    def units(tables: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
        having = [table.select(unit) for table in tables.values() if unit in table.columns]
        return pl.concat(having).unique().sort(unit)

    return once(read, units, lambda one: f"{unit} {one[0]!r} is in two parts. Put it in one, whole.")


def once(
    read: Callable[[], Iterable[Part]], units: Callable[[Part], pl.DataFrame], why: Callable[[tuple[Any, ...]], str]
) -> Iterator[Part]:
    """Yield what is read; a unit in two parts, or twice in one, is refused."""
    with Seen() as seen:
        for part in read():
            mine = units(part)
            twice = mine.filter(mine.is_duplicated())
            if again := twice.row(0) if twice.height else seen.again(mine):
                raise PortrayalError(why(again))
            yield part
        if again := seen.in_two(map(units, read())):
            raise PortrayalError(why(again))


def _read_part(file: Path, name: str, contract: Contract) -> pl.DataFrame:
    if not file.is_file():
        raise PortrayalError(f"{name}: there is no {file}. Expected a file of this name for every part.")
    return check(pl.read_parquet(file, glob=False), contract, f"{name}: {file}")


def _files(folder: Path, columns: Sequence[str], name: str = "table") -> list[pl.LazyFrame]:
    """Return columns of each file of a folder, of the same kinds in all."""
    files = parquet_files(folder, name)
    tables = [_selected(pl.scan_parquet(file, glob=False), columns, f"{name}: {file}") for file in files]
    kinds: dict[str, tuple[pl.DataType, Path]] = {}
    for file, table in zip(files, tables, strict=True):
        for column, kind in table.collect_schema().items():
            first, where = kinds.setdefault(column, (kind, file)) if kind != pl.Null else (kind, file)
            if kind != first:
                why = (
                    f"{kind} in {file} and {first} in {where.name}. Write all files of a folder with the same columns."
                )
                raise PortrayalError(f"{name}: column {column!r} is {why}")
    return [table.cast({column: kind for column, (kind, _) in kinds.items()}) for table in tables]


def _lazy(source: Any, name: str) -> pl.LazyFrame:
    return source if isinstance(source, pl.LazyFrame) else as_frame(source, name).lazy()


def _selected(table: pl.LazyFrame, columns: Sequence[str], name: str) -> pl.LazyFrame:
    present = table.collect_schema().names()
    for column in columns:
        if column not in present:
            raise PortrayalError(f"{name} lacks column {column!r} (found: {', '.join(present)}).")
    return table.select(columns)


class Columns:
    """Columns of `size` numbers by name, in files: memory grows with one alone."""

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

    def in_two(self, tables: Iterable[pl.DataFrame]) -> tuple[Any, ...] | None:
        """Return a unit that two of the tables have, unless `again` told it."""
        hashes, seen = self._repeated(), set[tuple[Any, ...]]()
        for units in tables if len(hashes) else ():
            matching = units.filter(pl.Series(np.isin(hashes_of(units), hashes))).rows()
            again = next((unit for unit in matching if unit in seen), None)
            if again is not None:
                return again
            seen.update(matching)
        return None

    def _repeated(self) -> np.ndarray:
        """Return the hashes that came more than once."""
        if self._folder is None:
            return _twice(np.concatenate([NONE, *self._waiting]))
        self._write()
        files = Path(self._folder.name).iterdir()
        return np.concatenate([_twice(np.fromfile(file, np.uint64)) for file in files])

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


def _twice(hashes: np.ndarray) -> np.ndarray:
    ordered = np.sort(hashes)
    return np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
