"""Comparison and trend of shares, and shares corrected for their detector.

[1] Newcombe (1998), Interval estimation for the difference between independent proportions, Stat. in Medicine 17, 873-890.
[2] Katz, Baptista, Azen, Pike (1978), Obtaining confidence intervals for the risk ratio, Biometrics 34, 469-474.
[3] Armitage (1955), Tests for linear trends in proportions and frequencies, Biometrics 11, 375-386.
[4] Rogan, Gladen (1978), Estimating prevalence from the results of a screening test, Am. J. of Epidemiology 107, 71-76.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from portrayal.errors import PortrayalError
from portrayal.stats import scipy
from portrayal.stats.estimate import Estimate
from portrayal.stats.intervals.intervals import clustered_mean, wilson
from portrayal.stats.models.groups import welch
from portrayal.stats.permuted import STILL


def share_difference(hits: int, n: int, base_hits: int, base_n: int) -> Estimate:
    """Return the difference of two shares, Newcombe's interval [1] and Fisher's exact p."""
    gap = newcombe(wilson(hits, n), wilson(base_hits, base_n))
    return replace(gap, p=_fisher(hits, n, base_hits, base_n), **_design("fisher", hits, n, base_hits, base_n))


def newcombe(first: Estimate, second: Estimate) -> Estimate:
    """Return the difference of two independent shares from their Wilson intervals [1]."""
    gap = float(first.value - second.value)
    below = np.hypot(first.value - first.low, second.high - second.value)
    above = np.hypot(first.high - first.value, second.value - second.low)
    return Estimate(gap, float(gap - below), float(gap + above), n=(first.n or 0) + (second.n or 0))


def share_ratio(hits: int, n: int, base_hits: int, base_n: int, level: float = 0.95) -> Estimate:
    """Return the ratio of two shares, its interval (log scale) [2] and Fisher's p."""
    unknown = Estimate(p=_fisher(hits, n, base_hits, base_n), n=n + base_n)
    if min(n, base_n) == 0 or base_hits == 0:
        return unknown
    ratio = (hits / n) / (base_hits / base_n)
    if hits == 0:
        return replace(unknown, value=ratio)
    error = np.sqrt(1 / hits - 1 / n + 1 / base_hits - 1 / base_n)
    factor = float(np.exp(scipy.stats.norm.ppf(0.5 + level / 2) * error))
    return replace(unknown, value=ratio, low=ratio / factor, high=ratio * factor)


def ratio_of_sums(
    above: np.ndarray, below: np.ndarray, base_above: np.ndarray | None = None, base_below: np.ndarray | None = None
) -> Estimate:
    """Return the ratio of two sums of units, or that over another (delta method)."""
    pairs = [(above, below)] if base_above is None or base_below is None else [(above, below), (base_below, base_above)]
    sums = [(float(up.sum()), float(down.sum())) for up, down in pairs]
    unknown = Estimate(n=len(above), null=1.0)
    if len(above) < 2 or any(down <= STILL for _, down in sums) or (len(sums) > 1 and sums[1][0] <= STILL):
        return unknown
    ratio = float(np.prod([up / down for up, down in sums]))
    if ratio <= 0:
        return replace(unknown, value=ratio)
    parts = sum(
        up / total_up - down / total_down for (up, down), (total_up, total_down) in zip(pairs, sums, strict=True)
    )
    error = np.sqrt(np.sum(parts**2) * len(above) / (len(above) - 1))
    factor = float(np.exp(scipy.stats.t.ppf(0.975, len(above) - 1) * error))
    return replace(unknown, value=ratio, low=ratio / factor, high=ratio * factor)


def share_trend(positions: Sequence[float], hits: Sequence[int], n: Sequence[int]) -> Estimate:
    """Return the slope of a share over positions, p by the Cochran-Armitage test [3]."""
    x, k, total = (np.asarray(values, float) for values in (positions, hits, n))
    if len(np.unique(x[total > 0])) < 2:
        return Estimate(n=int(total.sum()))
    centred = x - np.average(x, weights=total)
    spread = np.sum(total * centred**2)
    slope = float(np.sum(centred * k) / spread)
    smoothed = (k + 1) / (total + 2)
    error = np.sqrt(np.sum(total * centred**2 * smoothed * (1 - smoothed))) / spread
    half = float(scipy.stats.norm.ppf(0.975) * error)
    pooled = k.sum() / total.sum()
    null_error = np.sqrt(pooled * (1 - pooled) / spread)
    p = float(2 * scipy.stats.norm.sf(abs(slope) / null_error)) if null_error > 0 else np.nan
    return Estimate(slope, slope - half, slope + half, p, int(total.sum()))


