"""Many tests at once, corrected by the largest statistic of each permutation.

Joint permutations keep what ties the tests to one another: with eight people the smallest corrected p is 2 in 256 however
many tests there are, where Holm over twenty could never find anything.
Westfall, Young (1993), Resampling-based multiple testing, Wiley, algorithm 2.8.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from portrayal.stats import scipy
from portrayal.stats.permuted import AT_ONCE, DRAWS, SAME, choice_floor, sequential_p

if TYPE_CHECKING:
    from scipy import sparse

EXACT = 14  # people up to whom every pattern of signs is counted
CACHED = 4_000_000  # numbers of a sample that is kept for the next test
SMALL = 2_000_000  # entries up to which a matrix of zeros and all is faster than a sparse one
STILL = 1e-12  # a variance that is only rounding
SKEWS = 199  # patterns of signs behind the chance of so much skewness
TAIL = 1 / 3  # share of people in a long tail
SKEWED, SKEWED_FEW = 0.05, 0.2  # that chance, under which a family is skewed; few people show less of it


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
        skewed[tested] = _misled(columns, seed)
    result[1, skewed] = np.nan
    return JointFlips(result[0], result[1], result[2], skewed)


def _misled(table: np.ndarray, seed: int) -> np.ndarray:
    """Tell which tests' people lean away from the long tail of their differences.

    Of differences with a mean of 0 and a long tail most samples lack the tail: flips then find the other side in up to a third
    of families. Only where signs of the residuals, flipped, seldom make the family as skewed; who all move as far cannot be so.
    """
    residual = table - table.mean(axis=0)
    signs = _signs(np.random.default_rng(seed), SKEWS, len(table))
    second, third = (residual**2).mean(axis=0), (residual**3).mean(axis=0)
    varied = second > STILL
    own = np.divide(third, second**1.5, out=np.zeros_like(third), where=varied)
    first = signs @ residual / len(table)
    flipped = signs @ residual**3 / len(table) - 3 * first * second + 2 * first**3
    spread = np.maximum(second - first**2, STILL)
    as_skewed = np.abs(flipped / spread**1.5).mean(axis=1) >= np.abs(own).mean() * (1 - SAME)
    if (as_skewed.sum() + 1) / (SKEWS + 1) >= (SKEWED_FEW if len(table) <= EXACT else SKEWED):
        return np.zeros(table.shape[1], dtype=bool)
    size = np.abs(table)
    unequal = size.max(axis=0) - np.where(size > STILL, size, np.inf).min(axis=0) > SAME * size.max(axis=0)
    together = abs(own.mean()) > np.abs(own).mean() / 2  # the tails of all lie on one side: the family tells it better
    against = np.sign(table.sum(axis=0)) * (own.mean() if together else own) < 0
    return np.asarray(unequal & against & ~_one_way(table))


def _one_way(table: np.ndarray) -> np.ndarray:
    """Tell which tests' people all lean one way, so many that a tail would show.

    A tail of `TAIL` of people on the other side would be missed by all of them in under `SKEWED` of families.
    """
    unseen = table.shape[1] * (1 - TAIL) ** (np.abs(table) > STILL).sum(axis=0)
    return np.asarray(((table >= 0).all(axis=0) | (table <= 0).all(axis=0)) & (unseen < SKEWED))


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
    """Return each matrix's p of the largest standardised difference of column means, else NaN."""
    inside = flags >= 0
    own = (flags[inside] == 1).astype(float)
    scaled = [_standardised(scipy.sparse.csr_matrix(matrix[inside])) for matrix in matrices]
    ends = np.cumsum([part.shape[1] for part in scaled])[:-1]
    stacked = scipy.sparse.hstack(scaled, format="csr")
    expected = own.mean() * np.asarray(stacked.sum(axis=0)).ravel()
    columns = stacked.toarray() if np.prod(stacked.shape) <= SMALL else stacked
    rng = np.random.default_rng(seed)

    def largest(permuted: np.ndarray) -> np.ndarray:
        # Sums of one group fix those of the other, so one product serves both.
        gaps = np.abs(permuted @ columns - expected)
        return np.column_stack([part.max(axis=1, initial=0.0) for part in np.split(gaps, ends, axis=1)])

    def draw(size: int) -> np.ndarray:
        return largest(rng.permuted(np.tile(own, (size, 1)), axis=1))

    p = sequential_p(draw, largest(own[None])[0], permutations)
    return [float(each) if part.nnz else np.nan for each, part in zip(p, scaled, strict=True)]


def max_t_floor(flags: np.ndarray, permutations: int) -> float:
    """Return the smallest p that permuting these groups could give."""
    first, second = int((flags == 1).sum()), int((flags == 0).sum())
    return max(1 / (permutations + 1), choice_floor(first, second))


def _standardised(matrix: sparse.csr_matrix) -> sparse.csr_matrix:
    """Return the columns divided by their spread; those that do not vary are empty."""
    variance = column_moments(matrix)[1]
    factor = np.divide(1.0, np.sqrt(variance), out=np.zeros_like(variance), where=variance > STILL)
    scaled = scipy.sparse.csr_matrix(
        (matrix.data * factor[matrix.indices], matrix.indices, matrix.indptr), matrix.shape
    )
    scaled.eliminate_zeros()
    return scaled


def column_moments(matrix: sparse.csr_matrix) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean and the variance (over all rows) of every column."""
    rows, columns = matrix.shape
    mean = np.bincount(matrix.indices, matrix.data, columns) / rows
    square = np.bincount(matrix.indices, matrix.data**2, columns) / rows
    return mean, np.maximum(square - mean**2, 0.0)
