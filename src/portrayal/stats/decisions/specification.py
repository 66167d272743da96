"""Specification curves: every defensible way to ask something, and one test of all.

The same rearrangements of sides go through every specification, so that what ties them to one another stays.
Simonsohn, Simmons, Nelson (2020), Specification curve analysis, Nature Human Behaviour 4, 1208-1214.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from portrayal.errors import PortrayalError
from portrayal.stats.decisions.multiplicity import LEVEL
from portrayal.stats.permuted import SAME
from portrayal.stats.tests.permutation import FOLDS


class Joint(NamedTuple):
    """Estimate, p and support of each specification; the median of all and its p."""

    values: np.ndarray
    p: np.ndarray
    supports: np.ndarray
    median: float
    joint_p: float


def specifications(choices: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Return every combination of the choices, the first named varying slowest."""
    return [dict(zip(choices, taken, strict=True)) for taken in product(*choices.values())]


def curve_test(values: np.ndarray, rearranged: np.ndarray, alternative: str, sign: float = 1.0) -> Joint:
    """Test every specification, and the median of all, against the same rearrangements."""
    p = _p(values, rearranged, alternative)
    median = float(np.median(values))
    joint = _p(np.array([median]), np.median(rearranged, axis=0)[None], alternative)
    return Joint(values, p, (p < LEVEL) & (np.sign(values) == sign), median, float(joint[0]))


def _p(values: np.ndarray, rearranged: np.ndarray, alternative: str) -> np.ndarray:
    """Return (k + 1) / (n + 1), where k rearrangements reach the value."""
    fold = FOLDS[alternative]
    scale = SAME * max(float(np.abs(values).max(initial=0.0)), 1e-300)
    reached = (fold(rearranged) >= fold(values)[:, None] - scale).sum(axis=1)
    return np.asarray((reached + 1) / (rearranged.shape[1] + 1))


def support(table: pl.DataFrame, by: Sequence[str] = (), value: str = "value") -> pl.DataFrame:
    """Return for each claim how many specifications there are and how many support it."""
    for column in (*by, value, "supports"):
        if column not in table.columns:
            present = ", ".join(table.columns) or "none"
            raise PortrayalError(f"specifications lacks column {column!r} (found: {present}).")
    figures = [
        pl.len().alias("specifications"),
        pl.col("supports").fill_null(False).sum().alias("supporting"),
        pl.col("supports").fill_null(False).mean().alias("share"),
        pl.col(value).min().alias("lowest"),
        pl.col(value).median().alias("median"),
        pl.col(value).max().alias("highest"),
    ]
    return table.group_by(list(by), maintain_order=True).agg(figures) if by else table.select(figures)
