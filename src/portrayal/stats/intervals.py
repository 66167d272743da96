"""Intervals for shares and means, clustered where answers repeat.

References
----------
.. [1] Wilson (1927), Journal of the American Statistical Association 22, 209-212.
.. [2] Cameron, Miller (2015), A practitioner's guide to cluster-robust inference,
   Journal of Human Resources 50, 317-372.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import stats


class Interval(NamedTuple):
    """An estimate and the ends of its interval."""

    value: float
    low: float
    high: float


def wilson(successes: float, n: float, level: float = 0.95) -> Interval:
    """Return a share and Wilson's score interval; with n = 0 all three are NaN.

    Examples
    --------
    >>> [round(end, 4) for end in wilson(0, 10)]
    [0.0, 0.0, 0.2775]
    """
    if n == 0:
        return Interval(np.nan, np.nan, np.nan)
    z = stats.norm.ppf(0.5 + level / 2)
    share = successes / n
    centre = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return Interval(share, max(0.0, centre - half), min(1.0, centre + half))


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
