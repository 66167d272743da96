"""Tables written as Parquet, whole and without secrets."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from portrayal.edges.secrets import hidden
from portrayal.edges.writing import replacing


def write_parquet(table: pl.DataFrame, path: Path) -> None:
    """Write a table; the file may be the one it was read from. Secrets this process knows are taken out of its text."""
    clean = without_secrets(table)
    with replacing(path) as part:
        clean.write_parquet(part)


def without_secrets(table: pl.DataFrame) -> pl.DataFrame:
    """Return a table whose text columns hold no secret this process knows."""
    held = {
        name: [None if value is None else hidden(value) for value in table[name]]
        for name, kind in table.schema.items()
        if kind == pl.String and _holds_secret(table[name])
    }
    return table.with_columns(pl.Series(name, values, pl.String) for name, values in held.items())


def _holds_secret(column: pl.Series) -> bool:
    """Whether any text of a column holds a secret, looked at in one piece because most never do."""
    whole = "\x00".join(column.drop_nulls().unique())
    return hidden(whole) != whole
