"""Permutation tests of many columns at once: groups dealt at random over rows, the largest difference of any column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scipy import sparse

AT_ONCE = 100  # deals held in memory together
SMALL = 2_000_000  # entries up to which a matrix of zeros and all is faster than a sparse one
STILL = 1e-12  # a variance that is only rounding
SAME = 1e-9  # of a sum: the same numbers added in another order


def largest_difference_p(
    matrices: Sequence[sparse.csr_matrix], flags: np.ndarray, deals: int, seed: int
) -> list[float]:
    """Return for each matrix the p of the largest standardised difference between two groups' column means.

    The same deals serve all matrices. A matrix none of whose columns varies has nothing to test: its p is NaN.

    Parameters
    ----------
    matrices
        Rows x columns each, of the same rows.
    flags
        1 for rows of the first group, 0 for the second; other rows do not count.
    deals, seed
        How often groups are dealt without replacement, and the seed of it.

    Examples
    --------
    >>> column = sparse.csr_matrix(np.repeat([[1.0], [0.0]], 5, axis=0))
    >>> largest_difference_p([column], np.repeat([1, 0], 5), 999, 0)[0] < 0.02
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

    def largest(dealt: np.ndarray) -> np.ndarray:
        # Sums of one group fix those of the other, so one product serves both.
        gaps = np.abs(dealt @ columns - expected)
        return np.column_stack([part.max(axis=1, initial=0.0) for part in np.split(gaps, ends, axis=1)])

    observed, reached = largest(own[None])[0], np.ones(len(matrices))
    rng = np.random.default_rng(seed)
    for first in range(0, deals, AT_ONCE):
        dealt = rng.permuted(np.tile(own, (min(AT_ONCE, deals - first), 1)), axis=1)
        reached += (largest(dealt) >= observed - SAME * (1 + observed)).sum(axis=0)
    return [
        float(count / (deals + 1)) if part.nnz else np.nan
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
