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


@dataclass(frozen=True, eq=False)
class JointFlips:
    """Each test's p, the p corrected over all, and the smallest possible p."""

    p: np.ndarray
    adjusted: np.ndarray
    floor: np.ndarray
    critical: float  # the statistic that no test passes in 95 of 100 patterns; on the scale of z


def flip_jointly(differences: np.ndarray, seed: int = 0, level: float = 0.05, one_sided: bool = False) -> JointFlips:
    """Test every column against 0 by signs of whole people (people x tests)."""
    table = np.nan_to_num(np.asarray(differences, dtype=float))
    # The sum of squares stays the same whatever is flipped, so this rises with t and needs no second pass.
    scale = np.sqrt((table**2).sum(axis=0))
    tested = np.flatnonzero(scale > 0)
    columns = table[:, tested] / scale[tested]
    fold = np.positive if one_sided else np.abs
    observed = fold(columns.sum(axis=0))
    order = np.argsort(-observed, kind="stable")
    result = np.full((3, len(scale)), np.nan)
    result[2, tested] = (1.0 if one_sided else 2.0) * 2.0 ** -np.count_nonzero(table[:, tested], axis=0).astype(float)
    critical = np.inf
    if len(tested):
        *p_values, critical = _count(columns[:, order], observed[order], seed, level, one_sided)
        result[:2, tested[order]] = p_values
    return JointFlips(result[0], result[1], result[2], critical)


def _count(
    columns: np.ndarray, observed: np.ndarray, seed: int, level: float, one_sided: bool
) -> tuple[np.ndarray, np.ndarray, float]:
    """Return p, step-down p and the critical value; the columns come by falling statistic."""
    fold = np.positive if one_sided else np.abs
    alone, together, largest, patterns = np.zeros(len(observed)), np.zeros(len(observed)), [], 0
    needed = observed - SAME * np.abs(observed)
    for signs in _patterns(len(columns), len(observed), seed, whole=one_sided):
        flipped = fold(signs @ columns)
        beside = np.maximum.accumulate(flipped[:, ::-1], axis=1)[:, ::-1]  # the largest of this and all weaker tests
        alone += (flipped >= needed).sum(axis=0)
        together += (beside >= needed).sum(axis=0)
        largest.append(beside[:, 0])
        patterns += len(signs)
    adjusted = np.maximum.accumulate(together / patterns)
    return alone / patterns, adjusted, float(np.quantile(np.concatenate(largest), 1 - level, method="higher"))


def _patterns(people: int, tests: int, seed: int, whole: bool = False) -> Iterator[np.ndarray]:
    """Yield blocks of signs: all, or a sample; `whole` counts mirrored ones too."""
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
