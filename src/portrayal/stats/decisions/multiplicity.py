"""Corrections for many tests; a missing p stays missing and is not counted.

Holm (1979), Scandinavian Journal of Statistics 6, 65-70; Benjamini, Hochberg (1995), JRSS B 57, 289-300.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from portrayal.errors import PortrayalError
from portrayal.stats.estimate import LEVEL as LEVEL

CORRECTED_AWAY = "not after correction for"  # of rows not found whose own p is under the level


def adjust(p: Sequence[float] | np.ndarray, method: str = "holm") -> np.ndarray:
    """Return adjusted p-values in the order given; NaN stays NaN."""
    if method not in METHODS:
        raise PortrayalError(f"no correction {method!r}. Known: {', '.join(METHODS)}.")
    p = np.asarray(p, dtype=float)
    adjusted = np.full(p.shape, np.nan)
    tested = np.flatnonzero(~np.isnan(p))
    order = tested[np.argsort(p[tested], kind="stable")]
    adjusted[order] = np.minimum(METHODS[method](p[order]), 1.0)
    return adjusted


def _holm(ordered: np.ndarray) -> np.ndarray:
    """Step down: the smallest p times n, the next times n - 1, never falling."""
    return np.maximum.accumulate(ordered * np.arange(len(ordered), 0, -1))


def _benjamini_hochberg(ordered: np.ndarray) -> np.ndarray:
    """Step up: p times n over its rank, never rising from the largest down."""
    raw = ordered * len(ordered) / np.arange(1, len(ordered) + 1)
    return np.minimum.accumulate(raw[::-1])[::-1]


METHODS = {
    "holm": _holm,
    "bonferroni": lambda ordered: ordered * len(ordered),
    "benjamini-hochberg": _benjamini_hochberg,
    "none": lambda ordered: ordered,
}
