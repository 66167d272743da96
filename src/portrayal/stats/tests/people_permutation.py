"""Whether two things said of the same pictures go together, when several pictures show one person: people are permuted.

The statistic is a sum over pictures of `hits` times `weights` (a difference of two shares is one: the weights are 1 / n of
one side and -1 / n of the other). Under no association the weights of whole people may change hands. With one picture a
person and two values of both the distribution is the hypergeometric one and p is exact; otherwise permutations are drawn,
ten times as many where few of them come near the observed statistic [1]_. A missing picture counts as an average one, and
the observed statistic, all of whose pictures are at hand, is taken down as the permuted ones are by those they miss.

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
MOST = 2_000  # people who are permuted
AT_ONCE = 2_000_000  # numbers held in memory together
SAME = 1e-9
REACH = 40  # standard deviations: beyond, a chance is below 1e-308


class Permuted(NamedTuple):
    """A two-sided p and the smallest one that the design could give."""

    p: float
    floor: float


def permute_people(hits: np.ndarray, weights: np.ndarray, there: np.ndarray, seed: int = 0) -> Permuted:
    """Test the sum of hits times weights against what permuted people give; NaN where no permutation changes it.

    Examples
    --------
    >>> hits, weights = np.repeat([[1.0], [0.0]], 3, axis=0), np.repeat([[1 / 3], [-1 / 3]], 3, axis=0)
    >>> tested = permute_people(hits, weights, np.ones((6, 1), bool))
    >>> round(tested.p, 9), round(tested.floor, 9)  # 2 of the 20 ways to deal three hits to six people
    (0.1, 0.1)
    """
    if hits.shape[1] == 1:
        told = there[:, 0] & (weights[:, 0] != 0)
        return _hypergeometric(hits[told, 0] > 0, weights[told, 0] > 0)
    centred = [_centred(each, there) for each in (hits, weights)]
    order = np.lexsort((*centred[1].T, *centred[0].T))
    if not all(np.abs(each).max() > SAME for each in centred):
        return Permuted(float("nan"), 1.0)
    kept = float(np.sqrt(there.mean()))
    return Permuted(_drawn(centred[0][order], centred[1][order], kept, seed), _floor(weights))


def _centred(values: np.ndarray, there: np.ndarray) -> np.ndarray:
    """Take each picture's mean off; a missing one is 0."""
    means = np.where(there, values, 0.0).sum(axis=0) / np.maximum(there.sum(axis=0), 1)
    return np.where(there, values - means, 0.0)


def _hypergeometric(hits: np.ndarray, first: np.ndarray) -> Permuted:
    people, found, side = len(hits), int(hits.sum()), int(first.sum())
    if not 0 < found < people or not 0 < side < people:
        return Permuted(float("nan"), 1.0)
    counts = _possible(people, found, side)
    chances = _chances(counts, people, found, side)
    apart = np.abs(counts - side * found / people)
    reached = apart >= abs((hits & first).sum() - side * found / people) - SAME
    floor = chances[apart >= apart.max() - SAME].sum()
    return Permuted(float(min(chances[reached].sum(), 1.0)), float(floor))


def _chances(counts: np.ndarray, people: int, found: int, side: int) -> np.ndarray:
    """Return the hypergeometric chance of each count; scipy's own takes a hundred times as long for thousands of people."""
    from scipy.special import gammaln

    def ways(whole: np.ndarray | int, part: np.ndarray | int) -> np.ndarray:
        return gammaln(np.add(whole, 1)) - gammaln(np.add(part, 1)) - gammaln(np.subtract(whole, part) + 1)

    return np.exp(ways(found, counts) + ways(people - found, side - counts) - ways(people, side))


def _possible(people: int, found: int, side: int) -> np.ndarray:
    """Return the counts that have a chance a float can hold, and both ends: of thousands of people few others have any."""
    low, high = max(0, side + found - people), min(side, found)
    mean = side * found / people
    deviation = np.sqrt(mean * (1 - found / people) * (people - side) / (people - 1))
    first, last = max(low, int(mean - REACH * deviation)), min(high, int(mean + REACH * deviation) + 1)
    return np.unique(np.concatenate([[low, high], np.arange(first, last + 1)]))


def _drawn(hits: np.ndarray, weights: np.ndarray, kept: float, seed: int) -> float:
    apart = kept * abs(float((hits * weights).sum()))
    needed = apart - SAME * max(apart, 1e-6)
    if len(hits) > MOST:
        return _normal(hits, weights, apart)
    rng, reached, drawn = np.random.default_rng(seed), 0, 0
    products = hits @ weights.T  # of everybody's hits with everybody's weights
    people = np.arange(len(hits))
    for most in (DRAWS, FURTHER):
        while drawn < most and (most == DRAWS or reached < NEAR):
            some = min(max(1, AT_ONCE // len(hits)), most - drawn)
            orders = np.argsort(rng.random((some, len(hits))), axis=1)
            reached += int((np.abs(products[people, orders].sum(axis=1)) >= needed).sum())
            drawn += some
    return (reached + 1) / (drawn + 1)


def _normal(hits: np.ndarray, weights: np.ndarray, apart: float) -> float:
    """Return the p of so many people's sum, which is as good as normal, with the variance over all permutations."""
    from scipy import special

    variance = float(((hits.T @ hits) * (weights.T @ weights)).sum()) / (len(hits) - 1)
    return float(2 * special.ndtr(-apart / np.sqrt(variance)))


def _floor(weights: np.ndarray) -> float:
    """Return 1 over the number of ways to deal the weights; no p can be smaller."""
    _, alike = np.unique(weights, axis=0, return_counts=True)
    return float(np.exp(sum(lgamma(n + 1) for n in alike) - lgamma(len(weights) + 1)))
