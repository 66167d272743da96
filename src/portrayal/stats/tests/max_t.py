"""The max-T permutation test: whether two groups differ in any of many columns.

The statistic is the largest standardised difference of column means; the groups are permuted over the rows [1]_.

References
----------
.. [1] Westfall, Young (1993), Resampling-based multiple testing, Wiley.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from portrayal.stats.tests.sequential import sequential_p

if TYPE_CHECKING:
    from scipy import sparse

SMALL = 2_000_000  # entries up to which a matrix of zeros and all is faster than a sparse one
STILL = 1e-12  # a variance that is only rounding


def max_t_p(matrices: Sequence[sparse.csr_matrix], flags: np.ndarray, permutations: int, seed: int) -> list[float]:
    """Return for each matrix the p of the largest standardised difference between two groups' column means.

    The same permutations serve all matrices. A matrix none of whose columns varies has nothing to test: its p is NaN.

    Examples
    --------
    >>> column = sparse.csr_matrix(np.repeat([[1.0], [0.0]], 5, axis=0))
    >>> max_t_p([column], np.repeat([1, 0], 5), 999, 0)[0] < 0.02
    True
    """
    from scipy import sparse

    inside = flags >= 0
    own = (flags[inside] == 1).astype(float)
    scaled = [_standardised(sparse.csr_matrix(matrix[inside])) for matrix in matrices]
    ends = np.cumsum([part.shape[1] for part in scaled])[:-1]
    stacked = sparse.hstack(scaled, format="csr")
    expected = own.mean() * np.asarray(stacked.sum(axis=0)).ravel()
    columns = stacked.toarray() if np.prod(stacked.shape) <= SMALL else stacked

    def largest(permuted: np.ndarray) -> np.ndarray:
        # Sums of one group fix those of the other, so one product serves both.
        gaps = np.abs(permuted @ columns - expected)
        return np.column_stack([part.max(axis=1, initial=0.0) for part in np.split(gaps, ends, axis=1)])

    rng = np.random.default_rng(seed)

    def draw(size: int) -> np.ndarray:
        return largest(rng.permuted(np.tile(own, (size, 1)), axis=1))

    found = sequential_p(draw, largest(own[None])[0], permutations)
    return [float(p) if part.nnz else np.nan for p, part in zip(found, scaled, strict=True)]


def max_t_floor(flags: np.ndarray, permutations: int) -> float:
    """Return the smallest p that permuting these groups could give: few rows have few arrangements."""
    first, second = int((flags == 1).sum()), int((flags == 0).sum())
    # With as many rows of one group as of the other, changing places gives the same differences.
    same = 2 if first == second else 1
    return max(1 / (permutations + 1), same / math.comb(first + second, first))


def _standardised(matrix: sparse.csr_matrix) -> sparse.csr_matrix:
    """Return the columns divided by their spread; those that do not vary are empty."""
    from scipy import sparse

    variance = column_moments(matrix)[1]
    factor = np.divide(1.0, np.sqrt(variance), out=np.zeros_like(variance), where=variance > STILL)
    scaled = sparse.csr_matrix((matrix.data * factor[matrix.indices], matrix.indices, matrix.indptr), matrix.shape)
    scaled.eliminate_zeros()
    return scaled


def column_moments(matrix: sparse.csr_matrix) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean and the variance (over all rows) of every column."""
    rows, columns = matrix.shape
    mean = np.bincount(matrix.indices, matrix.data, columns) / rows
    square = np.bincount(matrix.indices, matrix.data**2, columns) / rows
    return mean, np.maximum(square - mean**2, 0.0)
