"""Findings that say one sentence of each result row of a kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl

from portrayal.audits.base import Finding, Measured


def say_each(measured: Measured, say: Callable[[dict[str, Any]], str], *wanted: pl.Expr) -> list[Finding]:
    """Say a sentence of every row that is wanted and has a value, traced to the row's number."""
    rows = measured.results.with_row_index("row").filter(*wanted).drop_nulls("value")
    return [Finding(say(row), row["row"]) for row in rows.iter_rows(named=True)]
