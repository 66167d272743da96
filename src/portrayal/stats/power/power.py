"""Power of comparisons of two groups, of two shares, or of people with themselves.

In plans t-tests stand in for permutation tests of groups, which they approximate well from about eight a side on.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache

import numpy as np

from portrayal.stats import scipy
from portrayal.stats.estimate import LEVEL
from portrayal.stats.permuted import SAME
from portrayal.stats.tests.max_t import least_lean, sign_patterns

RUNS, FLIPS = 60_000, 999  # differences simulated behind a power of joint flips, and patterns of signs of each
FEWEST, MOST_RUNS = 300, 800  # simulated audits of these differences
MANY, TOGETHER = 200, 15_000  # people, and differences of an audit, up to which it is simulated
STEPS = 13  # halvings of where an effect lies
POWER = 0.8  # that a plan is made for
SMALL = 10  # a count below this calls for Fisher's test
MOST = 500  # units of a group up to which every pair of counts is gone through
MOST_AWAY = 1_000.0  # noncentrality looked for
LARGEST = 60.0  # standardised difference looked for; one that needs more is not found at all


def power_of_two_groups(d: float, n_x: int, n_y: int, alpha: float = 0.05, two_sided: bool = False) -> float:
    """Return the chance to find a standardised difference `d` between groups of `n_x` and `n_y`."""
    return power_of_t(d * np.sqrt(n_x * n_y / (n_x + n_y)), n_x + n_y - 2, alpha, two_sided)


def power_of_t(shift: float, freedom: int, alpha: float = 0.05, two_sided: bool = False) -> float:
    """Return the chance that t with this noncentrality passes its critical value."""
    critical = scipy.stats.t.isf(alpha / (2 if two_sided else 1), freedom)
    other = scipy.stats.nct.cdf(-critical, freedom, shift) if two_sided else 0.0
    return float(scipy.stats.nct.sf(critical, freedom, shift) + np.nan_to_num(other))  # NaN where it is too small


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
def smallest_of_people(
    people: int, tests: int, power: float = POWER, one_sided: bool = False, parts: int = 1, level: float = LEVEL
) -> float:
    """Return the smallest mean difference, in deviations of differences, that joint flips find.

    By simulation: one of `tests` carries the effect; found means corrected p under the level and an interval without 0. Beyond
    `MANY` people it falls with their root; of more than `TOGETHER` differences it takes over a second and is NaN.
    """
    if people > MANY:
        return smallest_of_people(MANY, tests, power, one_sided, parts, level) * float(np.sqrt(MANY / people))
    if people * tests > TOGETHER:
        return float("nan")
    runs = int(np.clip(RUNS // max(people * tests, 1), FEWEST, MOST_RUNS))
    rng = np.random.default_rng(0)
    least = [
        _least_found(
            _of_wholes(rng.normal(size=(people, tests)), parts), _some_signs(people, rng, one_sided), one_sided, level
        )
        for _ in range(runs)
    ]
    return float(np.sort(least)[int(np.ceil(power * runs)) - 1])


def _some_signs(people: int, rng: np.random.Generator, one_sided: bool = False) -> np.ndarray:
    """Return all patterns of signs, or `FLIPS` of them with the one that turns nobody."""
    if 2 ** min(people, 62) <= 2 * FLIPS:
        return next(sign_patterns(people, 1, 0, one_sided))
    return np.vstack([np.ones((1, people)), rng.integers(0, 2, (FLIPS - 1, people)) * 2.0 - 1.0])


def _least_found(noise: np.ndarray, signs: np.ndarray, one_sided: bool, level: float) -> float:
    """Return the effect on the first test, from which on it is found."""
    fold, people, first = np.positive if one_sided else np.abs, len(noise), noise[:, 0]
    beside = fold(signs @ (noise / np.sqrt((noise**2).sum(axis=0))))[:, 1:].max(axis=1, initial=0.0)
    tail, lean = (float(each[0]) for each in least_lean(noise, 0))
    clear = float(scipy.special.stdtrit(max(people - 1, 1), 1 - LEVEL / 2)) / np.sqrt(max(people - 1, 1))
    least = max(clear, lean if tail <= 0 else 0.0)  # deviations that the mean must be away from 0

    flipped, turned = signs @ first, signs.sum(axis=1)  # of the noise, and of an effect of 1
    mean, deviation = float(first.mean()), float(first.std())

    def is_found(effect: float) -> bool:
        at = mean + effect
        length = np.sqrt(people * (deviation**2 + at**2))
        reached = np.maximum(fold(flipped + effect * turned), beside * length) >= people * at * (1 - SAME)
        return bool(at > least * deviation and reached.mean() < level)

    low, high = 0.0, LARGEST
    for _ in range(STEPS if people > 1 and is_found(high) else 0):
        middle = (low + high) / 2
        low, high = (low, middle) if is_found(middle) else (middle, high)
    return high if low else np.inf


@cache
def fewest_who_differ(people: int, tests: int, level: float = LEVEL) -> int | None:
    """Return how many must differ, all alike, for a test to be found beside others."""
    rng = np.random.default_rng(0)
    signs, noise = _some_signs(people, rng), rng.normal(size=(people, tests - 1))
    beside = np.abs(signs @ (noise / np.sqrt((noise**2).sum(axis=0)))).max(axis=1, initial=0.0)
    for count in range(1, people + 1):
        reached = np.maximum(np.abs(signs[:, :count].sum(axis=1)), beside * np.sqrt(count)) >= count * (1 - SAME)
        if reached.mean() < level:
            return count
    return None


def _of_wholes(values: np.ndarray, parts: int) -> np.ndarray:
    """Take the mean of parts out, and give the rest the deviation it had."""
    if parts < 2:
        return values
    grouped = values.reshape(*values.shape[:-1], -1, parts)
    centred = (grouped - grouped.mean(axis=-1, keepdims=True)) * np.sqrt(parts / (parts - 1))
    return centred.reshape(values.shape)


def power_of_two_shares(
    first: float, second: float, n_first: int, n_second: int, alpha: float, fisher: bool = False
) -> float:
    """Return the power to tell two shares apart; of Fisher's test alone with `fisher`."""
    if max(n_first, n_second) > MOST and not fisher:
        return _normal(first, second, n_first, n_second, alpha)
    counts = [scipy.stats.binom.pmf(np.arange(n + 1), n, share) for n, share in ((n_first, first), (n_second, second))]
    return float(counts[0] @ (_p_values(n_first, n_second, fisher) < alpha) @ counts[1])


