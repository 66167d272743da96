"""How large an effect a comparison of two groups, or of people with themselves, can find.

For planning only: t-tests stand in for the audits' own permutation tests, which they approximate well from about eight
a side on. Power is the normal chance of passing the critical value, averaged over the estimated deviation; the
noncentral t distribution that says the same is not a number in parts of its tails.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from portrayal.stats.decisions.multiplicity import LEVEL
from portrayal.stats.tests.max_t import flip_jointly

RUNS = 400  # simulated audits behind a power of joint flips
POINTS = 120  # of the deviation's distribution
RARE = 1e-13  # what is left out of its tails
POWER = 0.8  # that a plan is made for
LARGEST = 60.0  # standardised difference looked for; one that needs more is not found at all


def power_of_two_groups(d: float, n_x: int, n_y: int, alpha: float = 0.05, two_sided: bool = False) -> float:
    """Return the chance to find a standardised difference `d` between groups of `n_x` and `n_y`.

    Examples
    --------
    >>> round(power_of_two_groups(0.8, 20, 20), 2)
    0.8
    """
    return power_of_t(d * np.sqrt(n_x * n_y / (n_x + n_y)), n_x + n_y - 2, alpha, two_sided)


def power_of_t(shift: float, freedom: int, alpha: float = 0.05, two_sided: bool = False) -> float:
    """Return the chance that t with this noncentrality and these degrees of freedom passes its critical value."""
    from scipy import special, stats

    critical = stats.t.isf(alpha / (2 if two_sided else 1), freedom)
    deviation, weight = _deviations(freedom)
    found = special.ndtr(shift - critical * deviation)
    if two_sided:
        found = found + special.ndtr(-shift - critical * deviation)
    return float(found @ weight)


@cache
def _deviations(freedom: int) -> tuple[np.ndarray, np.ndarray]:
    """Return estimated deviations, of a true one of 1, and how much each weighs (Gauss and Legendre)."""
    from scipy import stats

    low, high = stats.chi.ppf([RARE, 1 - RARE], freedom)
    nodes, weights = np.polynomial.legendre.leggauss(POINTS)
    at = low + (nodes + 1) * (high - low) / 2
    return at / np.sqrt(freedom), weights * (high - low) / 2 * stats.chi.pdf(at, freedom)


def smallest_difference(
    n_x: int, n_y: int, power: float = POWER, alpha: float = 0.05, two_sided: bool = False
) -> float:
    """Return the smallest standardised difference found with the given power; infinity where none is."""
    if min(n_x, n_y) < 2:
        return float("inf")
    return smallest(lambda d: power_of_two_groups(d, n_x, n_y, alpha, two_sided), power)


def smallest(chance: Callable[[float], float], power: float = POWER) -> float:
    """Return the smallest effect whose chance of being found is `power`; infinity where none has it."""
    from scipy import optimize

    if chance(LARGEST) < power:
        return float("inf")
    return float(optimize.brentq(lambda effect: chance(effect) - power, 0.0, LARGEST, xtol=1e-4))


@cache
def smallest_of_people(people: int, tests: int, power: float = POWER, one_sided: bool = False, parts: int = 1) -> float:
    """Return the smallest mean difference, in deviations of the people's differences, that joint sign flips find.

    By simulation: one of `tests` carries the effect. It counts as found when its p, corrected over all of them, is under
    the level and its t interval over people leaves out 0, as in a report.
    """
    noise = _of_wholes(np.random.default_rng(0).normal(size=(RUNS, people, tests)), parts)
    shift = _of_wholes(np.eye(tests)[0], parts)
    shift /= shift[0]
    return smallest(lambda effect: float(np.mean([_is_found(one + effect * shift, one_sided) for one in noise])), power)


def _of_wholes(values: np.ndarray, parts: int) -> np.ndarray:
    """Take the mean of each group of parts out, and give what is left the deviation it had."""
    if parts < 2:
        return values
    grouped = values.reshape(*values.shape[:-1], -1, parts)
    centred = (grouped - grouped.mean(axis=-1, keepdims=True)) * np.sqrt(parts / (parts - 1))
    return centred.reshape(values.shape)


def _is_found(differences: np.ndarray, one_sided: bool) -> bool:
    from scipy import special

    first = differences[:, 0]
    if len(first) < 2:
        return False
    error = first.std(ddof=1) / np.sqrt(len(first))
    clear = abs(first.mean()) > special.stdtrit(len(first) - 1, 1 - LEVEL / 2) * error
    return bool(clear and flip_jointly(differences, one_sided=one_sided).adjusted[0] < LEVEL)
