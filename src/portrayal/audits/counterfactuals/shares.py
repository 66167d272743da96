"""A user's shares of occupations: the world that slopes are held against."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from portrayal.errors import PortrayalError
from portrayal.tables import read_csv


def read_shares(path: Path) -> pl.DataFrame:
    """Read a table of shares: a number between 0 and 1 for each occupation."""
    table = read_csv(path, "a table of shares", "Expected a CSV with occupation and share.")
    if not {"occupation", "share"} <= set(table.columns):
        raise PortrayalError(f"{path.name} lacks occupation or share (found: {', '.join(table.columns)}).")
    shares = table.with_columns(pl.col("share").cast(pl.Float64, strict=False))
    wrong = shares.filter(~pl.col("share").is_between(0, 1).fill_null(False))
    if wrong.height:
        told = table.filter(pl.col("occupation") == wrong["occupation"][0])["share"][0]
        raise PortrayalError(
            f"{path.name}: the share of {wrong['occupation'][0]!r} is {told!r}. Expected a number from 0 to 1."
        )
    return shares
