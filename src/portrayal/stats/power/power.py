"""Power of comparisons of two groups, of two shares, or of people with themselves.

For planning only: t-tests stand in for the audits' permutation tests, which they approximate well from about eight a side on.
The normal chance of passing is averaged over the estimated deviation: scipy's noncentral t is NaN in parts of its tails.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from portrayal.stats import scipy
from portrayal.stats.estimate import LEVEL
from portrayal.stats.tests.max_t import flip_jointly

RUNS = 400  # simulated audits behind a power of joint flips
POINTS = 120  # of the deviation's distribution
RARE = 1e-13  # what is left out of its tails
POWER = 0.8  # that a plan is made for
SMALL = 10  # a count below this calls for Fisher's test
MOST = 500  # units of a group up to which every pair of counts is gone through
LARGEST = 60.0  # standardised difference looked for; one that needs more is not found at all


def power_of_two_groups(d: float, n_x: int, n_y: int, alpha: float = 0.05, two_sided: bool = False) -> float:
    """Return the chance to find a standardised difference `d` between groups of `n_x` and `n_y`."""
    return power_of_t(d * np.sqrt(n_x * n_y / (n_x + n_y)), n_x + n_y - 2, alpha, two_sided)


def power_of_t(shift: float, freedom: int, alpha: float = 0.05, two_sided: bool = False) -> float:
    """Return the chance that t with this noncentrality passes its critical value."""
    critical = scipy.stats.t.isf(alpha / (2 if two_sided else 1), freedom)
    deviation, weight = _deviations(freedom)
    passing = scipy.special.ndtr(shift - critical * deviation)
    if two_sided:
        passing = passing + scipy.special.ndtr(-shift - critical * deviation)
    return float(passing @ weight)


@cache
def _deviations(freedom: int) -> tuple[np.ndarray, np.ndarray]:
    """Return estimated deviations of a true 1, and their weights (Gauss and Legendre)."""
    low, high = scipy.stats.chi.ppf([RARE, 1 - RARE], freedom)
    nodes, weights = np.polynomial.legendre.leggauss(POINTS)
    at = low + (nodes + 1) * (high - low) / 2
    return at / np.sqrt(freedom), weights * (high - low) / 2 * scipy.stats.chi.pdf(at, freedom)


def smallest_difference(
    n_x: int, n_y: int, power: float = POWER, alpha: float = 0.05, two_sided: bool = False
) -> float:
    """Return the smallest standardised difference found with the given power; infinity where none is."""
    if min(n_x, n_y) < 2:
        return float("inf")
    return smallest(lambda d: power_of_two_groups(d, n_x, n_y, alpha, two_sided), power)


def smallest(chance: Callable[[float], float], power: float = POWER, most: float = LARGEST) -> float:
    """Return the smallest effect found with this power; infinity where none is."""
    if chance(most) < power:
        return float("inf")
    return float(scipy.optimize.brentq(lambda effect: chance(effect) - power, 0.0, most, xtol=1e-4))


@cache
def smallest_of_people(people: int, tests: int, power: float = POWER, one_sided: bool = False, parts: int = 1) -> float:
    """Return the smallest mean difference, in deviations of differences, that joint flips find.

    By simulation: one of `tests` carries the effect; found means corrected p under the level and an interval without 0.
    """
    noise = _of_wholes(np.random.default_rng(0).normal(size=(RUNS, people, tests)), parts)
    shift = _of_wholes(np.eye(tests)[0], parts)
    shift /= shift[0]
    return smallest(lambda effect: float(np.mean([_is_found(one + effect * shift, one_sided) for one in noise])), power)


def _of_wholes(values: np.ndarray, parts: int) -> np.ndarray:
    """Take the mean of parts out, and give the rest the deviation it had."""
    if parts < 2:
        return values
    grouped = values.reshape(*values.shape[:-1], -1, parts)
    centred = (grouped - grouped.mean(axis=-1, keepdims=True)) * np.sqrt(parts / (parts - 1))
    return centred.reshape(values.shape)


def _is_found(differences: np.ndarray, one_sided: bool) -> bool:
    first = differences[:, 0]
    if len(first) < 2:
        return False
    error = first.std(ddof=1) / np.sqrt(len(first))
    clear = abs(first.mean()) > scipy.special.stdtrit(len(first) - 1, 1 - LEVEL / 2) * error
    return bool(clear and flip_jointly(differences, one_sided=one_sided).adjusted[0] < LEVEL)


def power_of_two_shares(
    first: float, second: float, n_first: int, n_second: int, alpha: float, fisher: bool = False
) -> float:
    """Return the power to tell two shares apart; of Fisher's test alone with `fisher`."""
    if max(n_first, n_second) > MOST and not fisher:
        return _normal(first, second, n_first, n_second, alpha)
    counts = [scipy.stats.binom.pmf(np.arange(n + 1), n, share) for n, share in ((n_first, first), (n_second, second))]
    return float(counts[0] @ (_p_values(n_first, n_second, fisher) < alpha) @ counts[1])


