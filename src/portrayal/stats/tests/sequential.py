"""Permutation p-values that stop early: as soon as enough permutations reached what was observed, p is known well enough.

A p of one half needs no ten thousand permutations and one of a thousandth does. Stopped at the `ENOUGH`-th permutation
that reaches the statistic, p is `ENOUGH` over the permutations drawn, which is as valid as a p of all of them [1]_.

References
----------
.. [1] Besag, Clifford (1991), Sequential Monte Carlo p-values, Biometrika 78, 301-304.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

ENOUGH = 30  # permutations that reach the statistic, after which no more are drawn
AT_ONCE = 100  # permutations held in memory together
SAME = 1e-9  # of a sum: the same numbers added in another order


def sequential_p(draw: Callable[[int], np.ndarray], observed: np.ndarray, most: int) -> np.ndarray:
    """Return the p of each observed statistic, large ones counting against the null.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> float(sequential_p(lambda count: rng.random((count, 1)), np.array([2.0]), 999)[0])
    0.001
    """
    p, reached, done = np.full(len(observed), np.nan), np.zeros(len(observed)), 0
    needed = observed - SAME * (1 + np.abs(observed))
    while done < most and np.isnan(p).any():
        size = min(AT_ONCE, most - done)
        counts = reached + (draw(size) >= needed).cumsum(axis=0)
        for place in np.flatnonzero(np.isnan(p) & (counts[-1] >= ENOUGH)):
            p[place] = ENOUGH / (done + int(np.argmax(counts[:, place] >= ENOUGH)) + 1)
        reached, done = counts[-1], done + size
    return np.where(np.isnan(p), (reached + 1) / (most + 1), p)
