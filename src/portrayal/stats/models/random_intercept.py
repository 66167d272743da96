"""Linear mixed model with one random intercept per person, by restricted maximum likelihood.

With V = s^2 (I + theta J) inside a person the likelihood is profiled over theta alone; 0 is a solution like any other.
Bates, Maechler, Bolker, Walker (2015), Fitting linear mixed-effects models using lme4, J. Statistical Software 67 (1), section 3.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from portrayal.stats import scipy


@dataclass(frozen=True)
class Fitted:
    """Fixed effects with their errors, and the two variances."""

    coefficients: np.ndarray
    errors: np.ndarray
    between: float  # variance between people
    within: float  # variance within a person


def fit_random_intercept(values: np.ndarray, design: np.ndarray, people: np.ndarray) -> Fitted:
    """Fit `values` on `design` (of full rank) with a random intercept per person."""
    _, codes, sizes = np.unique(people, return_inverse=True, return_counts=True)
    table = np.column_stack([design, values])
    means = np.stack([np.bincount(codes, column) for column in table.T], axis=1) / sizes[:, None]

    def criterion(log_theta: float) -> float:
        return _profile(table, means, codes, sizes, np.exp(log_theta))[0]

    best = scipy.optimize.minimize_scalar(criterion, bounds=(-12, 12), method="bounded", options={"xatol": 1e-9})
    theta = float(np.exp(best.x)) if best.fun < _profile(table, means, codes, sizes, 0.0)[0] else 0.0
    _, coefficients, covariance, within = _profile(table, means, codes, sizes, theta)
    return Fitted(coefficients, np.sqrt(np.diag(covariance) * within), theta * within, within)


def _profile(
    table: np.ndarray, means: np.ndarray, codes: np.ndarray, sizes: np.ndarray, theta: float
) -> tuple[float, np.ndarray, np.ndarray, float]:
    """Return -2 log REML, coefficients, their covariance over s^2, and s^2 at theta."""
    shrink = 1 - 1 / np.sqrt(1 + sizes * theta)
    whitened = table - shrink[codes, None] * means[codes]
    x, y = whitened[:, :-1], whitened[:, -1]
    inner = x.T @ x
    coefficients = np.linalg.solve(inner, x.T @ y)
    degrees = len(y) - x.shape[1]
    residual = float(np.sum((y - x @ coefficients) ** 2))
    log_det = np.log1p(sizes * theta).sum() + np.linalg.slogdet(inner)[1]
    return (degrees * np.log(max(residual, 1e-300)) + log_det, coefficients, np.linalg.inv(inner), residual / degrees)
