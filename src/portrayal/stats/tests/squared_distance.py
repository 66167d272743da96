"""Squared distance of two groups' means over many columns, less what chance adds [1].

With difference d and its covariance S the variance is 4 d'Sd + 2 tr(SS). One distance gets a score interval, as Wilson's for a
share; the difference of two (a sign for each column) the plain one, with 4 d'Sd less the 4 tr(SS) it is too large by.
[1] Chen, Qin (2010), A two-sample test for high-dimensional data, Annals of Statistics 38, 808-835.
[2] Bai, Saranadasa (1996), Effect of high dimension, Statistica Sinica 6, 311-329.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from portrayal.stats import scipy
from portrayal.stats.estimate import Estimate
from portrayal.stats.tests.max_t import column_moments

if TYPE_CHECKING:
    from scipy import sparse

LEAST_ROWS = 3  # of a group: below this its covariance cannot be told


@dataclass(frozen=True)
class Distance:
    """A squared distance, or the difference of two, with the parts of its variance."""

    value: float
    raw: float  # before chance is taken off
    linear: float  # 4 d'Sd as the sample has it
    square: float  # tr(SS)

    @property
    def error(self) -> float:
        """Return the standard error."""
        return float(np.sqrt(max(self.linear - 4 * self.square, 0.0) + 2 * self.square))

    def interval(self, level: float = 0.95) -> Estimate:
        """Return the plain interval, for the difference of two distances."""
        half = float(scipy.special.ndtri(0.5 + level / 2)) * self.error
        return Estimate(self.value, self.value - half, self.value + half)

    def score_interval(self, level: float = 0.95) -> Estimate:
        """Return the score interval of one distance; it may begin below zero."""
        z2 = float(scipy.special.ndtri(0.5 + level / 2)) ** 2
        slope = self.linear / (4 * self.raw) if self.raw > 0 else 0.0
        middle = self.value + 2 * slope * z2
        inside = 4 * slope * z2 * self.value + 4 * slope**2 * z2**2 + 2 * self.square * z2
        half = float(np.sqrt(max(inside, 0.0)))
        return Estimate(self.value, min(middle - half, self.value), max(middle + half, self.value, 0.0))


Matrix = Any  # scipy.sparse.csr_matrix, or an array where it is small
FEW = 1000  # rows and columns: a sparse matrix this small costs more than it saves


@dataclass(frozen=True)
class _Group:
    """Sums over the rows of one group."""

    rows: int
    mean: np.ndarray
    products: Matrix  # columns x columns: sums of products over rows
    matrix: Matrix


def squared_distance(matrix: sparse.csr_matrix, flags: np.ndarray, signs: np.ndarray | None = None) -> Distance:
    """Return the squared distance between the mean rows of two groups."""
    signs = np.ones(matrix.shape[1]) if signs is None else signs
    small = max(matrix.shape) <= FEW
    first, second = (_group(matrix[flags == which], small) for which in (1, 0))
    gap = first.mean - second.mean
    chance = sum(_trace(group, signs) / group.rows for group in (first, second))
    linear = sum(_linear(group, signs * gap) for group in (first, second))
    square = max(_square(first, second, signs), 0.0)
    raw = float(signs @ gap**2)
    return Distance(raw - chance, raw, linear, square)


def _group(matrix: sparse.csr_matrix, small: bool) -> _Group:
    mean, _ = column_moments(matrix)
    if small:
        filled = matrix.toarray()
        return _Group(len(filled), mean, filled.T @ filled, filled)
    return _Group(matrix.shape[0], mean, (matrix.T @ matrix).tocsr(), matrix)


def _trace(group: _Group, signs: np.ndarray) -> float:
    """The trace of the rows' covariance, columns signed."""
    return float(signs @ (group.products.diagonal() - group.rows * group.mean**2)) / (group.rows - 1)


def _linear(group: _Group, direction: np.ndarray) -> float:
    """The variance of twice the group's mean along a direction."""
    return float(np.var(2 * (group.matrix @ direction), ddof=1)) / group.rows


def _square(first: _Group, second: _Group, signs: np.ndarray) -> float:
    """tr(SS) of the covariance S of the difference of means, columns signed."""
    own = sum(_own_square(group, signs) / group.rows**2 for group in (first, second))
    both = (first.rows - 1) * (second.rows - 1)
    cross = _product_trace(first, second, signs) / both
    return own + 2 * cross / (first.rows * second.rows)


def _own_square(group: _Group, signs: np.ndarray) -> float:
    """Return tr(SS) of a group's covariance, less what the sample's noise adds [2]."""
    free = group.rows - 1
    raw = _product_trace(group, group, signs) / free**2
    return free**2 / ((free + 2) * (free - 1)) * (raw - _trace(group, signs) ** 2 / free)


def _product_trace(one: _Group, other: _Group, signs: np.ndarray) -> float:
    """Return the trace of the product of two groups' centred sums of products."""
    dense = isinstance(one.products, np.ndarray)
    both = one.products * other.products if dense else one.products.multiply(other.products)
    raw = signs @ (both @ signs)
    a, b = signs * one.mean, signs * other.mean
    centred = other.rows * (b @ (one.products @ b)) + one.rows * (a @ (other.products @ a))
    return float(raw - centred + one.rows * other.rows * (a @ other.mean) ** 2)
