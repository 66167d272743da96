"""How far two sets of word vectors agree: on the genderedness of queries (Figure 11) and on the order of systems (Table 2).

References
----------
.. [1] Fabris, Purpura, Silvello, Susto (2020), section 4.2.4.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Agreement:
    """A correlation with a bootstrap interval over its points."""

    value: float
    low: float
    high: float
    n: int
    n_missing: int


def correlate(
    first: np.ndarray, second: np.ndarray, method: str = "pearson", seed: int = 0, draws: int = 2000
) -> Agreement:
    """Return Pearson's r or Spearman's rho over the points both have.

    Parameters
    ----------
    first, second
        Values; NaN where missing.
    method
        'pearson' or 'spearman'.
    seed, draws
        Of the bootstrap (percentiles).
    """
    usable = ~(np.isnan(first) | np.isnan(second))
    x, y = first[usable], second[usable]
    missing = int(np.sum(~usable))
    if len(x) < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return Agreement(np.nan, np.nan, np.nan, len(x), missing)
    if method == "spearman":
        x, y = _ranks(x), _ranks(y)
    picks = np.random.default_rng(seed).integers(0, len(x), (draws, len(x)))
    low, high = np.nanquantile(_pearson(x[picks], y[picks]), [0.025, 0.975])
    return Agreement(float(_pearson(x[None], y[None])[0]), float(low), float(high), len(x), missing)


def _ranks(values: np.ndarray) -> np.ndarray:
    """Return mean ranks."""
    _, group, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[group].astype(np.float64)


def _pearson(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return r per row; NaN where a row does not vary."""
    x, y = x - x.mean(axis=1, keepdims=True), y - y.mean(axis=1, keepdims=True)
    scale = np.sqrt(np.einsum("ij,ij->i", x, x) * np.einsum("ij,ij->i", y, y))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(scale > 0, np.einsum("ij,ij->i", x, y) / scale, np.nan)
