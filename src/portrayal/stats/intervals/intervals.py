"""Intervals of shares, means and ratios, clustered where answers repeat.

[1] Wilson (1927), Journal of the American Statistical Association 22, 209-212.
[2] Cochran (1977), Sampling techniques, section 6.4, Wiley.
[3] Clopper, Pearson (1934), The use of confidence or fiducial limits, Biometrika 26, 404-413.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from portrayal.stats import scipy
from portrayal.stats.estimate import Estimate

DUST = 1e-12  # what adding and taking away leaves of zero


@cache
def t_quantile(freedom: int, level: float = 0.95) -> float:
    """Return half the width of a t interval, in standard errors."""
    return float(scipy.special.stdtrit(freedom, 0.5 + level / 2))


def t_estimate(value: float, error: float, freedom: float) -> Estimate:
    """Return a value, its t interval and two-sided p; nothing without error or freedom."""
    if freedom < 1 or not error > 0:
        return Estimate()
    half = scipy.stats.t.ppf(0.975, freedom) * error
    return Estimate(value, value - half, value + half, float(2 * scipy.stats.t.sf(abs(value / error), freedom)))


def wilson(successes: float, n: float, level: float = 0.95) -> Estimate:
    """Return a share and Wilson's score interval [1]; NaN with n = 0."""
    if n == 0:
        return Estimate(n=0)
    share = successes / n
    # the normal quantile, without scipy.stats' checks of its arguments
    low, high = wilson_ends(share, n, scipy.special.ndtri(0.5 + level / 2))
    return Estimate(share, low, high, n=int(n))


def wilson_ends(share: float, n: float, z: float) -> tuple[float, float]:
    """Return the ends of Wilson's interval for a share of n and a quantile z."""
    centre = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return float(max(0.0, centre - half)), float(min(1.0, centre + half))


def clustered_mean(values: np.ndarray, clusters: np.ndarray | None = None, level: float = 0.95) -> Estimate:
    """Return the mean and a cluster-robust t interval; under two clusters its ends are NaN."""
    values = np.asarray(values, dtype=float)
    codes = np.arange(len(values)) if clusters is None else np.unique(clusters, return_inverse=True)[1]
    count = codes.max(initial=-1) + 1
    mean = float(values.mean()) if len(values) else np.nan
    if count < 2:
        return Estimate(mean, n=len(values))
    sums = np.bincount(codes, weights=values - mean, minlength=count)
    error = np.sqrt(count / (count - 1) * np.sum(sums**2)) / len(values)
    half = float(t_quantile(int(count) - 1, level) * error)
    return Estimate(mean, mean - half, mean + half, n=len(values))


def ratio_interval(
    top: np.ndarray, bottom: np.ndarray, null: float = 0.0, level: float = 0.95
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of sum(top) / sum(bottom), one row a unit, for each column [2].

    One further unit, which would show no effect (`null`), is added to the residuals: nine people who all answer alike are no
    certainty about a tenth. With eight people 93 to 99% of such intervals hold what was planted.
    """
    count = ((top != 0) | (bottom != 0)).sum(axis=0)
    whole = bottom.sum(axis=0)
    known = (count > 1) & (whole > 0)
    ratio = top.sum(axis=0) / np.where(known, whole, 1.0)
    return _ratio_ends(ratio, whole, ((top - ratio * bottom) ** 2).sum(axis=0), count, null, level)


def ratio_ends(
    top: np.ndarray, bottom: np.ndarray, tops: np.ndarray, product: np.ndarray, bottoms: np.ndarray, count: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends that `ratio_interval` gives, from sums over units, their squares and products."""
    ratio = np.divide(top, bottom, out=np.array(top, float), where=(count > 1) & (bottom > 0))
    squares = np.maximum(tops - 2 * ratio * product + ratio**2 * bottoms, 0.0)
    return _ratio_ends(ratio, bottom, squares, count, 0.0, 0.95)


def _ratio_ends(
    ratio: np.ndarray, whole: np.ndarray, residual: np.ndarray, count: np.ndarray, null: float, level: float
) -> tuple[np.ndarray, np.ndarray]:
    known = (count > 1) & (whole > 0)
    base, people = np.where(known, whole, 1.0), np.where(known, count, 2)
    squares = residual + ((ratio - null) * base / people) ** 2
    error = np.sqrt(people / (people - 1) * squares) / base
    half = np.where(known & (error > DUST), scipy.special.stdtrit(people - 1, 0.5 + level / 2) * error, np.nan)
    return ratio - half, ratio + half


def resample_counts(strata: Sequence[Any] | np.ndarray, draws: int, seed: int = 0) -> np.ndarray:
    """Return how often each bootstrap sample (row) draws each cluster, within its stratum."""
    codes = np.unique(np.asarray(strata), return_inverse=True)[1]
    rng, counts = np.random.default_rng(seed), np.zeros((draws, len(codes)))
    for code in range(codes.max() + 1):
        members = np.flatnonzero(codes == code)
        drawn = rng.integers(len(members), size=(draws, len(members)))
        places = (drawn + np.arange(draws)[:, None] * len(members)).ravel()
        counts[:, members] = np.bincount(places, minlength=draws * len(members)).reshape(draws, len(members))
    return counts


def over_tolerance(hits: int, n: int, tolerance: float) -> Estimate:
    """Return the share of cases, its exact interval and one-sided p [3]."""
    if n == 0:
        return Estimate(n=0, null=tolerance)
    low = float(scipy.special.betaincinv(hits, n - hits + 1, 0.025)) if hits else 0.0
    high = float(scipy.special.betaincinv(hits + 1, n - hits, 0.975)) if hits < n else 1.0
    p = float(scipy.special.betainc(hits, n - hits + 1, tolerance)) if hits else 1.0
    return Estimate(hits / n, low, high, p, n, null=tolerance, p_floor=tolerance**n)
