"""Ranges of files: what is larger than memory travels to the workers as places in a file, never as rows.

`ranges(path)` cuts a file, `rows(range)` reads a piece of it where the worker is; every row is in exactly one piece. The file must lie
under the same path on every machine.
"""

from __future__ import annotations

import json
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from itertools import groupby, pairwise
from pathlib import Path, PurePosixPath
from typing import Any

from portrayal.errors import PortrayalError

ROWS = 100_000  # of a Parquet file
BYTES = 64 * 2**20  # of a file of lines or an archive


@dataclass(frozen=True)
class Range:
    """A piece of a file: rows of a Parquet file, bytes of any other. Its size and time tell a file that was changed since."""

    path: str
    form: str  # a key of FORMS
    start: int
    stop: int
    size: int
    changed: int  # nanoseconds

    @property
    def name(self) -> str:
        """Return what errors call it."""
        unit = "rows" if self.form == "parquet" else "bytes"
        return f"{Path(self.path).name}, {unit} {self.start:,} to {self.stop:,}"


def ranges(path: Path | str, size: int | None = None) -> list[Range]:
    """Cut a file into ranges."""
    path = Path(path)
    if path.suffix not in FORMS:
        raise PortrayalError(
            f"{path} has the ending {path.suffix!r}. Expected one that can be read from the middle: {', '.join(FORMS)}."
        )
    if not path.is_file():
        raise PortrayalError(f"no file {path}.")
    form, cut, _ = FORMS[path.suffix]
    stat = path.stat()
    return [Range(str(path), form, *ends, stat.st_size, stat.st_mtime_ns) for ends in cut(path, size)]


def rows(piece: Range) -> Any:
    """Read a piece: a polars table, a list of JSON objects, or a list of samples ({ending: bytes, '__key__': name})."""
    path = Path(piece.path)
    try:
        stat = path.stat()
    except OSError:
        raise PortrayalError(
            f"{piece.path} is not on this machine. Every worker must find it under the same path."
        ) from None
    if (stat.st_size, stat.st_mtime_ns) != (piece.size, piece.changed):
        raise PortrayalError(f"{piece.path} was changed after it was cut into ranges. Start the job again.")
    return next(read for form, _, read in FORMS.values() if form == piece.form)(path, piece.start, piece.stop)


def _cut_rows(path: Path, size: int | None) -> list[tuple[int, int]]:
    """Count the rows, which the end of the file tells without reading it."""
    import polars as pl

    total = pl.scan_parquet(path).select(pl.len()).collect().item()
    return _steps(total, size or ROWS)


def _read_rows(path: Path, start: int, stop: int) -> Any:
    """Read rows; polars passes over the row groups before and after them."""
    import polars as pl

    return pl.scan_parquet(path).slice(start, stop - start).collect()


def _cut_bytes(path: Path, size: int | None) -> list[tuple[int, int]]:
    return _steps(path.stat().st_size, size or BYTES)


def _read_lines(path: Path, start: int, stop: int) -> list[Any]:
    """Read the lines that begin in the range; the last one may end behind it."""
    found = []
    with path.open("rb") as file:
        if start:
            file.seek(start - 1)
            file.readline()  # the rest of a line that begins before
        while (place := file.tell()) < stop and (line := file.readline()):
            if line.strip():
                found.append(_parsed(line, path, place))
    return found


def _parsed(line: bytes, path: Path, place: int) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        raise PortrayalError(f"{path}: the line that begins at byte {place:,} is no JSON.") from None


def _cut_samples(path: Path, size: int | None) -> list[tuple[int, int]]:
    """Cut an archive between samples, by its headers alone."""
    with tarfile.open(path, "r:") as archive:
        members = [(_key(member.name), member.offset) for member in archive if member.isfile()]
        end = archive.offset
    edges = [*(next(same)[1] for _, same in groupby(members, key=lambda one: one[0])), end]
    found: list[tuple[int, int]] = []
    for start, stop in pairwise(edges):
        if found and stop - found[-1][0] <= (size or BYTES):
            found[-1] = (found[-1][0], stop)
        else:
            found.append((start, stop))
    return found


def _read_samples(path: Path, start: int, stop: int) -> list[dict[str, Any]]:
    """Read the samples of a range: the files that share a name up to the first dot."""
    with path.open("rb") as file:
        file.seek(start)
        data = BytesIO(file.read(stop - start))
    with tarfile.open(fileobj=data, mode="r:") as archive:
        files = [(_key(member.name), member) for member in archive if member.isfile()]
        return [
            {"__key__": key} | {_ending(member.name): _data(archive, member) for _, member in same}
            for key, same in groupby(files, key=lambda one: one[0])
        ]


def _data(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    file = archive.extractfile(member)
    return file.read() if file else b""


def _key(name: str) -> str:
    path = PurePosixPath(name)
    return str(path.with_name(path.name.partition(".")[0] or path.name))


def _ending(name: str) -> str:
    return PurePosixPath(name).name.partition(".")[2]


def _steps(total: int, size: int) -> list[tuple[int, int]]:
    return [(start, min(start + size, total)) for start in range(0, total, size)]


Cut = Callable[[Path, int | None], list[tuple[int, int]]]
Read = Callable[[Path, int, int], Any]
# By the file's ending: the form, how it is cut and how a piece is read.
FORMS: dict[str, tuple[str, Cut, Read]] = {
    ".parquet": ("parquet", _cut_rows, _read_rows),
    ".jsonl": ("lines", _cut_bytes, _read_lines),
    ".ndjson": ("lines", _cut_bytes, _read_lines),
    ".tar": ("samples", _cut_samples, _read_samples),
}
