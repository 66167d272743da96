"""Counts of sums without listing them: meet in the middle.

Horowitz, Sahni (1974), Computing partitions with applications to the knapsack problem, Journal of the ACM 21, 277-292.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations

import numpy as np

SIGNED = 42  # values whose signs can be counted: 2^21 sums of a half are 16 MB and sort in a tenth of a second
# Of the half that is looked up, this many values are not merged in: their subsets are gone through one by one, each
# with the sorted sums of the others, which saves merging the longest lists.
LOOSE = 2
FEW = 12  # values whose subsets are listed at once: merging them one by one would be many small steps


def sums_by_size(values: np.ndarray, largest: int | None = None) -> list[np.ndarray]:
    """Return, for every size up to `largest` (all), the sorted sums of all such subsets."""
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
    """Return, for every size, the subsets that have it: numbers with so many bits set."""
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


def count_signs(values: np.ndarray, threshold: float) -> int:
    """Count the ways to sign the values so that their sum is at least `threshold`."""
    left, right = (_signed_sums(values[half::2]) for half in (0, 1))
    return _pairs(left, np.sort(right), threshold)


def _pairs(left: np.ndarray, right: np.ndarray, threshold: float) -> int:
    """Count the pairs with left + right >= threshold; `right` is sorted."""
    below = np.searchsorted(right, threshold - left, side="left")
    return len(left) * len(right) - int(below.sum())


def _subsets(values: np.ndarray) -> list[tuple[float, ...]]:
    return [chosen for size in range(len(values) + 1) for chosen in combinations(values.tolist(), size)]


def _signed_sums(values: np.ndarray) -> np.ndarray:
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums - value, sums + value])
    return sums
