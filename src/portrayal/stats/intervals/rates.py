"""Rates of counted events where the same people are counted again and again.

[1] Cochran (1977), Sampling Techniques, 3rd edition, sections 2.11 and 9A: the variance of a ratio over clusters.
[2] Bell, McCaffrey (2002), Bias reduction in standard errors with multi-stage samples, Survey Methodology 28, 169-181.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from portrayal.stats import scipy
from portrayal.stats.estimate import Estimate
from portrayal.stats.intervals.intervals import t_quantile

Counts = Sequence[float] | np.ndarray


def clustered_rate(counts: Counts, occasions: Counts, level: float = 0.95) -> Estimate:
    """Return events per occasion and its interval over clusters [1], never below zero.

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
    """Return what each cluster adds to the log rate, by leaving it out [2]."""
    rest = (counts.sum() - counts) / (occasions.sum() - occasions)
    if (rest <= 0).any():
        return (counts - counts.sum() / occasions.sum() * occasions) / counts.sum()
    return (len(counts) - 1) / len(counts) * (np.log(rest).mean() - np.log(rest))


def _half(influence: np.ndarray, level: float) -> float:
    """Return half the width of the interval, from what each cluster adds to the estimate."""
    clusters = len(influence)
    error = np.sqrt(clusters / (clusters - 1) * np.sum(influence**2))
    return float(t_quantile(clusters - 1, level) * error)
