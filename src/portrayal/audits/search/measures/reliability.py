"""How far two sets of word vectors agree: on the genderedness of queries (Figure 11) and on the order of systems (Table 2).

References
----------
.. [1] Fabris, Purpura, Silvello, Susto (2020), section 4.2.4.
"""

from __future__ import annotations

import numpy as np

from portrayal.stats.estimate import Estimate

AT_ONCE = 1_000_000  # points held in memory together


def correlate(
    first: np.ndarray, second: np.ndarray, method: str = "pearson", seed: int = 0, draws: int = 2000
) -> Estimate:
    """Return Pearson's r or Spearman's rho over the points both have."""
    from scipy import stats

    usable = ~(np.isnan(first) | np.isnan(second))
    x, y = first[usable], second[usable]
    missing = int(np.sum(~usable))
    if len(x) < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return Estimate(n=len(x), n_missing=missing)
    if method == "spearman":
        x, y = stats.rankdata(x), stats.rankdata(y)
    low, high = np.nanquantile(_drawn(x, y, seed, draws), [0.025, 0.975])
    return Estimate(float(_pearson(x[None], y[None])[0]), float(low), float(high), n=len(x), n_missing=missing)


def _drawn(x: np.ndarray, y: np.ndarray, seed: int, draws: int) -> np.ndarray:
    """Return r of samples of the points; some are drawn at a time, the same as when all are drawn at once."""
    random, block = np.random.default_rng(seed), max(1, AT_ONCE // len(x))
    found = []
    for start in range(0, draws, block):
        picks = random.integers(0, len(x), (min(block, draws - start), len(x)))
        found.append(_pearson(x[picks], y[picks]))
    return np.concatenate(found)


def _pearson(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return r per row; NaN where a row does not vary."""
    x, y = x - x.mean(axis=1, keepdims=True), y - y.mean(axis=1, keepdims=True)
    scale = np.sqrt(np.einsum("ij,ij->i", x, x) * np.einsum("ij,ij->i", y, y))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(scale > 0, np.einsum("ij,ij->i", x, y) / scale, np.nan)
