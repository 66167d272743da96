"""The terms of an analysis of variance tested by permuting people, for numbers that are far from normal.

With two or three people in a cell, and descriptions of a few tags, it happens by chance that everybody of a cell has the same
number. The F distribution takes that for certainty. Permuting whole people over the cells does not: under no difference
between any cells their numbers may change hands. The statistic of a term is its partial eta squared.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from math import lgamma
from typing import NamedTuple

import numpy as np

from portrayal.stats.groups import is_constant, models

DRAWS = 9_999
FURTHER = 9  # times as many again, where fewer than `NEAR` of the first reach a term's statistic
NEAR = 10
MOST = 1_000  # people who are permuted; of more the F distribution is as good
SAME = 1e-9


class Permuted(NamedTuple):
    """The p of each term by name, and the smallest that any could have."""

    p: dict[str, float]
    floor: float


def permute_terms(values: np.ndarray, factors: Mapping[str, np.ndarray], seed: int = 0) -> Permuted | None:
    """Return the p of every term; None where there are too many people, or nothing varies.

    Parameters
    ----------
    values
        One number per person.
    factors
        Factor name to one level per person; one or two factors.
    seed
        Of the permutations.

    Examples
    --------
    >>> tested = permute_terms(np.arange(8.0), {"group": np.arange(8) // 4})  # 2 of 70 ways are as far apart
    >>> 0.02 < tested.p["group"] < 0.04, round(1 / tested.floor)
    (True, 70)
    """
    values = np.asarray(values, dtype=float)
    if len(values) > MOST or is_constant(values):
        return None
    compared, full = models(factors)
    centred = values - values.mean()
    everything = _basis(full)
    terms = {name: _beyond(*pair) for name, pair, _ in compared}
    tested = {
        name: _share(centred, basis, everything, seed) for name, basis in terms.items() if basis.shape[1]
    }
    return Permuted(tested, _floor(factors))


def _share(values: np.ndarray, term: np.ndarray, full: np.ndarray, seed: int) -> float:
    needed = float(_statistic(values[None], term, full)[0]) - SAME
    reached, drawn = 0, 0
    for block in range(1 + FURTHER):
        if block and reached >= NEAR:
            break
        orders = _orders(len(values), seed + 1_000_003 * block)
        reached += int((_statistic(values[orders], term, full) >= needed).sum())
        drawn += len(orders)
    return (reached + 1) / (drawn + 1)


def _statistic(rows: np.ndarray, term: np.ndarray, full: np.ndarray) -> np.ndarray:
    """Return the partial eta squared of a term, for every row of centred values."""
    squares = ((rows @ term) ** 2).sum(axis=1)
    residual = (rows**2).sum(axis=1) - ((rows @ full) ** 2).sum(axis=1)
    whole = squares + np.maximum(residual, 0.0)
    return np.divide(squares, whole, out=np.zeros(len(rows)), where=whole > SAME * (rows[0] ** 2).sum())


@lru_cache(maxsize=16)
def _orders(people: int, seed: int) -> np.ndarray:
    """Return permutations of so many people; the places of a study share them."""
    keys = np.random.default_rng(seed).random((DRAWS, people), dtype=np.float32)
    return np.argsort(keys, axis=1).astype(np.int16)


def _beyond(smaller: np.ndarray, larger: np.ndarray) -> np.ndarray:
    """Return a basis of what the larger model can do and the smaller cannot."""
    known = _basis(smaller)
    return _basis(larger - known @ (known.T @ larger))


def _basis(columns: np.ndarray) -> np.ndarray:
    vectors, sizes, _ = np.linalg.svd(columns, full_matrices=False)
    return vectors[:, sizes > SAME * max(1.0, sizes.max(initial=0.0))]


def _floor(factors: Mapping[str, np.ndarray]) -> float:
    """Return 1 over the number of ways to put the people into the cells."""
    cells = np.stack([np.asarray(levels).astype(str) for levels in factors.values()], axis=1)
    _, sizes = np.unique(cells, axis=0, return_counts=True)
    return float(np.exp(sum(lgamma(size + 1) for size in sizes) - lgamma(len(cells) + 1)))
