"""Whether the groups of one axis differ in something that each unit does or does not do: one test for any number of groups.

Groups are permuted over units where every unit is of one group, and within units where a unit is seen in several (a
person in eight places). The statistic is the sum of squares between groups; beyond a few thousand units its
distribution is the chi-squared one.
"""

from __future__ import annotations

import numpy as np

from portrayal.stats.tests.people_permutation import permute_people
from portrayal.stats.tests.permutation import two_sample

DRAWS = 9_999
FEW = 24  # units of two groups up to which all permutations are counted
MOST = 3_000  # units up to which groups are permuted
AT_ONCE = 4_000_000  # numbers held in memory together
SAME = 1e-9


def level_test(values: np.ndarray, groups: np.ndarray, units: np.ndarray, seed: int = 0) -> float:
    """Return the p of equal means in all groups; NaN where nothing varies or there is one group.

    Examples
    --------
    >>> level_test(np.repeat([1.0, 0.0], 6), np.repeat([0, 1], 6), np.arange(12)) < 0.01
    True
    """
    within = len(np.unique(units)) < len(units)
    centred = values - (_unit_means(values, units) if within else values.mean())
    if len(np.unique(groups)) < 2 or not np.any(np.abs(centred) > SAME):
        return float("nan")
    sizes = np.bincount(groups).astype(float)
    if len(values) > MOST:
        return _chi_squared(centred, groups, sizes, units, within)
    if not within and len(sizes) == 2 and np.isin(values, (0.0, 1.0)).all():
        sides = np.where(groups == 0, 1.0, -1.0)
        return permute_people(values[:, None], sides[:, None], np.ones((len(values), 1), bool)).p
    if not within and len(sizes) == 2 and len(values) <= FEW:
        return two_sample(values[groups == 0], values[groups == 1], alternative="two-sided").p
    return _permuted(centred, groups, sizes, units if within else np.zeros(len(units), dtype=int), seed)


def _unit_means(values: np.ndarray, units: np.ndarray) -> np.ndarray:
    return (np.bincount(units, values) / np.maximum(np.bincount(units), 1))[units]


def _between(centred: np.ndarray, groups: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return the sum of squares between groups, for each row of values."""
    sums = np.stack([centred[..., groups == group].sum(axis=-1) for group in range(len(sizes))], axis=-1)
    return (sums**2 / np.maximum(sizes, 1)).sum(axis=-1)


def _permuted(centred: np.ndarray, groups: np.ndarray, sizes: np.ndarray, blocks: np.ndarray, seed: int) -> float:
    """Permute values inside blocks: all of them are one block where every unit is of one group."""
    order = np.argsort(blocks, kind="stable")
    centred, groups, blocks = centred[order], groups[order], blocks[order]
    observed, reached, rng = _between(centred, groups, sizes), 1, np.random.default_rng(seed)
    at_once = max(1, AT_ONCE // len(centred))
    for first in range(0, DRAWS, at_once):
        keys = rng.random((min(at_once, DRAWS - first), len(centred))) + blocks
        permuted = centred[np.argsort(keys, axis=1)]
        reached += int((_between(permuted, groups, sizes) >= observed * (1 - SAME)).sum())
    return reached / (DRAWS + 1)


def _chi_squared(centred: np.ndarray, groups: np.ndarray, sizes: np.ndarray, units: np.ndarray, within: bool) -> float:
    from scipy import stats

    lost = len(np.unique(units)) if within else 1
    variance = float((centred**2).sum() / max(len(centred) - lost, 1))
    return float(stats.chi2.sf(_between(centred, groups, sizes) / variance, np.count_nonzero(sizes) - 1))
