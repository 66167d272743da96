"""Many tests at once, corrected by the largest statistic of each permutation.

Joint permutations keep what ties the tests to one another: with eight people the smallest corrected p is 2 in 256 however
many tests there are, where Holm over twenty could never find anything.
Westfall, Young (1993), Resampling-based multiple testing, Wiley, algorithm 2.8. Labels of groups are permuted with studentised
differences: Chung, Romano (2013), Exact and asymptotically robust permutation tests, Annals of Statistics 41, 484-507.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from portrayal.stats import scipy
from portrayal.stats.estimate import LEVEL
from portrayal.stats.models.groups import welch
from portrayal.stats.permuted import AT_ONCE, DRAWS, SAME, STILL, choice_floor, drawn_p, sequential_p, studentised

if TYPE_CHECKING:
    from scipy import sparse

EXACT = 14  # people up to whom every pattern of signs is counted
CACHED = 4_000_000  # numbers of a sample that is kept for the next test
SMALL = 2_000_000  # entries up to which a matrix of zeros and all is faster than a sparse one
SKEWS = 199  # patterns of signs behind the chance of so much skewness
DOUBTFUL, CLEAR = 0.2, 0.05  # that chance, under which the tails of a family may lie on one side, and surely do
ALONE, CLEAR_MIXED = 0.4, 0.02  # the same for a single test, which shows less, and for tails on both sides
FEW, FEW_TESTS, FEW_ALONE = (
    13,
    3,
    8,
)  # people and tests together, of so many tests, that show no skewness; alone no side
AGAINST = 0.04  # of `LEVEL`, for leaning away from the tail: a few lean towards it
MILD, STRONG = 1.0, 0.5  # shapes of gamma distributions: exponential, and chi-squared with one degree of freedom
SAMPLES, MOST_SKEWED = (
    100_000,
    50,
)  # simulated samples of such differences; people beyond whom the chance stays the same


@dataclass(frozen=True, eq=False)
class JointFlips:
    """Each test's p, the p corrected over all, and the smallest that could be."""

    p: np.ndarray
    adjusted: np.ndarray  # NaN where `skewed`
    floor: np.ndarray  # corrected: had everybody who moved moved one way
    skewed: np.ndarray  # tests that say nothing of a mean: see `_misled`


def flip_jointly(differences: np.ndarray, seed: int = 0, one_sided: bool = False) -> JointFlips:
    """Test every column against 0 by signs of whole people (people x tests)."""
    table = np.nan_to_num(np.asarray(differences, dtype=float))
    # The sum of squares stays the same whatever is flipped, so this rises with t and needs no second pass.
    scale = np.sqrt((table**2).sum(axis=0))
    result, skewed = np.full((3, len(scale)), np.nan), np.zeros(len(scale), dtype=bool)
    if len(tested := np.flatnonzero(scale > 0)):
        columns = table[:, tested] / scale[tested]
        observed = columns.sum(axis=0) if one_sided else np.abs(columns.sum(axis=0))
        order = np.argsort(-observed, kind="stable")
        result[:, tested[order]] = _count(columns[:, order], observed[order], seed, one_sided)
        would = result[1, tested] < LEVEL
        skewed[tested] = would & _misled(columns, seed) if would.any() else would
    result[1, skewed] = np.nan
    return JointFlips(result[0], result[1], result[2], skewed)


def _misled(table: np.ndarray, seed: int) -> np.ndarray:
    """Tell which tests may be found only because the sample lacks a long tail."""
    tail, least = least_lean(table, seed)
    residual, people = _residuals(table)
    lean = table.sum(axis=0) / people / np.maximum(np.sqrt((residual**2).sum(axis=0) / people), STILL)
    size = np.abs(table)
    unequal = size.max(axis=0) - np.where(size > STILL, size, np.inf).min(axis=0) > SAME  # who move alike have no tail
    return np.asarray(unequal & (lean * tail <= 0) & (np.abs(lean) <= least))


