"""Shares of two groups compared, a trend of shares, and a share corrected for the detector that counted it.

References
----------
.. [1] Newcombe (1998), Interval estimation for the difference between independent proportions, Statistics in
   Medicine 17, 873-890, method 10.
.. [2] Katz, Baptista, Azen, Pike (1978), Obtaining confidence intervals for the risk ratio, Biometrics 34,
469-474.
.. [3] Armitage (1955), Tests for linear trends in proportions and frequencies, Biometrics 11, 375-386.
.. [4] Rogan, Gladen (1978), Estimating prevalence from the results of a screening test, American Journal of
   Epidemiology 107, 71-76.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from portrayal.errors import PortrayalError
from portrayal.stats.intervals import Interval, wilson


class Comparison(NamedTuple):
    """An interval and a two-sided p."""

    interval: Interval
    p: float


def share_difference(hits: int, n: int, base_hits: int, base_n: int) -> Comparison:
    """Return the difference of two shares, Newcombe's interval [1]_ and Fisher's exact p.

    Examples
    --------
    >>> [round(end, 4) for end in share_difference(56, 70, 48, 80).interval]
    [0.2, 0.0524, 0.3339]
    """
    first, second = wilson(hits, n), wilson(base_hits, base_n)
    return Comparison(newcombe(first, second), _fisher(hits, n, base_hits, base_n))


def newcombe(first: Interval, second: Interval) -> Interval:
    """Return the difference of two independent shares from their Wilson intervals [1]_."""
    gap = first.value - second.value
    below = np.hypot(first.value - first.low, second.high - second.value)
    above = np.hypot(first.high - first.value, second.value - second.low)
    return Interval(float(gap), float(gap - below), float(gap + above))


def share_ratio(hits: int, n: int, base_hits: int, base_n: int, level: float = 0.95) -> Comparison:
    """Return the ratio of two shares, its interval on the log scale [2]_; none where a side has no hit."""
    from scipy import stats

    if min(n, base_n) == 0 or base_hits == 0:
        return Comparison(Interval(np.nan, np.nan, np.nan), _fisher(hits, n, base_hits, base_n))
    ratio = (hits / n) / (base_hits / base_n)
    p = _fisher(hits, n, base_hits, base_n)
    if hits == 0:
        return Comparison(Interval(ratio, np.nan, np.nan), p)
    error = np.sqrt(1 / hits - 1 / n + 1 / base_hits - 1 / base_n)
    half = stats.norm.ppf(0.5 + level / 2) * error
    return Comparison(Interval(ratio, float(ratio * np.exp(-half)), float(ratio * np.exp(half))), p)


def share_trend(positions: Sequence[float], hits: Sequence[int], n: Sequence[int]) -> Comparison:
    """Return the slope of the share per unit of position; p by the Cochran-Armitage test [3]_.

    The interval allows each position its own variance, with one hit and one miss added a position (so that a
    position at 0 or 1 does not count as known for certain).
    """
    from scipy import stats

    x, k, total = (np.asarray(values, float) for values in (positions, hits, n))
    if len(np.unique(x[total > 0])) < 2:
        return Comparison(Interval(np.nan, np.nan, np.nan), np.nan)
    centred = x - np.average(x, weights=total)
    spread = np.sum(total * centred**2)
    slope = np.sum(centred * k) / spread
    smoothed = (k + 1) / (total + 2)
    error = np.sqrt(np.sum(total * centred**2 * smoothed * (1 - smoothed))) / spread
    half = stats.norm.ppf(0.975) * error
    pooled = k.sum() / total.sum()
    null_error = np.sqrt(pooled * (1 - pooled) / spread)
    p = 2 * stats.norm.sf(abs(slope) / null_error) if null_error > 0 else np.nan
    return Comparison(Interval(float(slope), float(slope - half), float(slope + half)), float(p))


def corrected_share(flagged: float, sensitivity: float, specificity: float) -> float:
    """Return (flagged + specificity - 1) / (sensitivity + specificity - 1): the share behind the flags [4]_.

    Raises
    ------
    PortrayalError
        When sensitivity and specificity add to 1: the detector cannot see what it should detect.
    """
    seen = sensitivity + specificity - 1
    if abs(seen) < 1e-9:
        raise PortrayalError(
            "the detector flags as often with as without what it should detect. It cannot be corrected."
        )
    return float(np.clip((flagged + specificity - 1) / seen, 0.0, 1.0))


def _fisher(hits: int, n: int, base_hits: int, base_n: int) -> float:
    from scipy import stats

    if min(n, base_n) == 0:
        return float("nan")
    table = [[hits, n - hits], [base_hits, base_n - base_hits]]
    return float(stats.fisher_exact(table).pvalue)
