"""Permutation tests of people: of their pictures, groups or places.

Exact where arrangements can be counted, drawn otherwise, normal for many people. Student's and Welch's tests promise too much
for a handful of people and shares of a few tags, just where a correction for many tests looks.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import combinations
from math import comb

import numpy as np

from portrayal.stats import scipy
from portrayal.stats.permuted import AT_ONCE, DRAWS, SAME, Permuted, choice_floor, drawn_p, one_over_ways
from portrayal.stats.tests.permutation import two_sample

MOST_PEOPLE = 2_000  # who are permuted
MOST_UNITS = 3_000  # of a level test up to which groups are permuted; beyond, its distribution is the chi-squared one
FEW = 24  # units of two groups up to which all permutations are counted
LISTED = 20_000  # ways to choose that are all counted
MANY_ALIKE = 1_000  # people, from whom on those who are alike are taken together
REACH = 40  # standard deviations: beyond, a chance is below 1e-308


def permute_people(hits: np.ndarray, weights: np.ndarray, there: np.ndarray, seed: int = 0) -> Permuted:
    """Test the sum of hits times weights, permuted by person; NaN where nothing changes it.

    A missing picture counts as an average one; the observed sum is taken down as the permuted ones are by those they miss.
    """
    if hits.shape[1] == 1:
        known = there[:, 0] & (weights[:, 0] != 0)
        return _hypergeometric(hits[known, 0] > 0, weights[known, 0] > 0)
    centred = [np.where(there, each - _means(each, there), 0.0) for each in (hits, weights)]
    order = np.lexsort((*centred[1].T, *centred[0].T))
    if not all(np.abs(each).max() > SAME for each in centred):
        return Permuted(float("nan"), 1.0)
    _, alike = np.unique(weights, axis=0, return_counts=True)
    p = _association_p(centred[0][order], centred[1][order], float(np.sqrt(there.mean())), seed)
    return Permuted(p, one_over_ways(alike))


def _means(values: np.ndarray, there: np.ndarray) -> np.ndarray:
    return np.where(there, values, 0.0).sum(axis=0) / np.maximum(there.sum(axis=0), 1)


def _hypergeometric(hits: np.ndarray, first: np.ndarray) -> Permuted:
    people, hit, side = len(hits), int(hits.sum()), int(first.sum())
    if not 0 < hit < people or not 0 < side < people:
        return Permuted(float("nan"), 1.0)
    counts = _possible(people, hit, side)
    chances = _chances(counts, people, hit, side)
    apart = np.abs(counts - side * hit / people)
    reached = apart >= abs((hits & first).sum() - side * hit / people) - SAME
    floor = chances[apart >= apart.max() - SAME].sum()
    return Permuted(float(min(chances[reached].sum(), 1.0)), float(floor))


def _chances(counts: np.ndarray, people: int, hit: int, side: int) -> np.ndarray:
    """Return the hypergeometric chance of each count, 100 times as fast as scipy."""
    from scipy.special import gammaln

    def ways(whole: np.ndarray | int, part: np.ndarray | int) -> np.ndarray:
        return gammaln(np.add(whole, 1)) - gammaln(np.add(part, 1)) - gammaln(np.subtract(whole, part) + 1)

    return np.exp(ways(hit, counts) + ways(people - hit, side - counts) - ways(people, side))


def _possible(people: int, hit: int, side: int) -> np.ndarray:
    """Return the counts that have a chance a float can hold, and both ends."""
    low, high = max(0, side + hit - people), min(side, hit)
    mean = side * hit / people
    deviation = np.sqrt(mean * (1 - hit / people) * (people - side) / (people - 1))
    first, last = max(low, int(mean - REACH * deviation)), min(high, int(mean + REACH * deviation) + 1)
    return np.unique(np.concatenate([[low, high], np.arange(first, last + 1)]))


def _association_p(hits: np.ndarray, weights: np.ndarray, share_there: float, seed: int) -> float:
    apart = share_there * abs(float((hits * weights).sum()))
    if len(hits) > MOST_PEOPLE:  # the sum is as good as normal, with the variance over all permutations
        variance = float(((hits.T @ hits) * (weights.T @ weights)).sum()) / (len(hits) - 1)
        return float(2 * scipy.special.ndtr(-apart / np.sqrt(variance)))
    rng, people = np.random.default_rng(seed), np.arange(len(hits))
    products = hits @ weights.T  # of everybody's hits with everybody's weights

    def draw(size: int) -> np.ndarray:
        orders = np.argsort(rng.random((size, len(hits))), axis=1)
        return np.abs(products[people, orders].sum(axis=1))

    needed = apart - SAME * max(apart, 1e-6)
    return float(drawn_p(draw, needed, AT_ONCE // 2 // len(hits), look_often=True))


def permute_labels(values: np.ndarray, first: np.ndarray, seed: int = 0) -> Permuted:
    """Test each column's difference of means between the `first` people and the others."""
    values, first = np.asarray(values, dtype=float), np.asarray(first, dtype=bool)
    there = ~np.isnan(values)
    centred = np.where(there, values - _means(values, there), 0.0)
    sides = np.stack([there[first].sum(axis=0), there[~first].sum(axis=0)])
    tested = (sides > 0).all(axis=0) & (np.abs(centred).max(axis=0, initial=0.0) > SAME)
    p = np.full(values.shape[1], np.nan)
    if tested.any():
        p[tested] = _label_p(centred[:, tested], there[:, tested], first, seed)
    return Permuted(p, np.array([choice_floor(int(one), int(two)) for one, two in sides.T]))


