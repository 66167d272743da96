"""Whether people's pictures of one kind show something more often than their pictures of another: an exact test.

Under no difference a person's pictures are exchangeable: any of them could have been those of the first kind. With one
picture of each kind this is the sign test of paired differences. With one picture alone and three in a place it is not,
and flipping signs would be wrong: a mean of three moves a little often, a single picture rarely and far.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from math import comb
from typing import NamedTuple

import numpy as np

SAME = 1e-9
MANY = 1_000  # people, from whom on those who are alike are taken together


class Dealt(NamedTuple):
    """A two-sided p and the smallest one that these people could give."""

    p: float
    floor: float


def deal_pictures(first: np.ndarray, firsts: np.ndarray, second: np.ndarray, seconds: np.ndarray) -> Dealt:
    """Test the mean over people of the difference of shares between their first and second pictures.

    Examples
    --------
    >>> one = np.ones(3)
    >>> deal_pictures(one, one, 0 * one, one).p  # of the eight ways +++ and --- are as far apart
    0.25
    """
    # Given all that a person's pictures show, the difference is fixed by what the first ones do.
    whole = (first + second).astype(int)
    steps = 1.0 / firsts + 1.0 / seconds
    sums, chances = np.zeros(1), np.ones(1)
    for step in np.unique(steps.round(12)):
        counts = _counts(firsts, seconds, whole, np.abs(steps - step) < SAME)
        sums = np.add.outer(sums, step * np.arange(len(counts))).ravel()
        chances = np.multiply.outer(chances, counts).ravel()
    apart = np.abs(sums - float((sums * chances).sum()))
    observed = abs(float((first * steps).sum()) - float((sums * chances).sum()))
    possible = apart[chances > 0]
    reached = chances[apart >= observed - SAME].sum()
    return Dealt(float(min(reached, 1.0)), float(min(chances[apart >= possible.max() - SAME].sum(), 1.0)))


def _counts(firsts: np.ndarray, seconds: np.ndarray, whole: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Return the distribution of how many first pictures show it, over the chosen people together."""
    people = list(zip(*(each[chosen].astype(int).tolist() for each in (firsts, seconds, whole)), strict=True))
    parts = [_of_person(*person) for person in people]
    if len(people) >= MANY:
        parts = [_of_many(_of_person(*person), count) for person, count in sorted(Counter(people).items())]
    total = np.ones(1)
    for part in parts:
        total = np.convolve(total, part)
    return total


def _of_many(chances: np.ndarray, people: int) -> np.ndarray:
    """Return the distribution over so many people who are alike, by halves: one by one, thousands take seconds."""
    if people == 1:
        return chances
    half = _of_many(chances, people // 2)
    both = np.convolve(half, half)
    return np.convolve(both, chances) if people % 2 else both


@cache
def _of_person(own: int, other: int, shown: int) -> np.ndarray:
    """Return the chances that 0, 1, 2 ... of a person's own pictures are among those that show it."""
    counts = range(min(own, shown) + 1)
    ways = [comb(own, count) * comb(other, shown - count) for count in counts]
    every = comb(own + other, shown)
    return np.array([way / every for way in ways])  # whole numbers first: of many pictures no float holds them
