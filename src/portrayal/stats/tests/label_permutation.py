"""Two groups compared in many numbers at once: who is of which group is permuted, for all numbers together.

Exact where the ways to choose the first group can be listed, sampled otherwise, ten times as often where few of the first
samples come near an observed difference. Of many people the permutations' own normal curve is taken: their variance is
known, and drawing them would take minutes. Student's and Welch's tests promise too much for a handful of people and shares
of a few tags, just where a correction for many tests looks.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np

LISTED = 20_000  # ways to choose that are all counted
DRAWS = 9_999
FURTHER = 99_999  # where a difference is reached by fewer than `NEAR` of the first draws
NEAR = 10
MANY = 2_000  # people, from whom on the permutations are not drawn
AT_ONCE = 4_000_000  # numbers held in memory together
SAME = 1e-9


class Permuted(NamedTuple):
    """Two-sided p of each column, and the smallest that the design could give."""

    p: np.ndarray
    floor: np.ndarray


def permute_labels(values: np.ndarray, first: np.ndarray, seed: int = 0) -> Permuted:
    """Test each column's difference of means between the `first` people and the others.

    Examples
    --------
    >>> permute_labels(np.repeat([[1.0], [0.0]], 3, axis=0), np.arange(6) < 3).p.round(3).tolist()  # 2 of 20 choices
    [0.1]
    """
    values, first = np.asarray(values, dtype=float), np.asarray(first, dtype=bool)
    there = ~np.isnan(values)
    centred = np.where(there, values - _means(values, there), 0.0)
    sides = np.stack([there[first].sum(axis=0), there[~first].sum(axis=0)])
    tested = (sides > 0).all(axis=0) & (np.abs(centred).max(axis=0, initial=0.0) > SAME)
    p = np.full(values.shape[1], np.nan)
    if tested.any():
        p[tested] = _shares(centred[:, tested], there[:, tested], first, seed)
    # A choice and its mirror image, where both sides are alike, are equally far apart.
    floor = [_floor(int(one), int(two)) for one, two in sides.T]
    return Permuted(p, np.array(floor))


@lru_cache(maxsize=64)  # most columns have everybody's number
def _floor(one: int, two: int) -> float:
    return (2 if one == two else 1) / comb(one + two, one)


def _means(values: np.ndarray, there: np.ndarray) -> np.ndarray:
    return np.where(there, values, 0.0).sum(axis=0) / np.maximum(there.sum(axis=0), 1)


def _shares(centred: np.ndarray, there: np.ndarray, first: np.ndarray, seed: int) -> np.ndarray:
    """Return the share of choices whose difference reaches the observed one."""
    observed = _gaps(first[None].astype(float), centred, there)[0]
    needed = observed - SAME * np.maximum(observed, 1e-3)
    if len(first) >= MANY:
        return _by_the_curve(observed, centred, there, first)
    if comb(len(first), int(first.sum())) <= LISTED:
        chosen = _gaps(_every_choice(len(first), int(first.sum())), centred, there)
        return (chosen >= needed).mean(axis=0)
    reached, drawn, rng = np.zeros(centred.shape[1]), 0, np.random.default_rng(seed)
    for most in (DRAWS, FURTHER):
        if most == DRAWS or reached.min() < NEAR:
            for choices in _draws(first, most - drawn, rng):
                reached += (_gaps(choices, centred, there) >= needed).sum(axis=0)
            drawn = most
    return (reached + 1) / (drawn + 1)


def _by_the_curve(observed: np.ndarray, centred: np.ndarray, there: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Return two-sided p by the normal curve with the variance that a difference of means has over all choices."""
    from scipy import special

    own, everybody = there[first].sum(axis=0), there.sum(axis=0)
    variance = (centred**2).sum(axis=0) / (everybody - 1) * everybody / (own * (everybody - own))
    return 2 * special.ndtr(-observed / np.sqrt(variance))


def _gaps(choices: np.ndarray, centred: np.ndarray, there: np.ndarray) -> np.ndarray:
    """Return the size of the difference of means for each choice of the first group, by columns."""
    sums, counts = choices @ centred, choices @ there.astype(float)
    rest = there.sum(axis=0) - counts
    # The columns are centred, so the others' sum is the negative of the first group's.
    return np.abs(sums / np.maximum(counts, 1.0) + sums / np.maximum(rest, 1.0))


def _every_choice(people: int, size: int) -> np.ndarray:
    chosen = np.array(list(combinations(range(people), size)), dtype=int).reshape(-1, size)
    table = np.zeros((len(chosen), people))
    np.put_along_axis(table, chosen, 1.0, axis=1)
    return table


def _draws(first: np.ndarray, draws: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    size = max(1, AT_ONCE // len(first))
    for begin in range(0, draws, size):
        keys = rng.random((min(size, draws - begin), len(first)))
        ranks = np.argpartition(keys, int(first.sum()) - 1, axis=1)[:, : int(first.sum())]
        table = np.zeros(keys.shape)
        np.put_along_axis(table, ranks, 1.0, axis=1)
        yield table