def _label_p(centred: np.ndarray, there: np.ndarray, first: np.ndarray, seed: int) -> np.ndarray:
    """Return the share of choices whose difference reaches the observed one."""
    people, size, rng = len(first), int(first.sum()), np.random.default_rng(seed)
    everybody = there.sum(axis=0)

    def gaps(choices: np.ndarray) -> np.ndarray:
        sums, counts = choices @ centred, choices @ there.astype(float)
        # The columns are centred, so the others' sum is the negative of the first group's.
        return np.abs(sums / np.maximum(counts, 1.0) + sums / np.maximum(everybody - counts, 1.0))

    def of_places(places: np.ndarray) -> np.ndarray:
        choices = np.zeros((len(places), people))
        np.put_along_axis(choices, places, 1.0, axis=1)
        return gaps(choices)

    observed = gaps(first[None].astype(float))[0]
    if people >= MOST_PEOPLE:
        own = there[first].sum(axis=0)
        variance = (centred**2).sum(axis=0) / (everybody - 1) * everybody / (own * (everybody - own))
        return 2 * scipy.special.ndtr(-observed / np.sqrt(variance))
    needed = observed - SAME * np.maximum(observed, 1e-3)
    if comb(people, size) <= LISTED:
        listed = np.array(list(combinations(range(people), size)), dtype=int).reshape(-1, size)
        return (of_places(listed) >= needed).mean(axis=0)

    def draw(draws: int) -> np.ndarray:
        return of_places(np.argpartition(rng.random((draws, people)), size - 1, axis=1)[:, :size])

    return drawn_p(draw, needed, AT_ONCE // people)


def level_test(values: np.ndarray, groups: np.ndarray, units: np.ndarray, seed: int = 0) -> float:
    """Return the p of equal means in all groups, permuted within units seen in several."""
    within = len(np.unique(units)) < len(units)
    means = (np.bincount(units, values) / np.maximum(np.bincount(units), 1))[units] if within else values.mean()
    centred = values - means
    if len(np.unique(groups)) < 2 or not np.any(np.abs(centred) > SAME):
        return float("nan")
    sizes = np.bincount(groups).astype(float)
    if len(values) > MOST_UNITS:
        variance = float((centred**2).sum() / max(len(centred) - (len(np.unique(units)) if within else 1), 1))
        return float(scipy.stats.chi2.sf(_between(centred, groups, sizes) / variance, np.count_nonzero(sizes) - 1))
    if not within and len(sizes) == 2 and np.isin(values, (0.0, 1.0)).all():
        sides = np.where(groups == 0, 1.0, -1.0)
        return permute_people(values[:, None], sides[:, None], np.ones((len(values), 1), bool)).p
    if not within and len(sizes) == 2 and len(values) <= FEW:
        return two_sample(values[groups == 0], values[groups == 1], alternative="two-sided").p
    return _level_p(centred, groups, sizes, units if within else np.zeros(len(units), dtype=int), seed)


def _between(centred: np.ndarray, groups: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return the sum of squares between groups, for each row of values."""
    sums = np.stack([centred[..., groups == group].sum(axis=-1) for group in range(len(sizes))], axis=-1)
    return (sums**2 / np.maximum(sizes, 1)).sum(axis=-1)


def _level_p(centred: np.ndarray, groups: np.ndarray, sizes: np.ndarray, blocks: np.ndarray, seed: int) -> float:
    """Permute values inside blocks."""
    order, rng = np.argsort(blocks, kind="stable"), np.random.default_rng(seed)
    centred, groups, blocks = centred[order], groups[order], blocks[order]

    def draw(size: int) -> np.ndarray:
        permuted = np.argsort(rng.random((size, len(centred))) + blocks, axis=1)
        return _between(centred[permuted], groups, sizes)

    needed = _between(centred, groups, sizes) * (1 - SAME)
    return float(drawn_p(draw, needed, AT_ONCE // len(centred), further=DRAWS))


def deal_pictures(first: np.ndarray, firsts: np.ndarray, second: np.ndarray, seconds: np.ndarray) -> Permuted:
    """Test the mean difference of shares between people's first and second pictures.

    Any of a person's pictures could have been first. Flipping signs would be wrong where one picture faces three: a mean of three
    moves a little often, a single picture rarely and far.
    """
    # Given all that a person's pictures show, the difference is fixed by what the first ones do.
    whole = (first + second).astype(int)
    steps = 1.0 / firsts + 1.0 / seconds
    sums, chances = np.zeros(1), np.ones(1)
    for step in np.unique(steps.round(12)):
        counts = _counts(firsts, seconds, whole, np.abs(steps - step) < SAME)
        sums = np.add.outer(sums, step * np.arange(len(counts))).ravel()
        chances = np.multiply.outer(chances, counts).ravel()
    mean = float((sums * chances).sum())
    apart, observed = np.abs(sums - mean), abs(float((first * steps).sum()) - mean)
    reached = chances[apart >= observed - SAME].sum()
    floor = chances[apart >= apart[chances > 0].max() - SAME].sum()
    return Permuted(float(min(reached, 1.0)), float(min(floor, 1.0)))


def _counts(firsts: np.ndarray, seconds: np.ndarray, whole: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Return the chances of so many first pictures showing it, over the chosen people."""
    people = list(zip(*(each[chosen].astype(int).tolist() for each in (firsts, seconds, whole)), strict=True))
    parts = [_of_person(*person) for person in people]
    if len(people) >= MANY_ALIKE:
        parts = [_of_many(_of_person(*person), count) for person, count in sorted(Counter(people).items())]
    total = np.ones(1)
    for part in parts:
        total = np.convolve(total, part)
    return total


def _of_many(chances: np.ndarray, people: int) -> np.ndarray:
    """Return the distribution over people who are alike, by halves."""
    if people == 1:
        return chances
    half = _of_many(chances, people // 2)
    both = np.convolve(half, half)
    return np.convolve(both, chances) if people % 2 else both


@cache
def _of_person(own: int, other: int, showing: int) -> np.ndarray:
    """Return the chances that 0, 1, 2 ... of a person's own pictures show it."""
    counts = range(min(own, showing) + 1)
    every = comb(own + other, showing)
    # Whole numbers first: of many pictures no float holds them.
    return np.array([comb(own, count) * comb(other, showing - count) / every for count in counts])
