"""Tables as they are frozen: columns of plain values, packed small, compared cell by cell."""

from __future__ import annotations

import hashlib
import json
import lzma
import math
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

DATA = Path(__file__).parent / "data"
TOLERANCE = 1e-12
Table = dict[str, list[Any]]
Tables = dict[str, Table]


def plain(value: Any) -> Any:
    """Return a value as JSON gives it back."""
    if isinstance(value, Mapping):
        return {str(name): plain(each) for name, each in value.items()}
    if isinstance(value, pl.Series):
        return plain(value.to_list())
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, bool | int | float | str) or value is None:
        return value
    return value.item() if hasattr(value, "item") else str(value)


def of_frame(frame: pl.DataFrame, places: Mapping[str, str]) -> Table:
    """Return the columns of a frame, paths of this machine put as names."""
    return {name: [masked(plain(value), places) for value in frame[name].to_list()] for name in frame.columns}


def of_rows(rows: Iterable[Mapping[str, Any]], columns: Iterable[str]) -> Table:
    """Return the columns of several mappings."""
    rows = list(rows)
    return {name: [plain(row.get(name)) for row in rows] for name in columns}


def masked(value: Any, places: Mapping[str, str]) -> Any:
    """Return a value in which folders of this machine go by a name; of any other path the file's name is kept."""
    if isinstance(value, str):
        for path, name in places.items():
            value = value.replace(path, name)
        return "PATH/" + Path(value).name if re.fullmatch(r"/[^\n]*/[^\n ]*", value) else value
    if isinstance(value, list):
        return [masked(each, places) for each in value]
    if isinstance(value, dict):
        return {name: masked(each, places) for name, each in value.items()}
    return value


def digest(row: Iterable[Any]) -> str:
    """Return a short hash of a row; numbers count to nine digits, for a hash knows no tolerance."""
    said = json.dumps([_rounded(plain(value)) for value in row], ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(said.encode()).hexdigest()[:10]


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return f"{value:.9g}"
    if isinstance(value, list):
        return [_rounded(each) for each in value]
    if isinstance(value, dict):
        return {name: _rounded(each) for name, each in value.items()}
    return value


def path_of(case: str) -> Path:
    """Return where a case is frozen."""
    return DATA / f"{case}.json.xz"


def write(case: str, tables: Tables) -> int:
    """Freeze the tables of a case and return how many bytes they take; the same tables give the same bytes."""
    said = json.dumps(tables, ensure_ascii=False, separators=(",", ":"))
    packed = lzma.compress(said.encode(), preset=9 | lzma.PRESET_EXTREME)
    DATA.mkdir(exist_ok=True)
    path_of(case).write_bytes(packed)
    return len(packed)


def read(case: str) -> Tables:
    """Return the frozen tables of a case."""
    return json.loads(lzma.decompress(path_of(case).read_bytes()))


def differences(frozen: Tables, now: Tables) -> list[str]:
    """Return what differs, a line each; tables and columns that were added are no difference."""
    lines: list[str] = []
    for name, table in frozen.items():
        if name not in now:
            lines.append(f"{name}: the table is gone")
            continue
        lines += [f"{name}: {line}" for line in _of_table(table, now[name])]
    return lines


def _of_table(frozen: Table, now: Table) -> list[str]:
    lines = [f"column {column!r} is gone" for column in frozen if column not in now]
    kept = [column for column in frozen if column in now]
    rows = {len(frozen[column]): len(now[column]) for column in kept}
    lines += [f"{before} rows were frozen, now {after}" for before, after in rows.items() if before != after]
    height = min((min(before, after) for before, after in rows.items()), default=0)
    for row in range(height):
        for column in kept:
            before, after = frozen[column][row], now[column][row]
            if not same(before, after):
                lines.append(f"row {row}, column {column!r}: frozen {before!r}, now {after!r}")
    return lines


def same(before: Any, after: Any) -> bool:
    """Return whether two values are equal: numbers to 1e-12, all else exactly."""
    if isinstance(before, bool) or isinstance(after, bool):
        return before is after
    if isinstance(before, int | float) and isinstance(after, int | float):
        if math.isnan(before) or math.isnan(after):
            return math.isnan(before) and math.isnan(after)
        return math.isclose(before, after, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    if isinstance(before, list) and isinstance(after, list):
        return len(before) == len(after) and all(map(same, before, after))
    if isinstance(before, dict) and isinstance(after, dict):
        return all(name in after and same(value, after[name]) for name, value in before.items())
    return before == after