def detectable(test: str, n_first: int, n_second: int, base: float, alpha: float) -> float:
    """Return the effect that a test finds in 80 of 100 audits, or NaN."""
    if test == "tolerance":
        hits = np.arange(1, n_first + 1)
        enough = hits[scipy.special.betainc(hits, n_first - hits + 1, base) < alpha]
        return float(scipy.special.betaincinv(enough[0], n_first - enough[0] + 1, POWER)) if len(enough) else np.nan
    if max(n_first, n_second) > MOST:
        return np.nan
    gap = smallest_share_difference(base, n_first, n_second, alpha, fisher=test == "fisher")
    return gap if np.isfinite(gap) else np.nan


def smallest_share_difference(
    base: float, n_first: int, n_second: int, alpha: float, power: float = POWER, fisher: bool = False
) -> float:
    """Return the difference above a base share found with this power, or infinity."""

    def chance(gap: float) -> float:
        return power_of_two_shares(base + gap, base, n_first, n_second, alpha, fisher)

    return smallest(chance, power, 1 - base - 1e-9)


@cache
def _p_values(n_first: int, n_second: int, fisher: bool) -> np.ndarray:
    """Return the p of every pair of counts."""
    p = np.ones((n_first + 1, n_second + 1))  # no hit, or nothing but hits, is the only table there can be
    for hits in range(1, n_first + n_second):
        own = np.arange(max(0, hits - n_second), min(hits, n_first) + 1)
        chances = scipy.stats.hypergeom.pmf(own, n_first + n_second, hits, n_first)
        order = np.argsort(chances, kind="stable")
        # Tables as likely as this one count too, as in scipy's test.
        last = np.searchsorted(chances[order], chances * (1 + 1e-7), side="right") - 1
        p[own, hits - own] = np.cumsum(chances[order])[last]
    if fisher:
        return p
    one, other = np.arange(n_first + 1)[:, None], np.arange(n_second + 1)[None, :]
    smallest_count = np.minimum(np.minimum(one, n_first - one), np.minimum(other, n_second - other))
    pooled = (one + other) / (n_first + n_second)
    error = np.sqrt(np.maximum(pooled * (1 - pooled), 1e-12) * (1 / n_first + 1 / n_second))
    by_z = 2 * scipy.special.ndtr(-np.abs(one / n_first - other / n_second) / error)
    return np.where(smallest_count >= SMALL, by_z, p)


def _normal(first: float, second: float, n_first: int, n_second: int, alpha: float) -> float:
    pooled = (first * n_first + second * n_second) / (n_first + n_second)
    under_null = np.sqrt(pooled * (1 - pooled) * (1 / n_first + 1 / n_second))
    error = np.sqrt(first * (1 - first) / n_first + second * (1 - second) / n_second)
    critical = scipy.stats.norm.isf(alpha / 2) * under_null
    return float(scipy.stats.norm.sf((critical - abs(first - second)) / max(error, 1e-12)))
