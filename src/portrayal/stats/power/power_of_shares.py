"""How large a difference of two shares is found: the power of the test that `mean_share_difference` makes.

Every pair of counts is gone through with its own p: Fisher's, or the pooled z test where no count is small.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from portrayal.stats.power.power import POWER

SMALL = 10  # a count below this calls for Fisher's test
MOST = 500  # units of a group up to which every pair of counts is gone through


def power_of_two_shares(
    first: float, second: float, n_first: int, n_second: int, alpha: float, fisher: bool = False
) -> float:
    """Return the chance that a two-sided test at `alpha` tells the first share from the second.

    With `fisher` it is Fisher's exact test whatever the counts are.

    Examples
    --------
    >>> round(power_of_two_shares(0.5, 0.1, 40, 40, 0.05), 2)  # Fisher's test, as exact tables have it
    0.97
    """
    from scipy import stats

    if max(n_first, n_second) > MOST and not fisher:
        return _normal(first, second, n_first, n_second, alpha)
    counts = [stats.binom.pmf(np.arange(n + 1), n, share) for n, share in ((n_first, first), (n_second, second))]
    return float(counts[0] @ (_p_values(n_first, n_second, fisher) < alpha) @ counts[1])


def smallest_share_difference(
    base: float, n_first: int, n_second: int, alpha: float, power: float = POWER, fisher: bool = False
) -> float:
    """Return the difference above a base share that is found with this power; infinite where none is."""
    from scipy import optimize

    def lacking(gap: float) -> float:
        return power_of_two_shares(base + gap, base, n_first, n_second, alpha, fisher) - power

    most = 1 - base - 1e-9
    return float(optimize.brentq(lacking, 0.0, most, xtol=1e-4)) if lacking(most) > 0 else float("inf")


@cache
def _p_values(n_first: int, n_second: int, fisher: bool) -> np.ndarray:
    """Return the p of every pair of counts."""
    from scipy import stats

    p = np.ones((n_first + 1, n_second + 1))  # no hit, or nothing but hits, is the only table there can be
    for hits in range(1, n_first + n_second):
        own = np.arange(max(0, hits - n_second), min(hits, n_first) + 1)
        chances = stats.hypergeom.pmf(own, n_first + n_second, hits, n_first)
        order = np.argsort(chances, kind="stable")
        reached = np.cumsum(chances[order])
        # Tables as likely as this one count too, as in scipy's test.
        last = np.searchsorted(chances[order], chances * (1 + 1e-7), side="right") - 1
        p[own, hits - own] = reached[last]
    return p if fisher else np.where(_large(n_first, n_second), _pooled(n_first, n_second), p)


def _cells(n_first: int, n_second: int) -> tuple[np.ndarray, np.ndarray]:
    return np.arange(n_first + 1)[:, None], np.arange(n_second + 1)[None, :]


def _large(n_first: int, n_second: int) -> np.ndarray:
    one, other = _cells(n_first, n_second)
    return np.minimum(np.minimum(one, n_first - one), np.minimum(other, n_second - other)) >= SMALL


def _pooled(n_first: int, n_second: int) -> np.ndarray:
    from scipy import special

    one, other = _cells(n_first, n_second)
    pooled = (one + other) / (n_first + n_second)
    error = np.sqrt(np.maximum(pooled * (1 - pooled), 1e-12) * (1 / n_first + 1 / n_second))
    return 2 * special.ndtr(-np.abs(one / n_first - other / n_second) / error)


def _normal(first: float, second: float, n_first: int, n_second: int, alpha: float) -> float:
    from scipy import stats

    pooled = (first * n_first + second * n_second) / (n_first + n_second)
    under_null = np.sqrt(pooled * (1 - pooled) * (1 / n_first + 1 / n_second))
    error = np.sqrt(first * (1 - first) / n_first + second * (1 - second) / n_second)
    critical = stats.norm.isf(alpha / 2) * under_null
    return float(stats.norm.sf((critical - abs(first - second)) / max(error, 1e-12)))
