"""Difference of two sets of answers about the same units.

[1] McNemar (1947), Psychometrika 12, 153-157: flipped signs of differences -1, 0 and 1 are this exact test.
[2] Bonett, Price (2012), Adjusted Wald confidence interval, Journal of Educational and Behavioral Statistics 37, 479-488.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from portrayal.stats import scipy
from portrayal.stats.decisions.decision import NOT_TESTED
from portrayal.stats.estimate import Estimate
from portrayal.stats.intervals.intervals import clustered_mean
from portrayal.stats.permuted import STILL
from portrayal.stats.tests.permutation import sign_flip


def paired_difference(first: np.ndarray, second: np.ndarray, seed: int = 0) -> Estimate:
    """Return the mean difference of the units, first less second, with a two-sided p."""
    gaps = np.asarray(first, dtype=float) - np.asarray(second, dtype=float)
    if not len(gaps):
        return Estimate(n=0, unit="points")
    difference = replace(_interval(gaps), n=len(gaps), unit="points")
    moved = gaps[np.abs(gaps) > STILL]
    if not len(moved):
        return replace(difference, decision=NOT_TESTED, reason="both do the same with every unit")
    p = sign_flip(moved, alternative="two-sided", seed=seed).p
    return replace(difference, p=p, p_floor=float(min(2.0 ** (1 - len(moved)), 1.0)))


def _interval(gaps: np.ndarray) -> Estimate:
    """Return the adjusted Wald interval [2] of differences -1, 0, 1, else the t interval."""
    if not np.isin(gaps, (-1.0, 0.0, 1.0)).all():
        return clustered_mean(gaps)
    n, more, less = len(gaps) + 2, (gaps > 0).sum() + 1, (gaps < 0).sum() + 1
    middle, spread = (more - less) / n, ((more + less) / n - ((more - less) / n) ** 2) / n
    half = float(scipy.stats.norm.ppf(0.975) * np.sqrt(spread))
    return Estimate(float(gaps.mean()), max(middle - half, -1.0), min(middle + half, 1.0))
