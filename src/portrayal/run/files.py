"""The files a run keeps, read back within sizes; one that is damaged is one line and not a traceback."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from portrayal.edges.json_text import parse_json
from portrayal.edges.sizes import LARGEST_PICTURE, LARGEST_TABLE, check_parquet, check_size
from portrayal.errors import PortrayalError


def kept_table(path: Path, mend: str) -> pl.DataFrame:
    """Read a Parquet table of a run; `mend` says what makes it anew."""
    try:
        check_parquet(path)
        return pl.read_parquet(path, glob=False)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError) as error:
        raise PortrayalError(_damaged(path, error, mend)) from None


def kept_json(path: Path, kind: type, mend: str) -> Any:
    """Read a JSON file of a run that holds a `kind`, a dict or a list."""
    try:
        check_size(path, LARGEST_TABLE)
        value = parse_json(path.read_text(encoding="utf-8"))
        if not isinstance(value, kind):
            raise ValueError(f"it holds a {type(value).__name__}")
    except (OSError, ValueError) as error:
        raise PortrayalError(_damaged(path, error, mend)) from None
    return value


def kept_bytes(path: Path, mend: str) -> bytes:
    """Read a picture of a run."""
    try:
        check_size(path, LARGEST_PICTURE)
        return path.read_bytes()
    except OSError as error:
        raise PortrayalError(_damaged(path, error, mend)) from None


def _damaged(path: Path, error: Exception, mend: str) -> str:
    reason = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
    return f"{path} is damaged ({reason}). {mend}"
