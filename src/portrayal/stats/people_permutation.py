"""Whether two things said of the same pictures go together, when several pictures show one person: people are permuted.

The statistic is a sum over pictures of `hits` times `weights` (a difference of two shares is one: the weights are 1 / n of
one side and -1 / n of the other). Under no association the weights of whole people may change hands, among people of whom
the same pictures are at hand. With one picture a person and two values of both the distribution is the hypergeometric one
and p is exact; otherwise permutations are drawn, ten times as many where few of them come near the observed statistic [1]_.

References
----------
.. [1] Besag, Clifford (1991), Sequential Monte Carlo p-values, Biometrika 78, 301-304.
"""

from __future__ import annotations

from math import lgamma
from typing import NamedTuple

import numpy as np

DRAWS = 9_999
FURTHER = 99_999  # where fewer than `NEAR` of the first draws reach the observed statistic
NEAR = 10
AT_ONCE = 2_000_000  # numbers held in memory together
SAME = 1e-9


class Permuted(NamedTuple):
    """A two-sided p and the smallest one that the design could give."""

    p: float
    floor: float


def permute_people(hits: np.ndarray, weights: np.ndarray, there: np.ndarray, seed: int = 0) -> Permuted:
    """Test the sum of hits times weights against what permuted people give; NaN where no permutation changes it.

    Parameters
    ----------
    hits, weights
        People by pictures; 0 where a picture is missing.
    there
        Whether a person has the picture: people by pictures.
    seed
        Of the draws.

    Examples
    --------
    >>> hits, weights = np.repeat([[1.0], [0.0]], 3, axis=0), np.repeat([[1 / 3], [-1 / 3]], 3, axis=0)
    >>> permute_people(hits, weights, np.ones((6, 1), bool))  # 2 of the 20 ways to deal three hits to six people
    Permuted(p=0.1, floor=0.1)
    """
    if hits.shape[1] == 1:
        told = there[:, 0] & (weights[:, 0] != 0)
        return _hypergeometric(hits[told, 0] > 0, weights[told, 0] > 0)
    _, strata = np.unique(there, axis=0, return_inverse=True)
    order = np.lexsort((*weights.T, *hits.T, strata.ravel()))
    hits, weights, strata = hits[order], weights[order], strata.ravel()[order].astype(float)
    if not _can_vary(hits, weights, strata):
        return Permuted(float("nan"), 1.0)
    return Permuted(_drawn(hits, weights, strata, seed), _floor(weights, strata))


def _hypergeometric(hits: np.ndarray, first: np.ndarray) -> Permuted:
    from scipy import stats

    people, found, side = len(hits), int(hits.sum()), int(first.sum())
    if not 0 < found < people or not 0 < side < people:
        return Permuted(float("nan"), 1.0)
    counts = np.arange(max(0, side + found - people), min(side, found) + 1)
    chances = stats.hypergeom.pmf(counts, people, found, side)
    apart = np.abs(counts - side * found / people)
    reached = apart >= abs((hits & first).sum() - side * found / people) - SAME
    floor = chances[apart >= apart.max() - SAME].sum()
    return Permuted(float(min(chances[reached].sum(), 1.0)), float(floor))


def _can_vary(hits: np.ndarray, weights: np.ndarray, strata: np.ndarray) -> bool:
    return any(
        np.ptp(hits[strata == one], axis=0).any() and np.ptp(weights[strata == one], axis=0).any()
        for one in np.unique(strata)
    )


def _drawn(hits: np.ndarray, weights: np.ndarray, strata: np.ndarray, seed: int) -> float:
    expected = sum(
        float(hits[strata == one].mean(axis=0) @ weights[strata == one].sum(axis=0))
        for one in np.unique(strata)
    )
    apart = abs(float((hits * weights).sum()) - expected)
    needed = apart - SAME * max(apart, 1e-6)
    rng, reached, drawn = np.random.default_rng(seed), 0, 0
    for most in (DRAWS, FURTHER):
        while drawn < most and (most == DRAWS or reached < NEAR):
            some = min(max(1, AT_ONCE // hits.size), most - drawn)
            orders = np.argsort(rng.random((some, len(hits))) + strata, axis=1)
            sums = np.einsum("ps,kps->k", hits, weights[orders])
            reached += int((np.abs(sums - expected) >= needed).sum())
            drawn += some
    return (reached + 1) / (drawn + 1)


def _floor(weights: np.ndarray, strata: np.ndarray) -> float:
    """Return 1 over the number of ways to deal the weights; no p can be smaller."""
    _, whole = np.unique(strata, return_counts=True)
    _, alike = np.unique(np.column_stack([strata, weights]), axis=0, return_counts=True)
    ways = sum(lgamma(n + 1) for n in whole) - sum(lgamma(n + 1) for n in alike)
    return float(np.exp(-ways))
