"""Two systems on the same stimuli, side by side."""

from __future__ import annotations

import polars as pl

FIRST = 20  # results of a list that are compared


def side_by_side(answers: pl.DataFrame, first: str, second: str) -> pl.DataFrame:
    """Return one row per stimulus and repeat that both were asked, the least alike first.

    `alike` is the number of things both say over the number that either says; `only_first`, `only_second` and `both` name them.
    """
    columns = ["stimulus", "repeat", "status", "texts"]
    left, right = (answers.filter(pl.col("system") == name).select(columns) for name in (first, second))
    pairs = left.join(right, on=["stimulus", "repeat"], suffix="_second", maintain_order="left")
    one, other = (pl.col(name).list.head(FIRST).list.unique(maintain_order=True) for name in ("texts", "texts_second"))
    told = pairs.with_columns(
        both=one.list.set_intersection(other),
        only_first=one.list.set_difference(other),
        only_second=other.list.set_difference(one),
    )
    said = pl.col("both").list.len() + pl.col("only_first").list.len() + pl.col("only_second").list.len()
    return told.with_columns(alike=pl.col("both").list.len() / said).sort("alike", maintain_order=True, nulls_last=True)
