"""Permutation engine: arrangements drawn in blocks, and their p.

Ten times as many are drawn where few of the first come near; `sequential_p` stops early instead, which is as valid: Besag,
Clifford (1991), Sequential Monte Carlo p-values, Biometrika 78, 301-304.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from math import comb, lgamma
from typing import Any, NamedTuple

import numpy as np

DRAWS = 9_999
FURTHER = 99_999  # where fewer than `NEAR` of the first draws reach an observed statistic
NEAR = 10
AT_ONCE = 4_000_000  # numbers held in memory together
STILL = 1e-12  # a variance that is only rounding
SAME = 1e-9  # of a statistic: the same numbers added in another order
ENOUGH = 30  # permutations that reach the statistic, after which no more are drawn
AT_A_TIME = 100  # permutations between two looks at whether they are enough

Draw = Callable[[int], np.ndarray]  # so many permuted statistics, one row each; large ones count against the null


class Permuted(NamedTuple):
    """A two-sided p and the smallest possible one; arrays for several columns."""

    p: Any
    floor: Any
    drawn: bool = False  # from random arrangements, since all were too many to count


def drawn_p(draw: Draw, needed: Any, block: int, further: int = FURTHER, look_often: bool = False) -> np.ndarray:
    """Return (k + 1) / (n + 1), where k of n draws reach `needed`."""
    reached, drawn = np.zeros(np.shape(needed)), 0
    for most in (DRAWS, further):
        enough = most > DRAWS and reached.min() >= NEAR
        while drawn < most and not enough:
            size = min(max(1, block), most - drawn)
            reached += (draw(size) >= needed).sum(axis=0)
            drawn += size
            enough = look_often and most > DRAWS and reached.min() >= NEAR
    return (reached + 1) / (drawn + 1)


def sequential_p(draw: Draw, observed: np.ndarray, most: int) -> np.ndarray:
    """Return the p of each observed statistic, of `most` permutations or as few as do."""
    p, reached, done = np.full(len(observed), np.nan), np.zeros(len(observed)), 0
    needed = observed - SAME * (1 + np.abs(observed))
    while done < most and np.isnan(p).any():
        size = min(AT_A_TIME, most - done)
        counts = reached + (draw(size) >= needed).cumsum(axis=0)
        for place in np.flatnonzero(np.isnan(p) & (counts[-1] >= ENOUGH)):
            p[place] = ENOUGH / (done + int(np.argmax(counts[:, place] >= ENOUGH)) + 1)
        reached, done = counts[-1], done + size
    return np.where(np.isnan(p), (reached + 1) / (most + 1), p)


def studentised(sums: Any, squares: Any, whole: Any, whole_squares: Any, size: Any, units: int) -> np.ndarray:
    """Return a group's difference to the others over its standard error, from sums.

    A group all alike is not known for certain: the spread of all is added.
    """
    size, rest = np.maximum(size, 1), np.maximum(units - size, 1)
    own, other, all_alike = sums / size, (whole - sums) / rest, whole_squares / units - (whole / units) ** 2
    spread = np.maximum(squares / size - own**2, 0) / size
    spread = spread + np.maximum((whole_squares - squares) / rest - other**2, 0) / rest + all_alike / units
    return np.divide(own - other, np.sqrt(np.maximum(spread, 0)), out=np.zeros_like(own), where=spread > STILL)


@lru_cache(maxsize=64)  # most columns have everybody's number
def choice_floor(first: int, second: int) -> float:
    """Return the smallest p of choosing a group; equal sides mirror each other."""
    return (2 if first == second else 1) / comb(first + second, first)


def one_over_ways(sizes: Iterable[int]) -> float:
    """Return 1 over the number of ways to fill groups of these sizes."""
    sizes = list(sizes)
    return float(np.exp(sum(lgamma(size + 1) for size in sizes) - lgamma(sum(sizes) + 1)))
