"""Tables larger than memory: a folder of Parquet files, read a few hundred thousand rows at a time.

A batch holds whole units (a picture with all its tags), so that what is measured of a unit can be worked out batch by
batch and summed. A unit's rows must lie together, within a file or from one to the next, as recorded ones do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from portrayal.errors import PortrayalError
from portrayal.tables import Contract, check, starts

Source = pl.DataFrame | pl.LazyFrame | Path | str
ROWS = 1 << 18  # in a batch: memory is as large after a hundred as after four


def scan(source: Source, name: str = "table") -> pl.LazyFrame:
    """Return a table, a lazily read one, or a folder of Parquet files (in the order of their names) as a lazy table.

    Raises
    ------
    PortrayalError
        When the folder is not there or holds no Parquet file.
    """
    if isinstance(source, pl.DataFrame | pl.LazyFrame):
        return source.lazy()
    files = parquet_files(Path(source), name)
    return pl.scan_parquet(files, glob=False)


def parquet_files(folder: Path, name: str = "table") -> list[Path]:
    """Return the Parquet files of a folder in the order of their names."""
    files = sorted(folder.glob("*.parquet")) if folder.is_dir() else []
    if not files:
        raise PortrayalError(f"{name}: {folder} holds no Parquet file. Expected a folder of *.parquet files.")
    return files


def whole_units(
    source: Source, keys: Sequence[str], columns: Sequence[str], rows: int = ROWS
) -> Iterator[pl.DataFrame]:
    """Yield the rows of a table in batches, each unit whole.

    Parameters
    ----------
    source
        A table, a lazy one, or a folder of Parquet files.
    keys
        The columns that name a unit.
    columns
        Those to read, the keys among them.
    rows
        About how many at a time.

    Raises
    ------
    PortrayalError
        When a unit's rows lie in two places, or a column is missing.
    """
    seen = Seen()
    held = None
    for batch in _batches(source, columns, rows):
        joined = batch if held is None else pl.concat([held, batch])
        last = _last_start(joined, keys)
        held = joined[last:]
        if last:
            yield _checked(joined[:last], keys, seen)
    if held is not None and held.height:
        yield _checked(held, keys, seen)


def parts(root: Path, contracts: Mapping[str, Contract], unit: str) -> Iterator[dict[str, pl.DataFrame]]:
    """Yield the parts of several tables: a folder of Parquet files for each, in which files of one name hold the same units, whole.

    Parameters
    ----------
    root
        Holds a folder for each table.
    contracts
        The tables and their columns.
    unit
        The column that names a unit; a table without it belongs to the others' units.

    Raises
    ------
    PortrayalError
        When a unit is in two parts, or a part lacks a file.
    """
    seen = Seen()
    for file in parquet_files(root / next(iter(contracts)), next(iter(contracts))):
        tables = {name: _read_part(root / name / file.name, name, known) for name, known in contracts.items()}
        having = [table.select(unit) for table in tables.values() if unit in table.columns]
        again = seen.again(pl.concat(having).unique().sort(unit))
        if again is not None:
            raise PortrayalError(f"{unit} {again[0]!r} is in two parts. Put it in one, whole.")
        yield tables


def _read_part(file: Path, name: str, contract: Contract) -> pl.DataFrame:
    if not file.is_file():
        raise PortrayalError(f"{name}: there is no {file}. Expected a file of this name for every part.")
    return check(pl.read_parquet(file, glob=False), contract, name)


def _checked(batch: pl.DataFrame, keys: Sequence[str], seen: Seen) -> pl.DataFrame:
    """Return the batch, whose units must not have been in an earlier one."""
    again = seen.again(batch.select(keys).unique(maintain_order=True))
    if again is not None:
        named = ", ".join(map(str, again))
        raise PortrayalError(f"the rows of {named} lie in two places. Sort the table by {', '.join(keys)}.")
    return batch


def _batches(source: Source, columns: Sequence[str], rows: int) -> Iterator[pl.DataFrame]:
    """Yield columns in batches, in the table's order; of a folder file by file and range by range."""
    if isinstance(source, pl.DataFrame | pl.LazyFrame):
        table = _selected(source.lazy(), columns)
        yield from table.collect_batches(chunk_size=rows, maintain_order=True, engine="streaming")
        return
    # A streamed file is read ahead, and what it took is given back late: memory would grow with the files.
    for file in parquet_files(Path(source)):
        table = _selected(pl.scan_parquet(file, glob=False), columns)
        total = table.select(pl.len()).collect().item()
        yield from (table.slice(start, rows).collect() for start in range(0, total, rows))


def _selected(table: pl.LazyFrame, columns: Sequence[str]) -> pl.LazyFrame:
    found = table.collect_schema().names()
    for name in columns:
        if name not in found:
            raise PortrayalError(f"the table lacks column {name!r} (found: {', '.join(found)}).")
    return table.select(columns)


def _last_start(frame: pl.DataFrame, keys: Sequence[str]) -> int:
    """Return where the last unit begins."""
    begins = starts(frame.select(keys), keys).arg_true()
    return int(begins[-1]) if len(begins) else 0


class Seen:
    """The units of earlier batches, eight bytes each, as a few sorted arrays."""

    RUNS = 64  # arrays kept before the smaller half of them is made one: all at once would double the memory

    def __init__(self) -> None:
        self._runs: list[np.ndarray] = []

    def again(self, units: pl.DataFrame) -> tuple[Any, ...] | None:
        """Return the first of these units that was in an earlier batch, if any; from now on they all were."""
        hashes = units.hash_rows(seed=0).to_numpy()
        ordered = np.sort(hashes)  # looked up in order: several times as fast
        for run in self._runs:
            found = run[np.minimum(np.searchsorted(run, ordered), len(run) - 1)] == ordered
            if found.any():
                return units.row(int(np.isin(hashes, ordered[found]).argmax()))
        self._runs += [ordered] if len(ordered) else []
        if len(self._runs) > self.RUNS:
            self._runs.sort(key=len)
            smaller, self._runs = self._runs[: self.RUNS // 2], self._runs[self.RUNS // 2 :]
            self._runs.append(np.sort(np.concatenate(smaller)))
        return None