def mean_share(values: np.ndarray) -> Estimate:
    """Return the mean: Wilson's interval where all are 0 or 1, else the t interval."""
    values = np.asarray(values, dtype=float)
    return wilson(float(values.sum()), len(values)) if is_binary(values) else clustered_mean(values)


def mean_share_difference(first: np.ndarray, second: np.ndarray, tested: bool = True) -> Estimate:
    """Return the first mean share minus the second, with a two-sided p unless not `tested`.

    Of zeros and ones Newcombe's interval [1] and an exact or pooled test, else Welch's. Welch would count the values of a side
    that does not vary as known for certain: then the interval is Newcombe's, as if each unit had one value.
    """
    first, second = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if not len(first) or not len(second):
        return Estimate(n=len(first) + len(second))
    if is_binary(first) and is_binary(second):
        gap = newcombe(mean_share(first), mean_share(second))
        if not tested:
            return gap
        about = _design("shares", first.sum(), len(first), second.sum(), len(second))
        return replace(gap, p=_pooled_test(first, second), p_floor=_fisher_floor(first, second), **about)
    if min(len(first), len(second)) < 2 or (first.std() > STILL and second.std() > STILL):
        return welch(first, second)
    return newcombe(wilson(first.sum(), len(first)), wilson(second.sum(), len(second)))


def _design(test: str, hits: float, n: int, base_hits: float, base_n: int) -> dict[str, Any]:
    """Return the design behind a test of two shares, the larger share first."""
    sides = sorted([(hits / max(n, 1), n), (base_hits / max(base_n, 1), base_n)])
    return {"tested_by": test, "n_first": sides[1][1], "n_second": sides[0][1], "base_share": float(sides[0][0])}


def is_binary(values: np.ndarray) -> bool:
    """Tell whether all values are 0 or 1."""
    return bool(((values == 0.0) | (values == 1.0)).all())


def _pooled_test(first: np.ndarray, second: np.ndarray) -> float:
    """Return Fisher's exact p where a count is small, else that of pooled z."""
    hits, base = first.sum(), second.sum()
    if not 0 < hits + base < len(first) + len(second):
        return float("nan")  # nobody or everybody: no test, and none to correct the others for
    if min(hits, base, len(first) - hits, len(second) - base) < 10:
        return _fisher(hits, len(first), base, len(second))
    pooled = (hits + base) / (len(first) + len(second))
    error = np.sqrt(pooled * (1 - pooled) * (1 / len(first) + 1 / len(second)))
    return float(2 * scipy.stats.norm.sf(abs(first.mean() - second.mean()) / error))


def _fisher_floor(first: np.ndarray, second: np.ndarray) -> float:
    """Return the smallest p of Fisher's test with as many hits."""
    hits, n = int(first.sum() + second.sum()), len(first) + len(second)
    ends = np.array([max(0, hits - len(second)), min(hits, len(first))])
    chances = scipy.stats.hypergeom.pmf(ends, n, hits, len(first))
    tied = 2 if ends[0] != ends[1] and np.isclose(*chances) else 1
    return float(min(tied * chances.min(), 1.0))


def corrected_share(flagged: float, sensitivity: float, specificity: float) -> float:
    """Return the share behind the flags [4]."""
    seen = sensitivity + specificity - 1
    if abs(seen) < 1e-9:
        raise PortrayalError(
            "the detector flags as often with as without what it should detect. It cannot be corrected."
        )
    return float(np.clip((flagged + specificity - 1) / seen, 0.0, 1.0))


def _fisher(hits: int, n: int, base_hits: int, base_n: int) -> float:
    if min(n, base_n) == 0:
        return float("nan")
    table = [[hits, n - hits], [base_hits, base_n - base_hits]]
    return float(scipy.stats.fisher_exact(table).pvalue)
