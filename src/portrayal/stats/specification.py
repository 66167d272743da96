"""Specification curves: every defensible way to ask the same thing, and the share that supports the claim.

References
----------
.. [1] Simonsohn, Simmons, Nelson (2020), Specification curve analysis, Nature Human Behaviour 4, 1208-1214.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import polars as pl

from portrayal.errors import PortrayalError


def specifications(choices: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Return every combination of the choices, the first named varying slowest.

    Examples
    --------
    >>> specifications({"prompt": ["all"], "ddof": [1, 0]})
    [{'prompt': 'all', 'ddof': 1}, {'prompt': 'all', 'ddof': 0}]
    """
    return [dict(zip(choices, taken, strict=True)) for taken in product(*choices.values())]


def support(table: pl.DataFrame, by: Sequence[str] = (), value: str = "value") -> pl.DataFrame:
    """Return for each claim how many specifications there are and which share supports it.

    Returns
    -------
    polars.DataFrame
        Columns of `by`, then `specifications`, `supporting`, `share`, `lowest`, `median`, `highest`.

    Examples
    --------
    >>> table = pl.DataFrame({"value": [0.2, 0.9, 0.7], "supports": [False, True, True]})
    >>> support(table)["share"].round(3).to_list()
    [0.667]
    """
    _check(table, [*by, value, "supports"])
    figures = [
        pl.len().alias("specifications"),
        pl.col("supports").fill_null(False).sum().alias("supporting"),
        pl.col("supports").fill_null(False).mean().alias("share"),
        pl.col(value).min().alias("lowest"),
        pl.col(value).median().alias("median"),
        pl.col(value).max().alias("highest"),
    ]
    return table.group_by(list(by), maintain_order=True).agg(figures) if by else table.select(figures)


def _check(table: pl.DataFrame, columns: Sequence[str]) -> None:
    for column in columns:
        if column not in table.columns:
            raise PortrayalError(
                f"specifications lacks column {column!r} (found: {', '.join(table.columns) or 'none'})."
            )
