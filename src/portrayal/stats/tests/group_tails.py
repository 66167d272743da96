"""Exact tails of one group's sum when values change places, added up over the groups.

Drawn permutations cannot give a p below one over their number; a place where a service always fails lies far below it.
"""

from __future__ import annotations

import numpy as np

from portrayal.stats.permuted import SAME

STEPS = range(1, 61)  # denominators of the values: shares of up to so many answers
MOST = 4_000_000  # numbers that a distribution may have


def summed_tails(values: np.ndarray, groups: np.ndarray, units: np.ndarray) -> float:
    """Return at most the chance that any group's sum is as far out."""
    step = next((each for each in STEPS if np.abs(values * each - np.rint(values * each)).max() < SAME), None)
    if step is None:
        return 1.0
    whole = np.rint(values * step).astype(int)
    means = np.bincount(units, whole)[units] / np.bincount(units)[units]
    parts = [(groups == group, (whole - means)[groups == group].sum()) for group in np.unique(groups)]
    furthest = max(abs(apart) for _, apart in parts)
    tails = []
    for inside, _ in parts:
        chances = _sums(whole, inside, units)
        if chances is None:
            return 1.0
        apart = np.abs(np.arange(len(chances)) - means[inside].sum())
        tails.append(float(chances[apart >= furthest - SAME].sum()))
    return min(sum(tails), 1.0)


def _sums(whole: np.ndarray, inside: np.ndarray, units: np.ndarray) -> np.ndarray | None:
    """Return the chances of each sum over the cells inside."""
    total = np.ones(1)
    for unit in np.unique(units[inside]):
        own = whole[units == unit]
        total = np.convolve(total, _dealt(own, int(inside[units == unit].sum())))
        if len(total) > MOST:
            return None
    return total


def _dealt(values: np.ndarray, taken: int) -> np.ndarray:
    """Return the chances of each sum of so many values drawn."""
    table = np.zeros((taken + 1, int(values.sum()) + 1))
    table[0, 0] = 1.0
    for seen, value in enumerate(values.tolist()):
        for count in range(min(taken, seen + 1), 0, -1):  # each value is among those taken, or not
            table[count, value:] += table[count - 1, : table.shape[1] - value]
    return table[taken] / table[taken].sum()
