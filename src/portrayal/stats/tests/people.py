"""Permutation tests of people: of their pictures, groups or places.

Exact where arrangements can be counted, drawn otherwise, normal for many people. Student's and Welch's tests promise too much
for a handful of people and shares of a few tags, just where a correction for many tests looks.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, reduce
from itertools import combinations
from math import comb

import numpy as np

from portrayal.stats import scipy
from portrayal.stats.models.groups import permute_terms
from portrayal.stats.permuted import AT_ONCE, DRAWS, FURTHER, SAME, Permuted, choice_floor, drawn_p, one_over_ways

MOST_PEOPLE = 2_000  # who are permuted
MOST_UNITS = 3_000  # values of a level test that are permuted; beyond, its statistic has the chi-squared distribution
FEW = 300  # of them, up to which ten times as many permutations are drawn
MOST_STEPS = 200_000_000  # additions of an exact distribution: half a second, and at most 500 MB
LISTED = 20_000  # ways to choose that are all counted
LEAST = 3  # people whose pictures are compared where some are missing
FRACTIONS = range(1, 61)  # denominators of values whose exact tails are counted: shares of up to so many answers
LONGEST = 4_000_000  # numbers that such a distribution may have
REACH = 40  # standard deviations: beyond, a chance is below 1e-308


def permute_people(hits: np.ndarray, weights: np.ndarray, there: np.ndarray, seed: int = 0) -> Permuted:
    """Test the sum of hits times weights, permuted by person; NaN where nothing changes it.

    The sum is divided by its error over people, since a permutation brings together other pictures that both have than there were.
    Where pictures are missing the p of Student's t counts if it is larger: with few in common permutations are no more exact.
    """
    if hits.shape[1] == 1:
        known = there[:, 0] & (weights[:, 0] != 0)
        return _hypergeometric(hits[known, 0] > 0, weights[known, 0] > 0)
    hits, weights = (np.where(there, each - _means(each, there), 0.0) for each in (hits, weights))
    order = np.lexsort((*weights.T, *hits.T))
    if not all(np.abs(each).max() > SAME for each in (hits, weights)):
        return Permuted(float("nan"), 1.0)
    _, alike = np.unique(np.where(there, weights, np.inf), axis=0, return_counts=True)
    return Permuted(_association_p(hits[order], weights[order], there[order], seed), one_over_ways(alike))


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


def _association_p(hits: np.ndarray, weights: np.ndarray, there: np.ndarray, seed: int) -> float:
    seen = there.sum(axis=0)
    larger = hits * (seen / np.maximum(seen - 1, 1))  # what centring among few took from the spread
    scores, errors = (hits * weights).sum(axis=1), (larger * weights).sum(axis=1)
    observed, moved = _studentised(scores[None], errors[None])[0], int(np.count_nonzero(np.abs(scores) > SAME))
    p = 0.0 if there.all() else _student_p(observed, moved)
    if len(hits) > MOST_PEOPLE or not p < 1:
        return p or _student_p(observed, moved)
    rng, people = np.random.default_rng(seed), np.arange(len(hits))
    products = hits @ weights.T, larger @ weights.T  # of everybody's hits with everybody's weights

    def draw(size: int) -> np.ndarray:
        orders = np.argsort(rng.random((size, len(hits))), axis=1)
        return _studentised(*(one[people, orders] for one in products))

    return max(p, float(drawn_p(draw, observed * (1 - SAME), AT_ONCE // 4 // len(hits), look_often=True)))


def _studentised(scores: np.ndarray, errors: np.ndarray) -> np.ndarray:
    """Return how many of its errors each row's sum is away from 0."""
    size = np.sqrt((errors**2).sum(axis=1))
    return np.divide(np.abs(scores.sum(axis=1)), size, out=np.zeros(len(scores)), where=size > SAME)


def _student_p(observed: float, moved: int) -> float:
    """Return the p of Student's t from a sum over its root of squares."""
    if moved < LEAST:
        return float("nan")
    t = observed * np.sqrt((moved - 1) / max(moved - observed**2, SAME))
    return float(2 * scipy.special.stdtr(moved - 1, -t))