def least_lean(table: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return each test's tail (0 for either) and the deviations to lean away from it.

    Of differences with a mean of 0 and a long tail most samples lack the tail: flips then find the other side in up to a third
    of families. Where a family looks skewed people must lean further than so skewed differences
    without an effect (gamma distributed) do in all but `LEVEL` of such families.
    """
    own, (one_side, either), usual = _skewness(table, seed)
    tests, people = len(own), np.minimum(_residuals(table)[1], MOST_SKEWED).tolist()
    of_tails = np.mean([_skewed(each, MILD)[1] for each in people])
    mixed = tests > 1 and (either < CLEAR_MIXED or np.abs(own).mean() > (usual + of_tails) / 2)
    leaning = one_side < (ALONE if tests == 1 else DOUBTFUL) and (tests == 1 or abs(own.mean()) > of_tails / 2)
    few = tests <= FEW_TESTS and len(table) + tests <= FEW
    if not (leaning or mixed or one_side < CLEAR or few):
        return own, np.zeros(tests)
    either_side = (mixed and one_side >= CLEAR) or (tests == 1 and len(table) <= FEW_ALONE)
    tail = np.full(tests, 0.0 if either_side else own.mean())
    rank = int(np.ceil((1 - (AGAINST if few else LEVEL) / tests) * SAMPLES)) - 1
    return tail, np.array([_skewed(each, STRONG if one_side < CLEAR else MILD)[0][rank] for each in people])


def _residuals(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return differences less their mean over people who differ, and these people."""
    moved = np.abs(table) > STILL
    people = moved.sum(axis=0)
    return np.where(moved, table - table.sum(axis=0) / people, 0.0), people


def _skewness(table: np.ndarray, seed: int) -> tuple[np.ndarray, tuple[float, float], float]:
    """Return skewness, and chances of as much to one side, or either, by flips."""
    residual, people = _residuals(table)
    squares = residual * residual
    cubes, second = squares * residual, squares.sum(axis=0) / people
    third = cubes.sum(axis=0) / people
    own = np.divide(third, second**1.5, out=np.zeros_like(third), where=second > STILL)
    signs = _signs(np.random.default_rng(seed), SKEWS, len(table))
    first = signs @ residual / people
    flipped = signs @ cubes / people - first * (3 * second - 2 * first * first)
    spread = second - first * first
    deviation = np.sqrt(np.abs(spread))
    flipped = np.divide(flipped, deviation * np.abs(spread), out=np.zeros_like(flipped), where=spread > SAME * second)
    sizes = [(np.abs(flipped.mean(axis=1)), abs(own.mean())), (np.abs(flipped).mean(axis=1), np.abs(own).mean())]
    one_side, either = (float((drawn >= seen * (1 - SAME)).sum() + 1) / (SKEWS + 1) for drawn, seen in sizes)
    return own, (one_side, either), float(sizes[1][0].mean())


@cache
def _skewed(people: int, shape: float) -> tuple[np.ndarray, float]:
    """Return sorted leans of gamma samples away from their tail, and mean skewness."""
    sample = np.random.default_rng(0).gamma(shape, size=(SAMPLES, people)) - shape
    mean, spread = sample.mean(axis=1), np.maximum(sample.std(axis=1), STILL)
    return np.sort(-mean / spread), float(np.abs((((sample.T - mean) / spread) ** 3).mean(axis=0)).mean())


def _count(columns: np.ndarray, observed: np.ndarray, seed: int, one_sided: bool) -> np.ndarray:
    """Return p, step-down p and the smallest corrected p; the columns come by falling statistic."""
    fold = np.positive if one_sided else np.abs
    counts, patterns = np.zeros((3, len(observed))), 0
    needed, furthest = (each - SAME * np.abs(each) for each in (observed, np.abs(columns).sum(axis=0)))
    for signs in sign_patterns(len(columns), len(observed), seed, whole=one_sided):
        flipped = fold(signs @ columns)
        beside = np.maximum.accumulate(flipped[:, ::-1], axis=1)[:, ::-1]  # the largest of this and all weaker tests
        reached = (flipped >= needed, beside >= needed, beside[:, :1] >= furthest)
        counts += np.stack([each.sum(axis=0) for each in reached])
        patterns += len(signs)
    counts[1] = np.maximum.accumulate(counts[1])
    return counts / patterns


def sign_patterns(people: int, tests: int, seed: int, whole: bool = False) -> Iterator[np.ndarray]:
    """Yield blocks of signs, patterns x people; `whole` counts mirrored ones too."""
    block = max(1, AT_ONCE // max(tests, people))
    if people <= EXACT:
        numbers = np.arange(2 ** (people if whole else max(people - 1, 0)))
        for first in range(0, len(numbers), block):
            bits = numbers[first : first + block, None] >> np.arange(people) & 1
            yield 1.0 - 2.0 * bits
        return
    if (DRAWS + 1) * people <= CACHED and block > DRAWS:
        yield _sample(people, seed)
        return
    yield np.ones((1, people))
    rng = np.random.default_rng(seed)
    for first in range(0, DRAWS, block):
        yield _signs(rng, min(block, DRAWS - first), people)


@lru_cache(maxsize=2)  # the tests of an audit ask for the same again and again
def _sample(people: int, seed: int) -> np.ndarray:
    """Return the observed pattern and the sample in one block."""
    return np.vstack([np.ones((1, people)), _signs(np.random.default_rng(seed), DRAWS, people)])


def _signs(rng: np.random.Generator, patterns: int, people: int) -> np.ndarray:
    return rng.integers(0, 2, (patterns, people)) * 2.0 - 1.0


def max_t_p(matrices: Sequence[sparse.csr_matrix], flags: np.ndarray, permutations: int, seed: int) -> list[float]:
    """Return each matrix's p of the largest studentised difference of column means, else NaN."""
    inside = flags >= 0
    own, rng = (flags[inside] == 1).astype(float), np.random.default_rng(seed)
    parts = [scipy.sparse.csr_matrix(matrix[inside]) for matrix in matrices]
    varying = [column_moments(part)[1] > STILL for part in parts]
    stacked = scipy.sparse.hstack([part[:, one] for part, one in zip(parts, varying, strict=True)], format="csr")
    ends = np.cumsum([one.sum() for one in varying])[:-1]
    columns = stacked.toarray() if np.prod(stacked.shape) <= SMALL else stacked

    def largest(permuted: np.ndarray) -> np.ndarray:
        gaps = np.abs(group_gaps(columns, permuted))
        return np.column_stack([part.max(axis=1, initial=0.0) for part in np.split(gaps, ends, axis=1)])

    def draw(size: int) -> np.ndarray:
        return largest(rng.permuted(np.tile(own, (size, 1)), axis=1))

    p = sequential_p(draw, largest(own[None])[0], permutations)
    return [float(each) if one.any() else np.nan for each, one in zip(p, varying, strict=True)]


def group_gaps(columns: Any, first: np.ndarray) -> np.ndarray:
    """Return the studentised differences of column means (rows of zeros and ones x columns)."""
    squared = columns**2 if isinstance(columns, np.ndarray) else columns.power(2)
    binary = abs(squared - columns).sum() <= STILL  # then its squares are itself
    sums, wholes = first @ columns, [np.asarray(each.sum(axis=0)).ravel() for each in (columns, squared)]
    squares = sums if binary else first @ squared
    return studentised(sums, squares, wholes[0], wholes[1], first[0].sum(), first.shape[1])


def max_t_floor(flags: np.ndarray, permutations: int) -> float:
    """Return the smallest p that permuting these groups could give."""
    first, second = int((flags == 1).sum()), int((flags == 0).sum())
    return max(1 / (permutations + 1), choice_floor(first, second))


def column_moments(matrix: sparse.csr_matrix) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean and the variance (over all rows) of every column."""
    rows, columns = matrix.shape
    mean = np.bincount(matrix.indices, matrix.data, columns) / rows
    square = np.bincount(matrix.indices, matrix.data**2, columns) / rows
    return mean, np.maximum(square - mean**2, 0.0)


class Worst(NamedTuple):
    """Group with the largest difference to the rest; its p and floor."""

    group: int
    gap: float
    p: float
    floor: float


def worst_group(values: np.ndarray, groups: np.ndarray, seed: int = 0) -> Worst | None:
    """Return the group whose mean lies furthest above the others', else None.

    The larger of two p counts, as of labels: permuted, and Welch's times the groups, for a small group that spreads further.
    """
    sizes = np.bincount(groups)
    if np.count_nonzero(sizes) < 2 or np.ptp(values) <= SAME:
        return None
    members = np.stack([groups == group for group in range(len(sizes))]).astype(float)
    apart = _apart(values[None], members)[0]
    apart[sizes == 0] = -np.inf
    worst, rng = int(np.argmax(apart)), np.random.default_rng(seed)
    ordered = np.sort(values, kind="stable")  # so that the people's order does not matter
    hits = int(np.count_nonzero(values == ordered[-1]))
    is_yes_or_no = bool(np.all((values == ordered[0]) | (values == ordered[-1])))

    def draw(size: int) -> np.ndarray:
        if is_yes_or_no:  # how many of each group have the larger value is all that matters
            each = rng.multivariate_hypergeometric(sizes, hits, size)
            mixed = studentised(each, each, hits, hits, sizes, len(values))
        else:
            mixed = _apart(rng.permuted(np.tile(ordered, (size, 1)), axis=1), members)
        return np.asarray(mixed[:, sizes > 0].max(axis=1))

    p = float(drawn_p(draw, apart[worst] - SAME * abs(apart[worst]), max(1, AT_ONCE // len(values))))
    own = members[worst] > 0
    gap = welch(values[own], values[~own])
    p = max(p, min(np.nan_to_num(gap.p) / 2 * np.count_nonzero(sizes), 1.0))
    return Worst(worst, gap.value, p, choice_floor(int(sizes[worst]), int(len(values) - sizes[worst])))


def _apart(values: np.ndarray, members: np.ndarray) -> np.ndarray:
    """Return each group's studentised difference to the others (rows x groups)."""
    squares, sizes = values**2, members.sum(axis=1)
    whole, whole_squares = (each.sum(axis=1, keepdims=True) for each in (values, squares))
    return studentised(values @ members.T, squares @ members.T, whole, whole_squares, sizes, values.shape[1])