def detectable(test: str, n_first: int, n_second: int, base: float, alpha: float, people: int = 0) -> float:
    """Return the effect that a test finds in 80 of 100 audits, or NaN."""
    if test == "variance":
        return _smallest_eta(n_first, n_second, people, alpha)
    if test == "tolerance":
        hits = np.arange(1, n_first + 1)
        enough = hits[scipy.special.betainc(hits, n_first - hits + 1, base) < alpha]
        return float(scipy.special.betaincinv(enough[0], n_first - enough[0] + 1, POWER)) if len(enough) else np.nan
    if max(n_first, n_second) > MOST:
        return np.nan
    gap = smallest_share_difference(base, n_first, n_second, alpha, fisher=test == "fisher")
    return gap if np.isfinite(gap) else np.nan


def _smallest_eta(df: int, free: int, people: int, alpha: float) -> float:
    """Return the partial eta squared that the noncentral F finds with 80% power."""
    critical = scipy.special.fdtri(df, free, 1 - alpha)
    least = smallest(lambda away: 1 - float(scipy.special.ncfdtr(df, free, away, critical)), most=MOST_AWAY)
    return least / (least + people) if np.isfinite(least) else np.nan


def rounded(people: int) -> int:
    """Return the people to two digits, below: one simulation serves places with almost as many."""
    digits = 10 ** max(len(str(people)) - 2, 0)
    return people // digits * digits


def smallest_share_difference(
    base: float, n_first: int, n_second: int, alpha: float, power: float = POWER, fisher: bool = False
) -> float:
    """Return the difference above a base share found with this power, or infinity."""

    def chance(gap: float) -> float:
        return power_of_two_shares(base + gap, base, n_first, n_second, alpha, fisher)

    return smallest(chance, power, 1 - base - 1e-9)


@lru_cache(maxsize=200)
def _p_values(n_first: int, n_second: int, fisher: bool) -> np.ndarray:
    """Return the p of every pair of counts."""
    one, other = np.arange(n_first + 1)[:, None], np.arange(n_second + 1)[None, :]
    every = _log_chooses(n_first)[:, None] + _log_chooses(n_second) - _log_chooses(n_first + n_second)[one + other]
    p = np.ones(every.shape)  # no hit, or nothing but hits, is the only table there can be
    for hits in range(1, n_first + n_second):
        own = np.arange(max(0, hits - n_second), min(hits, n_first) + 1)
        chances = np.exp(every[own, hits - own])
        ordered = np.sort(chances)
        # Tables as likely as this one count too, as in scipy's test.
        last = np.searchsorted(ordered, chances * (1 + 1e-7), side="right") - 1
        p[own, hits - own] = np.cumsum(ordered)[last]
    if fisher:
        return p
    smallest_count = np.minimum(np.minimum(one, n_first - one), np.minimum(other, n_second - other))
    pooled = (one + other) / (n_first + n_second)
    error = np.sqrt(np.maximum(pooled * (1 - pooled), 1e-12) * (1 / n_first + 1 / n_second))
    by_z = 2 * scipy.special.ndtr(-np.abs(one / n_first - other / n_second) / error)
    return np.where(smallest_count >= SMALL, by_z, p)


def _log_chooses(units: int) -> np.ndarray:
    """Return the logarithms of the binomial coefficients of this many units."""
    log_factorials = scipy.special.gammaln(np.arange(units + 1) + 1.0)
    return log_factorials[-1] - log_factorials - log_factorials[::-1]


def _normal(first: float, second: float, n_first: int, n_second: int, alpha: float) -> float:
    pooled = (first * n_first + second * n_second) / (n_first + n_second)
    under_null = np.sqrt(pooled * (1 - pooled) * (1 / n_first + 1 / n_second))
    error = np.sqrt(first * (1 - first) / n_first + second * (1 - second) / n_second)
    critical = scipy.stats.norm.isf(alpha / 2) * under_null
    return float(scipy.stats.norm.sf((critical - abs(first - second)) / max(error, 1e-12)))
