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

from portrayal.stats.models.groups import is_constant, models

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
    bases = {name: basis for name, basis in terms.items() if basis.shape[1]}
    return Permuted(_shares(centred, bases, everything, seed), _floor(factors))


def _shares(values: np.ndarray, terms: Mapping[str, np.ndarray], full: np.ndarray, seed: int) -> dict[str, float]:
    """Return of each term the share of orders whose statistic reaches its own; all terms see the same orders."""
    needed = {name: found[0] - SAME for name, found in _statistics(values[None], terms, full).items()}
    reached, drawn = dict.fromkeys(terms, 0), dict.fromkeys(terms, 0)
    for block in range(1 + FURTHER):
        open_ones = {name: basis for name, basis in terms.items() if not block or reached[name] < NEAR}
        if not open_ones:
            break
        orders = _orders(len(values), seed + 1_000_003 * block)
        for name, found in _statistics(values[orders], open_ones, full).items():
            reached[name] += int((found >= needed[name]).sum())
            drawn[name] += len(orders)
    return {name: (reached[name] + 1) / (drawn[name] + 1) for name in terms}


def _statistics(rows: np.ndarray, terms: Mapping[str, np.ndarray], full: np.ndarray) -> dict[str, np.ndarray]:
    """Return the partial eta squared of each term, for every row of centred values: the same values in another order."""
    total = float((rows[0] ** 2).sum())
    along = (rows @ np.hstack([full, *terms.values()])) ** 2
    residual = np.maximum(total - along[:, : full.shape[1]].sum(axis=1), 0.0)
    found, start = {}, full.shape[1]
    for name, basis in terms.items():
        squares = along[:, start : start + basis.shape[1]].sum(axis=1)
        start += basis.shape[1]
        whole = squares + residual
        found[name] = np.divide(squares, whole, out=np.zeros(len(rows)), where=whole > SAME * total)
    return found


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
