"""One page of a table, sorted and filtered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

PAGE = 50


@dataclass(frozen=True)
class Listing:
    """One page of a table."""

    columns: Sequence[str]
    rows: list[dict]
    total: int  # rows that match
    page: int
    pages: int
    sort: str
    descending: bool


def listed(
    table: pl.DataFrame, sort: str = "", descending: bool = False, page: int = 1, words: str = "", size: int = PAGE
) -> Listing:
    """Return a page of a table; missing values come last either way."""
    if words:
        table = table.filter(_holds(table, words))
    if sort in table.columns and not table[sort].dtype.is_nested():
        table = table.sort(sort, descending=descending, nulls_last=True, maintain_order=True)
    else:
        sort = ""
    pages = max(1, -(-table.height // size))
    page = min(max(1, page), pages)
    shown = table.slice((page - 1) * size, size)
    return Listing(table.columns, shown.to_dicts(), table.height, page, pages, sort, descending)


def _holds(table: pl.DataFrame, words: str) -> pl.Expr:
    """Tell whether any text of a row holds the words, in either case."""
    texts = [name for name, kind in table.schema.items() if kind == pl.String]
    held = [pl.col(name).str.to_lowercase().str.contains(words.lower(), literal=True) for name in texts]
    return pl.any_horizontal([one.fill_null(False) for one in held]) if held else pl.lit(False)
