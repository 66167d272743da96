"""Intervals for shares and means, clustered where answers repeat.

References
----------
.. [1] Wilson (1927), Journal of the American Statistical Association 22, 209-212.
.. [2] Efron (1987), Better bootstrap confidence intervals, Journal of the American Statistical Association
   82, 171-185.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np


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
    from scipy import special

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
    from scipy import stats

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


def bootstrap(
    statistic: Callable[[np.ndarray], np.ndarray],
    strata: Sequence[Any] | np.ndarray,
    *,
    method: str = "bca",
    draws: int = 1999,
    seed: int = 0,
    level: float = 0.95,
) -> Interval:
    """Return a bootstrap interval of a statistic of weights, by clusters where the weights are clusters'.

    Parameters
    ----------
    statistic
        Takes weights of shape (samples, clusters) and returns one number a sample. Whole numbers count how
        often a cluster was drawn; all ones is the data as observed.
    strata
        The stratum of each cluster; one array of zeros where there are none.
    method
        'bca' (bias-corrected and accelerated [2]_) or 'percentile'.
    draws, seed, level
        Bootstrap samples, their seed, and the level of the interval.

    Examples
    --------
    >>> values = np.arange(10.0)
    >>> ends = bootstrap(lambda w: w @ values / w.sum(axis=1), np.zeros(10), seed=0)
    >>> ends.low < ends.value == 4.5 < ends.high
    True
    """
    clusters = len(np.asarray(strata))
    value = float(statistic(np.ones((1, clusters)))[0])
    drawn = np.asarray(statistic(resample_counts(strata, draws, seed)), dtype=float)
    drawn = drawn[np.isfinite(drawn)]
    if len(drawn) < draws / 2:
        return Interval(value, np.nan, np.nan)
    tails = np.array([0.5 - level / 2, 0.5 + level / 2])
    if method == "bca":
        left_out = np.asarray(statistic(1.0 - np.eye(clusters)), dtype=float)
        tails = _bca_tails(tails, value, drawn, left_out)
    low, high = np.quantile(drawn, tails)
    return Interval(value, float(low), float(high))


def _bca_tails(tails: np.ndarray, value: float, drawn: np.ndarray, left_out: np.ndarray) -> np.ndarray:
    """Shift the tail shares by the bias and the acceleration (equation 6.6 of [3])."""
    from scipy import stats

    share = (np.mean(drawn < value) + np.mean(drawn <= value)) / 2
    bias = stats.norm.ppf(np.clip(share, 0.5 / len(drawn), 1 - 0.5 / len(drawn)))
    pull = left_out.mean() - left_out
    spread = float(np.sum(pull**2))
    acceleration = 0.0 if spread == 0 else float(np.sum(pull**3)) / (6 * spread**1.5)
    z = bias + stats.norm.ppf(tails)
    return stats.norm.cdf(bias + z / (1 - acceleration * z))
