"""Intervals for shares and means, clustered where answers repeat.

References
----------
.. [1] Wilson (1927), Journal of the American Statistical Association 22, 209-212.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import special, stats


class Interval(NamedTuple):
    """An estimate and the ends of its interval."""

    value: float
    low: float
    high: float

    def columns(self) -> dict[str, float | None]:
        """Return the columns value, low and high of a Results row; what is NaN is missing."""
        ends = {"value": self.value, "low": self.low, "high": self.high}
        return {name: None if np.isnan(end) else float(end) for name, end in ends.items()}


def wilson(successes: float, n: float, level: float = 0.95) -> Interval:
    """Return a share and Wilson's score interval; with n = 0 all three are NaN.

    Examples
    --------
    >>> [round(end, 4) for end in wilson(0, 10)]
    [0.0, 0.0, 0.2775]
    """
    if n == 0:
        return Interval(np.nan, np.nan, np.nan)
    z = special.ndtri(0.5 + level / 2)  # the normal quantile, without scipy.stats' checks of its arguments
    share = successes / n
    centre = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return Interval(share, float(max(0.0, centre - half)), float(min(1.0, centre + half)))


def clustered_mean(values: np.ndarray, clusters: np.ndarray, level: float = 0.95) -> Interval:
    """Return the mean of `values` and a cluster-robust interval, t with clusters - 1 degrees of freedom.

    Under two clusters there is no variance between them: the ends are NaN, never a guess.
    """
    values = np.asarray(values, dtype=float)
    _, codes = np.unique(np.asarray(clusters), return_inverse=True)
    count = codes.max(initial=-1) + 1
    mean = values.mean() if len(values) else np.nan
    if count < 2:
        return Interval(float(mean), np.nan, np.nan)
    sums = np.bincount(codes, weights=values - mean, minlength=count)
    error = np.sqrt(count / (count - 1) * np.sum(sums**2)) / len(values)
    half = stats.t.ppf(0.5 + level / 2, count - 1) * error
    return Interval(float(mean), float(mean - half), float(mean + half))


def resample_counts(strata: Sequence[Any] | np.ndarray, draws: int, seed: int = 0) -> np.ndarray:
    """Return how often each cluster is drawn in each bootstrap sample, with replacement inside its stratum.

    Parameters
    ----------
    strata
        The stratum of each cluster (or of each observation, where each is its own cluster). Every sample
        draws as many clusters of a stratum as there are.
    draws, seed
        How many samples, and their seed.

    Returns
    -------
    numpy.ndarray
        Shape (draws, clusters). A statistic that is a function of weighted sums becomes one matrix product.
    """
    codes = np.unique(np.asarray(strata), return_inverse=True)[1]
    rng, counts = np.random.default_rng(seed), np.zeros((draws, len(codes)))
    for code in range(codes.max() + 1):
        members = np.flatnonzero(codes == code)
        drawn = rng.integers(len(members), size=(draws, len(members)))
        places = (drawn + np.arange(draws)[:, None] * len(members)).ravel()
        counts[:, members] = np.bincount(places, minlength=draws * len(members)).reshape(draws, len(members))
    return counts
