"""Tables in files: CSV, JSON lines and Parquet, read with errors in one line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl

from portrayal.errors import PortrayalError


def read_table(path: Path, text: bool = False) -> pl.DataFrame:
    """Read a CSV, JSON-lines or Parquet file, the first two also gzipped.

    With `text` the columns of a CSV stay text, so that the stimulus 007 does not become 7.
    """
    ending = path.name.removesuffix(".gz").rpartition(".")[2].lower()
    if ending not in _READERS:
        raise PortrayalError(f"{path.name} ends in .{ending}. Expected .csv, .tsv, .jsonl or .parquet.")
    try:
        return _READERS[ending](path, text)
    except (pl.exceptions.PolarsError, OSError, UnicodeDecodeError) as error:
        raise PortrayalError(f"{path.name} cannot be read: {str(error).splitlines()[0]}.") from None


def read_csv(path: Path, what: str = "a CSV", hint: str = "") -> pl.DataFrame:
    """Read a CSV whose columns all stay text; `what` it should be and a `hint` go into the error."""
    try:
        return pl.read_csv(path, infer_schema=False)
    except (pl.exceptions.PolarsError, OSError) as error:
        said = f"{path} cannot be read as {what}: {str(error).splitlines()[0]}. {hint}"
        raise PortrayalError(said.strip()) from None


def _read_delimited(path: Path, text: bool, separator: str) -> pl.DataFrame:
    return pl.read_csv(path, separator=separator, infer_schema=not text, infer_schema_length=10_000)


_READERS: dict[str, Callable[[Path, bool], pl.DataFrame]] = {
    "csv": lambda path, text: _read_delimited(path, text, ","),
    "tsv": lambda path, text: _read_delimited(path, text, "\t"),
    "jsonl": lambda path, text: pl.read_ndjson(path, infer_schema_length=None),
    "parquet": lambda path, text: pl.read_parquet(path),
}
