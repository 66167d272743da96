"""Counting sums without listing them: meet in the middle.

Every arrangement of a permutation test is a choice, and its statistic is the sum of what was chosen. Cut the
values into two halves, list the sums of each half (2^20 where there are 40 values), sort one, and look up
for each sum of the other half how many partners reach the threshold [1]_. This counts 1.4e11 arrangements
exactly in a fraction of a second.

References
----------
.. [1] Horowitz, Sahni (1974), Computing partitions with applications to the knapsack problem, Journal of the
   ACM 21, 277-292.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from math import prod

import numpy as np

# Sums listed for one half at most. 2^21 numbers are 16 MB and sort in a tenth of a second.
HALF = 2**21
# Of the half that is looked up, this many values are not merged in: their subsets are gone through one by one, each
# with the sorted sums of the others, which saves merging the longest lists.
LOOSE = 2
FEW = 12  # values whose subsets are listed at once: merging them one by one would be many small steps


def sums_by_size(values: np.ndarray, largest: int | None = None) -> list[np.ndarray]:
    """Return, for every size from 0 to `largest` (all), the sorted sums of all subsets of that size."""
    if len(values) <= FEW:
        return _listed(values)[: None if largest is None else largest + 1]
    sums = [np.zeros(1)]
    for value in values:
        grown = [sums[0]]
        for size in range(1, len(sums)):
            # Two sorted runs: the stable sort merges them in linear time.
            grown.append(np.sort(np.concatenate([sums[size], sums[size - 1] + value]), kind="stable"))
        grown.append(sums[-1] + value)
        sums = grown if largest is None else grown[: largest + 1]
    return sums


def _listed(values: np.ndarray) -> list[np.ndarray]:
    """Do what `sums_by_size` does for few values: all sums at once, then sorted by size."""
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums, sums + value])
    return [np.sort(sums[rows]) for rows in _rows_by_size(len(values))]


@lru_cache(maxsize=FEW + 1)
def _rows_by_size(count: int) -> list[np.ndarray]:
    """Return, for every size, which of all subsets have it: those whose number has so many bits set."""
    sizes = np.array([number.bit_count() for number in range(1 << count)])
    return [np.flatnonzero(sizes == size) for size in range(count + 1)]


def count_subsets(values: np.ndarray, size: int, threshold: float) -> int:
    """Count the subsets of this size whose sum is at least `threshold`."""
    middle = len(values) // 2
    merged = middle if middle <= FEW else middle - LOOSE
    left, right = sums_by_size(values[:merged], size), sums_by_size(values[middle:], size)
    count = 0
    for loose in _subsets(values[merged:middle]):
        for k in range(len(left)):
            if 0 <= (rest := size - k - len(loose)) < len(right):
                count += _pairs(left[k], right[rest], threshold - sum(loose))
    return count


def count_choices(options: Sequence[np.ndarray], threshold: float) -> int:
    """Count the ways to take one number from each array so that the sum is at least `threshold`."""
    left, right = _halves(options)
    return _pairs(_all_sums(left), np.sort(_all_sums(right)), threshold)


def choices_countable(options: Sequence[np.ndarray]) -> bool:
    """Say whether both halves of the choices are short enough to list."""
    return all(prod(len(option) for option in half) <= HALF for half in _halves(options))


def _pairs(left: np.ndarray, right: np.ndarray, threshold: float) -> int:
    """Count the pairs with left + right >= threshold; `right` is sorted."""
    below = np.searchsorted(right, threshold - left, side="left")
    return len(left) * len(right) - int(below.sum())


def _subsets(values: np.ndarray) -> list[tuple[float, ...]]:
    return [chosen for size in range(len(values) + 1) for chosen in combinations(values.tolist(), size)]


def _halves(options: Sequence[np.ndarray]) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Deal the arrays, longest first, to the half with fewer sums so far."""
    halves: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
    sizes = [1, 1]
    for option in sorted(options, key=len, reverse=True):
        half = int(sizes[1] < sizes[0])
        halves[half].append(option)
        sizes[half] *= len(option)
    return halves


def _all_sums(options: Sequence[np.ndarray]) -> np.ndarray:
    sums = np.zeros(1)
    for option in options:
        sums = np.add.outer(sums, option).ravel()
    return sums
