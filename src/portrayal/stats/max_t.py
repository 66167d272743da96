"""The max-T permutation test: whether two groups differ in any of many columns.

The statistic is the largest standardised difference of column means; the groups are permuted over the rows [1]_.

References
----------
.. [1] Westfall, Young (1993), Resampling-based multiple testing, Wiley.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scipy import sparse

AT_ONCE = 100  # permutations held in memory together
SMALL = 2_000_000  # entries up to which a matrix of zeros and all is faster than a sparse one
STILL = 1e-12  # a variance that is only rounding
SAME = 1e-9  # of a sum: the same numbers added in another order


def max_t_p(
    matrices: Sequence[sparse.csr_matrix], flags: np.ndarray, permutations: int, seed: int
) -> list[float]:
    """Return for each matrix the p of the largest standardised difference between two groups' column means.

    The same permutations serve all matrices. A matrix none of whose columns varies has nothing to test: its p is NaN.

    Parameters
    ----------
    matrices
        Rows x columns each, of the same rows.
    flags
        1 for rows of the first group, 0 for the second; other rows do not count.
    permutations, seed
        How often the groups are permuted, and the seed of it.

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

    observed, reached = largest(own[None])[0], np.ones(len(matrices))
    rng = np.random.default_rng(seed)
    for first in range(0, permutations, AT_ONCE):
        permuted = rng.permuted(np.tile(own, (min(AT_ONCE, permutations - first), 1)), axis=1)
        reached += (largest(permuted) >= observed - SAME * (1 + observed)).sum(axis=0)
    return [
        float(count / (permutations + 1)) if part.nnz else np.nan
        for count, part in zip(reached, scaled, strict=True)
    ]


def _standardised(matrix: sparse.csr_matrix) -> sparse.csr_matrix:
    """Return the columns divided by their spread; those that do not vary are empty."""
    from scipy import sparse

    variance = column_moments(matrix)[1]
    factor = np.divide(1.0, np.sqrt(variance), out=np.zeros_like(variance), where=variance > STILL)
    scaled = sparse.csr_matrix(
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
