"""Intervals of shares, means, ratios, rates and areas, clustered where answers repeat.

[1] Wilson (1927), Journal of the American Statistical Association 22, 209-212.
[2] Cochran (1977), Sampling techniques, Wiley, sections 6.4 (ratios), 2.11 and 9A (rates).
[3] Clopper, Pearson (1934), The use of confidence or fiducial limits, Biometrika 26, 404-413.
[4] DeLong, DeLong, Clarke-Pearson (1988), Comparing the areas under correlated ROC curves, Biometrics 44, 837-845.
[5] LeDell, Petersen, van der Laan (2015), Cross-validated area under the ROC curve, Electronic J. of Statistics 9, 1583-1607.
[6] Pepe (2003), The statistical evaluation of medical tests for classification and prediction, section 5.2.5.
[7] Bell, McCaffrey (2002), Bias reduction in standard errors with multi-stage samples, Survey Methodology 28, 169-181.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

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
    design: dict[str, Any] = {"p_floor": tolerance**n, "tested_by": "tolerance", "n_first": n, "base_share": tolerance}
    return Estimate(hits / n, low, high, p, n, null=tolerance, **design)


Fold = tuple[np.ndarray, np.ndarray]  # scores, and which of them have the outcome


class Auc(NamedTuple):
    """An area, and its variance with the scores taken as given."""

    value: float
    variance: float
    rarer: int  # cases of the rarer outcome


def auc_over_folds(folds: Sequence[Fold]) -> Auc:
    """Return the area of pairs within folds and its variance [4][5]."""
    own = np.concatenate([placements(scores[outcome], scores[~outcome]) for scores, outcome in folds])
    other = np.concatenate([placements(scores[~outcome], scores[outcome]) for scores, outcome in folds])
    variance = sum(float(np.var(side, ddof=1)) / len(side) for side in (own, other))
    return Auc(float(own.mean()), variance, min(len(own), len(other)))


def auc_interval(area: Auc, learning: float = 0.0, level: float = 0.95) -> Estimate:
    """Return the interval of an area, symmetric in its log odds [6]."""
    tail = 0.5 - level / 2
    undecided = min(2 * (1 - area.value), 1.0)
    error = np.sqrt(area.variance + learning * undecided**2)
    if area.value >= 1:
        return Estimate(area.value, tail ** (1 / area.rarer), area.value)
    if area.value <= 0:
        return Estimate(area.value, area.value, 1 - tail ** (1 / area.rarer))
    middle = scipy.special.logit(area.value)
    half = t_quantile(area.rarer - 1, level) * error / (area.value * (1 - area.value))
    return Estimate(area.value, float(scipy.special.expit(middle - half)), float(scipy.special.expit(middle + half)))


def placements(scores: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return for each score the share of the others it lies above; ties count half."""
    ordered = np.sort(others)
    below = np.searchsorted(ordered, scores, "left") + np.searchsorted(ordered, scores, "right")
    return below / (2 * len(others))


Counts = Sequence[float] | np.ndarray


def clustered_rate(counts: Counts, occasions: Counts, level: float = 0.95) -> Estimate:
    """Return events per occasion and its interval over clusters [2], never below zero.

    Without any event the upper end is the exact Poisson one, which takes occasions for independent: the caller must note it.
    """
    counts, occasions = np.asarray(counts, float), np.asarray(occasions, float)
    total = occasions.sum()
    if total == 0:
        return Estimate(n=0)
    rate, n = float(counts.sum() / total), int(total)
    if len(counts) < 2:
        return Estimate(rate, n=n)
    if rate == 0:
        return Estimate(0.0, 0.0, float(scipy.stats.chi2.ppf(0.5 + level / 2, 2) / 2 / total), n=n)
    half = _half((counts - rate * occasions) / total, level)
    return Estimate(rate, max(0.0, rate - half), rate + half, n=n)


def paired_rate_ratio(
    counts: Counts, occasions: Counts, base_counts: Counts, base_occasions: Counts, level: float = 0.95
) -> Estimate:
    """Return the ratio of two rates of the same clusters; interval on the log scale."""
    counts, occasions = np.asarray(counts, float), np.asarray(occasions, float)
    base, base_occasions = np.asarray(base_counts, float), np.asarray(base_occasions, float)
    n = int(occasions.sum() + base_occasions.sum())
    if base.sum() == 0 or occasions.sum() == 0:
        return Estimate(n=n)
    ratio = float(counts.sum() / occasions.sum() / (base.sum() / base_occasions.sum()))
    if counts.sum() == 0 or len(counts) < 2:
        return Estimate(ratio, n=n)
    half = _half(_log_influence(counts, occasions) - _log_influence(base, base_occasions), level)
    centre = np.log(ratio)
    return Estimate(ratio, float(np.exp(centre - half)), float(np.exp(centre + half)), n=n)


def _log_influence(counts: np.ndarray, occasions: np.ndarray) -> np.ndarray:
    """Return what each cluster adds to the log rate, by leaving it out [7]."""
    rest = (counts.sum() - counts) / (occasions.sum() - occasions)
    if (rest <= 0).any():
        return (counts - counts.sum() / occasions.sum() * occasions) / counts.sum()
    return (len(counts) - 1) / len(counts) * (np.log(rest).mean() - np.log(rest))


def _half(influence: np.ndarray, level: float) -> float:
    """Return half the width of the interval, from what each cluster adds to the estimate."""
    clusters = len(influence)
    error = np.sqrt(clusters / (clusters - 1) * np.sum(influence**2))
    return float(t_quantile(clusters - 1, level) * error)