def permute_labels(values: np.ndarray, first: np.ndarray, seed: int = 0) -> Permuted:
    """Test each column's difference of means between the `first` people and the others.

    Labels are permuted among those who have a value. The larger of two p counts: of Welch's statistic over these permutations,
    exact where groups are alike but for their means; and of Welch's test, for a small group that spreads more than a large one.
    """
    values, first = np.asarray(values, dtype=float), np.asarray(first, dtype=bool)
    there = ~np.isnan(values)
    p, floor = np.full((2, values.shape[1]), np.nan)
    _, alike = np.unique(there, axis=1, return_inverse=True)
    for pattern in np.unique(alike):
        places = np.flatnonzero(alike == pattern)
        people = there[:, places[0]]
        p[places] = _label_p(values[np.ix_(people, places)], first[people], seed)
        floor[places] = choice_floor(int(first[people].sum()), int((~first[people]).sum()))
    return Permuted(p, floor)


def _label_p(values: np.ndarray, first: np.ndarray, seed: int) -> np.ndarray:
    people, size, rng = len(first), int(first.sum()), np.random.default_rng(seed)
    p = np.full(values.shape[1], np.nan)
    if min(size, people - size) < 2:
        return p
    centred = values - values.mean(axis=0)
    whole = (centred**2).sum(axis=0)
    if not (tested := whole > SAME).any():
        return p
    centred, whole = centred[:, tested], whole[tested]

    def statistics(choices: np.ndarray) -> np.ndarray:
        return _welch(choices @ centred, choices @ centred**2, whole, size, people - size)[0]

    def of_places(places: np.ndarray) -> np.ndarray:
        choices = np.zeros((len(places), people))
        np.put_along_axis(choices, places, 1.0, axis=1)
        return statistics(choices)

    own = first[None].astype(float)
    observed, freedom = _welch(own @ centred, own @ centred**2, whole, size, people - size)
    p[tested] = 2 * scipy.special.stdtr(freedom[0], -observed[0])
    if people >= MOST_PEOPLE:
        return p
    needed = observed[0] * (1 - SAME)
    if comb(people, size) <= LISTED:
        listed = np.array(list(combinations(range(people), size)), dtype=int).reshape(-1, size)
        permuted = (of_places(listed) >= needed).mean(axis=0)
    else:
        permuted = drawn_p(
            lambda draws: of_places(np.argpartition(rng.random((draws, people)), size - 1, axis=1)[:, :size]),
            needed, AT_ONCE // people,
        )  # fmt: skip
    p[tested] = np.maximum(p[tested], permuted)
    return p


