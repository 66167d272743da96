"""A slope over queries with a bootstrap interval and a permutation p (Definition 3.8).

The interval resamples queries. It is studentised: each resample's slope is divided by its own
heteroscedasticity-consistent error (HC3), and the interval is symmetric, which keeps coverage where percentiles
lose it. The permutation test permutes the lists over the queries.

References
----------
.. [1] Fabris, Purpura, Silvello, Susto (2020), Gender stereotype reinforcement, Information Processing &
   Management 57.
.. [2] Davison, Hinkley (1997), Bootstrap methods and their application, section 6.2 (resampling cases,
   studentised).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from math import factorial

import numpy as np

from portrayal.stats.estimate import Estimate

SMALL = 50  # queries; below, the row says that intervals are wide or short of their level
EXACT_UP_TO = 8  # 8! = 40,320 orders are all looked at


@dataclass(frozen=True)
class Slope(Estimate):
    """A slope with its interval, two-sided p and the number of queries behind it."""

    unit: str = "slope of list on query genderedness, queries"
    intercept: float = np.nan


def fit(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Return slope and intercept of Equation 3, by least squares; NaN when x does not vary.

    Examples
    --------
    >>> fit(np.array([0.0, 1.0, 2.0]), np.array([1.0, 3.0, 5.0]))
    (2.0, 1.0)
    """
    if len(x) < 2 or np.ptp(x) == 0:
        return np.nan, np.nan
    centred = x - x.mean()
    slope = float(centred @ (y - y.mean()) / (centred @ centred))
    return slope, float(y.mean() - slope * x.mean())


def measure_slope(
    x: np.ndarray, y: np.ndarray, seed: int = 0, draws: int = 2000, shuffles: int = 9999, level: float = 0.95
) -> Slope:
    """Return the slope of y on x over queries; a query with either missing counts as missing.

    Parameters
    ----------
    x, y
        Genderedness of queries and of their lists; NaN where there is none.
    seed
        Seed of the resamples and permutations.
    draws, shuffles
        How many resamples and permutations.
    level
        Level of the interval.
    """
    usable = ~(np.isnan(x) | np.isnan(y))
    missing = int(np.sum(~usable))
    x, y = x[usable], _steady(y[usable])
    slope, intercept = fit(x, y)
    if np.isnan(slope) or len(x) < 3:
        note = "no slope: fewer than three usable queries, or all of the same genderedness"
        return Slope(n=len(x), n_missing=missing, note=note)
    low, high = bootstrap_interval(x, y, seed, draws, level)
    note = f"under {SMALL} queries: studentised bootstrap, read with care" if len(x) < SMALL else ""
    p = permutation_p(x, y, seed, shuffles)
    return Slope(slope, low, high, p, len(x), missing, note=note, intercept=intercept)


def bootstrap_interval(
    x: np.ndarray, y: np.ndarray, seed: int = 0, draws: int = 2000, level: float = 0.95
) -> tuple[float, float]:
    """Return the symmetric studentised bootstrap interval of the slope, resampling queries."""
    slope, error = _slopes_and_errors(x[None, :], y[None, :])
    if error[0] < 1e-13 * max(1.0, abs(slope[0])):  # an exact line has no sampling error to resample
        return float(slope[0]), float(slope[0])
    slopes, errors = _resampled(x, y, draws, np.random.default_rng(seed))
    with np.errstate(divide="ignore", invalid="ignore"):
        t = (slopes - slope[0]) / errors
    reach = float(np.quantile(np.abs(t[np.isfinite(t)]), level) * error[0])
    return float(slope[0]) - reach, float(slope[0]) + reach


def permutation_p(x: np.ndarray, y: np.ndarray, seed: int = 0, draws: int = 9999) -> float:
    """Return the two-sided p of no relation, permuting y over the queries: exact for few, sampled for many."""
    centred = x - x.mean()
    observed = abs(centred @ y)
    # Sums of the same numbers in another order differ in the last digits; such ties count as ties.
    reached = observed - 1e-12 * (np.abs(centred) @ np.abs(y - y.mean()) + 1e-300)
    if factorial(len(x)) <= factorial(EXACT_UP_TO):
        orders = np.array(list(permutations(range(len(x)))))
        return float(np.mean(np.abs(y[orders] @ centred) >= reached))
    rng, beyond = np.random.default_rng([seed, 1]), 0
    for size in _blocks(draws, len(y)):
        shuffled = rng.permuted(np.broadcast_to(y - y.mean(), (size, len(y))), axis=1)
        beyond += int(np.sum(np.abs(shuffled @ centred) >= reached))
    return (1 + beyond) / (draws + 1)


def _steady(y: np.ndarray) -> np.ndarray:
    """Return y, made exactly constant where it differs by rounding errors only: those carry no relation."""
    if len(y) and np.ptp(y) <= 1e-12 * max(1.0, float(np.abs(y).max())):
        return np.full(len(y), y[0])
    return y


def _resampled(
    x: np.ndarray, y: np.ndarray, draws: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return slopes and errors of `draws` resamples of the queries."""
    parts = []
    for size in _blocks(draws, len(x)):
        picks = rng.integers(0, len(x), (size, len(x)))
        parts.append(_slopes_and_errors(x[picks], y[picks]))
    return np.concatenate([slopes for slopes, _ in parts]), np.concatenate([errors for _, errors in parts])


def _blocks(draws: int, length: int) -> list[int]:
    """Split the draws so that one block holds about a quarter of a million numbers."""
    size = max(1, 250_000 // max(1, length))
    return [min(size, draws - start) for start in range(0, draws, size)]


def _slopes_and_errors(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return slope and HC3 error per row; rows in which x does not vary give NaN."""
    centred = x - x.mean(axis=1, keepdims=True)
    spread = np.einsum("ij,ij->i", centred, centred)
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = np.einsum("ij,ij->i", centred, y) / spread
        residual = y - y.mean(axis=1, keepdims=True) - slope[:, None] * centred
        leverage = 1.0 / x.shape[1] + centred**2 / spread[:, None]
        scaled = centred * residual / np.maximum(1.0 - leverage, 1e-6)
        error = np.sqrt(np.einsum("ij,ij->i", scaled, scaled)) / spread
    return slope, error


def resample_slopes(
    x: np.ndarray, columns: list[np.ndarray], seed: int = 0, draws: int = 2000
) -> list[np.ndarray]:
    """Return, for each column, its slopes on x over the same resamples of queries."""
    rng, parts = np.random.default_rng([seed, 2]), []
    for size in _blocks(draws, len(x)):
        picks = rng.integers(0, len(x), (size, len(x)))
        parts.append([_slopes_and_errors(x[picks], column[picks])[0] for column in columns])
    return [np.concatenate([part[place] for part in parts]) for place in range(len(columns))]
