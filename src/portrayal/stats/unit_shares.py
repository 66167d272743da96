"""Shares of independent units and their differences, with intervals that hold at small counts.

A unit's value is a share between 0 and 1: whether its one caption did it, or the share of its captions that did.
With values of 0 and 1 only, Wilson's and Newcombe's intervals are used [1]_; otherwise the t interval of the means.

References
----------
.. [1] Newcombe (1998), Interval estimation for the difference between independent proportions, method 10,
   Statistics in Medicine 17, 873-890.
"""

from __future__ import annotations

import numpy as np

from portrayal.stats.intervals import Interval, clustered_mean, wilson
from portrayal.stats.proportions import newcombe


def share(values: np.ndarray) -> Interval:
    """Return the mean of the units' values with its interval; without units all three are NaN."""
    values = np.asarray(values, dtype=float)
    if _is_binary(values):
        return wilson(float(values.sum()), len(values))
    return clustered_mean(values, np.arange(len(values)))


def difference(first: np.ndarray, second: np.ndarray) -> tuple[Interval, float]:
    """Return the first share minus the second with its interval, and a two-sided p-value.

    Examples
    --------
    >>> interval, p = difference(np.repeat([1, 0], [56, 14]), np.repeat([1, 0], [48, 32]))
    >>> [round(end, 4) for end in interval]  # Newcombe's Table II, example (a), method 10
    [0.2, 0.0524, 0.3339]
    """
    first, second = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if not len(first) or not len(second):
        return Interval(np.nan, np.nan, np.nan), np.nan
    if not (_is_binary(first) and _is_binary(second)):
        return _welch(first, second)
    a, b = wilson(first.sum(), len(first)), wilson(second.sum(), len(second))
    return newcombe(a, b), _pooled_test(first, second)


def _is_binary(values: np.ndarray) -> bool:
    return bool(np.isin(values, (0.0, 1.0)).all())


def _pooled_test(first: np.ndarray, second: np.ndarray) -> float:
    """Fisher's exact test where a count is small, else the pooled z test."""
    from scipy import stats

    table = np.array([[first.sum(), len(first) - first.sum()], [second.sum(), len(second) - second.sum()]])
    if not table.sum(axis=0).all():
        return float("nan")  # nobody or everybody: no test, and none to correct the others for
    if table.min() < 10:
        return float(stats.fisher_exact(table).pvalue)
    pooled = table[:, 0].sum() / table.sum()
    error = np.sqrt(pooled * (1 - pooled) * (1 / len(first) + 1 / len(second)))
    return float(2 * stats.norm.sf(abs(first.mean() - second.mean()) / error))


def _welch(first: np.ndarray, second: np.ndarray) -> tuple[Interval, float]:
    from scipy import stats

    gap = float(first.mean() - second.mean())
    if min(len(first), len(second)) < 2:
        return Interval(gap, np.nan, np.nan), np.nan
    test = stats.ttest_ind(first, second, equal_var=False)
    ends = test.confidence_interval()
    return Interval(gap, float(ends.low), float(ends.high)), float(test.pvalue)