def _welch(
    sums: np.ndarray, squares: np.ndarray, whole: np.ndarray, size: int, rest: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return Welch's |t| and its degrees of freedom from one side's sums.

    A side that is constant borrows the spread of the other, since so few values cannot show it.
    """
    spreads = [np.maximum(part - sums**2 / n, 0.0) / (n - 1) for part, n in ((squares, size), (whole - squares, rest))]
    still = [spread <= SAME * whole for spread in spreads]
    one, other = (np.where(here, there, own) for here, own, there in zip(still, spreads, spreads[::-1], strict=True))
    parts = np.maximum(one, SAME * whole) / size, np.maximum(other, SAME * whole) / rest
    error = parts[0] + parts[1]
    freedom = error**2 / (
        np.where(still[0], 0.0, parts[0] ** 2 / (size - 1))
        + np.where(still[1], 0.0, parts[1] ** 2 / (rest - 1))
        + 1e-300
    )
    return np.abs(sums) * (1 / size + 1 / rest) / np.sqrt(error), np.minimum(freedom, size + rest - 2)


def level_test(values: np.ndarray, groups: np.ndarray, units: np.ndarray, seed: int = 0) -> float:
    """Return the p of equal means in all groups, permuted within units seen in several."""
    within = len(np.unique(units)) < len(units)
    if len(np.unique(groups)) < 2 or not len(values):
        return float("nan")
    if not within and np.isin(values, (0.0, 1.0)).all():
        return _counts_p(values, groups, seed)
    if not within:
        tested = permute_terms(values, {"group": groups}, seed)
        return tested.p.get("group", float("nan")) if tested else float("nan")
    blocks = np.unique(units, return_inverse=True)[1]
    sizes = np.bincount(blocks).astype(float)
    centred = values - (np.bincount(blocks, values) / sizes)[blocks]
    spread = np.bincount(blocks, centred**2) / np.maximum(sizes - 1, 1)
    moved = spread[blocks] > SAME
    return _level_p(centred[moved], groups[moved], blocks[moved], spread, seed) if moved.any() else float("nan")


def _counts_p(values: np.ndarray, groups: np.ndarray, seed: int) -> float:
    """Return the p of equal shares in groups, exact for two."""
    sizes = np.unique(groups, return_counts=True)[1]
    if len(sizes) == 2:
        return _hypergeometric(values > 0, groups == groups.min()).p
    hits, rng = int(values.sum()), np.random.default_rng(seed)
    if not 0 < hits < len(values):
        return float("nan")

    def apart(counts: np.ndarray) -> np.ndarray:
        return ((counts - hits * sizes / len(values)) ** 2 / sizes).sum(axis=-1)

    observed = apart(np.array([values[groups == group].sum() for group in np.unique(groups)]))

    def draw(size: int) -> np.ndarray:
        return apart(rng.multivariate_hypergeometric(sizes, hits, size, method="marginals"))

    return float(drawn_p(draw, observed * (1 - SAME), AT_ONCE // len(sizes), look_often=True))


def _level_p(centred: np.ndarray, groups: np.ndarray, blocks: np.ndarray, spread: np.ndarray, seed: int) -> float:
    """Return the p of the groups' sums, permuted inside blocks.

    The statistic is that of Mantel and Haenszel for several groups: each sum is weighed by what permutations do to it. With many
    values it has a chi-squared distribution.
    """
    order, rng = np.argsort(blocks, kind="stable"), np.random.default_rng(seed)
    centred, groups, blocks = centred[order], np.unique(groups[order], return_inverse=True)[1], blocks[order]
    members = np.unique(blocks, return_inverse=True)[1]
    seen = np.zeros((members.max() + 1, groups.max() + 1))
    np.add.at(seen, (members, groups), 1.0)
    each = spread[np.unique(blocks)]
    covariance = np.diag(each @ seen) - seen.T @ (seen * (each / seen.sum(axis=1))[:, None])
    inverse, rank = np.linalg.pinv(covariance, rcond=SAME, hermitian=True), np.linalg.matrix_rank(covariance, tol=SAME)
    inside = (groups[:, None] == np.arange(seen.shape[1])).astype(float)

    def statistic(rows: np.ndarray) -> np.ndarray:
        sums = rows @ inside
        return ((sums @ inverse) * sums).sum(axis=1)

    observed = float(statistic(centred[None])[0])
    if not rank:
        return float("nan")
    if len(centred) > MOST_UNITS:
        return float(scipy.special.chdtrc(rank, observed))

    def draw(size: int) -> np.ndarray:
        return statistic(centred[np.argsort(rng.random((size, len(centred))) + blocks, axis=1)])

    further = DRAWS if len(centred) > FEW else FURTHER
    return float(drawn_p(draw, observed * (1 - SAME), AT_ONCE // len(centred), further=further, look_often=True))


def deal_pictures(
    first: np.ndarray, firsts: np.ndarray, second: np.ndarray, seconds: np.ndarray, seed: int = 0
) -> Permuted:
    """Test the mean difference of shares between people's first and second pictures.

    Any of a person's pictures could have been first. Flipping signs would be wrong where one picture faces three: a mean of three
    moves a little often, a single picture rarely and far. Beyond `MOST_STEPS` of exact sums they are drawn.
    """
    # Given all that a person's pictures show, the difference is fixed by what the first ones do.
    firsts, seconds = firsts.astype(int), seconds.astype(int)
    whole = (first + second).astype(int)
    steps = 1.0 / firsts + 1.0 / seconds
    kinds = [np.abs(steps - step) < SAME for step in np.unique(steps.round(12))]
    counts = [_counts(firsts, seconds, whole, kind) for kind in kinds]
    sizes = np.array([steps[kind][0] for kind in kinds])
    mean = float(sum(size * (chances @ np.arange(len(chances))) for size, chances in zip(sizes, counts, strict=True)))
    observed = abs(float((first * steps).sum()) - mean) - SAME
    if (exact := _lattice(sizes, counts, np.lcm.reduce([*firsts.tolist(), *seconds.tolist()], dtype=object))) is None:
        return Permuted(_drawn_sums(sizes, counts, mean, observed, seed), 0.0, drawn=True)
    chances, step = exact
    apart = np.abs(step * np.arange(len(chances)) - mean)
    floor = chances[apart >= apart[chances > 0].max() - SAME].sum()
    return Permuted(float(min(chances[apart >= observed].sum(), 1.0)), float(min(floor, 1.0)))


def _lattice(sizes: np.ndarray, counts: Sequence[np.ndarray], common: int) -> tuple[np.ndarray, float] | None:
    """Return the chances of all sums of steps; None where they are too many."""
    if common > MOST_STEPS:
        return None
    whole = np.rint(sizes * common).astype(int)
    divisor = int(np.gcd.reduce(whole))
    whole //= divisor
    reach = sum(int(size) * (len(chances) - 1) for size, chances in zip(whole, counts, strict=True))
    if reach * (1 + sum(len(chances) for chances in counts[1:])) > MOST_STEPS:
        return None
    total = np.ones(1)
    for size, chances in zip(whole.tolist(), counts, strict=True):
        grown = np.zeros(len(total) + size * (len(chances) - 1))
        if len(total) == 1:
            grown[::size] = chances
        else:
            for place, chance in enumerate(chances):
                grown[place * size : place * size + len(total)] += chance * total
        total = grown
    return total, divisor / common


def _drawn_sums(sizes: np.ndarray, counts: Sequence[np.ndarray], mean: float, observed: float, seed: int) -> float:
    rng, sums = np.random.default_rng(seed), [np.cumsum(chances) / chances.sum() for chances in counts]

    def draw(size: int) -> np.ndarray:
        places = [np.searchsorted(one, rng.random(size), side="right") for one in sums]
        return np.abs(sum(step * place for step, place in zip(sizes, places, strict=True)) - mean)

    return float(drawn_p(draw, observed, DRAWS))


def _counts(firsts: np.ndarray, seconds: np.ndarray, whole: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Return the chances of so many first pictures showing it, over the chosen people."""
    people = list(zip(*(each[chosen].astype(int).tolist() for each in (firsts, seconds, whole)), strict=True))
    parts = [_of_person(*person) for person in people] or [np.ones(1)]
    while len(parts) > 1:  # by halves: two long ones at the end instead of a long one with everybody
        parts = [reduce(np.convolve, parts[place : place + 2]) for place in range(0, len(parts), 2)]
    return parts[0]


@cache
def _of_person(own: int, other: int, showing: int) -> np.ndarray:
    """Return the chances that 0, 1, 2 ... of a person's own pictures show it."""
    counts = range(min(own, showing) + 1)
    every = comb(own + other, showing)
    # Whole numbers first: of many pictures no float holds them.
    return np.array([comb(own, count) * comb(other, showing - count) / every for count in counts])


def summed_tails(values: np.ndarray, groups: np.ndarray, units: np.ndarray) -> float:
    """Return at most the chance of any group's sum as far out, by exact tails.

    Drawn permutations cannot give a p below one over their number; a place where a service always fails lies far below it.
    """
    step = next((each for each in FRACTIONS if np.abs(values * each - np.rint(values * each)).max() < SAME), None)
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
        if len(total) > LONGEST:
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
