"""Slopes over queries (Definition 3.8 of [1]_) with an interval and a test.

The interval is the slope plus and minus t heteroscedasticity-consistent errors (HC3) [2]_. The degrees of freedom are the
effective number of queries: where a few queries lie far out, most of the slope rests on them, and t is that of few.

The test flips signs: each query's part of the slope is (g(q) - mean) times the distance of its list from the mean of the middle
third of the lists, which a list far out hardly moves. Under no relation each part may as well have the other sign, however much
its noise grows with |g(q)|; permuting lists over queries assumes that it does not grow. Queries of the same words are flipped
together. All tests of a study flip the same queries together (`portrayal.stats.tests.max_t`), so a row hands its parts on as
`influence`.

References
----------
.. [1] Fabris, Purpura, Silvello, Susto (2020), Gender stereotype reinforcement, Information Processing &
   Management 57.
.. [2] Long, Ervin (2000), Using heteroscedasticity consistent standard errors in the linear regression model, The American
   Statistician 54, 217-224.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from portrayal.stats.decisions.decision import NOT_TESTED
from portrayal.stats.estimate import Estimate
from portrayal.stats.tests.max_t import flip_jointly

SMALL = 50  # queries; below, the row says that its interval is wide
FEWEST = 6  # queries of distinct words; with fewer no pattern of signs is rare enough to be told from chance
SAME = 1e-12  # list scores that differ by less are the same number, added up in another order
UNIT = "slope of list on query genderedness"
TOO_FEW = f"only {{}} of its queries can be used, and {FEWEST} are the fewest that can be told from chance"
CONSTANT = "nothing varies from query to query, so the slope is exactly 0"
ALIKE = "all usable queries are equally gendered, so there is no slope"


@dataclass(frozen=True, eq=False)
class Slope(Estimate):
    """A slope with its interval, two-sided p and the number of queries behind it."""

    unit: str = UNIT
    counted: str | None = "queries"
    intercept: float = np.nan
    units: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=int))
    influence: np.ndarray = field(default_factory=lambda: np.zeros(0))  # each unit's part in the test

    def row(self, measure: str, **columns: Any) -> dict[str, Any]:
        """Return a Results row, with the units and the part of each under `influence`."""
        return {**super().row(measure, **columns), "influence": (self.units, self.influence)}


@dataclass(frozen=True, eq=False)
class Fit:
    """A least-squares line, and each unit's part in the error of its slope."""

    slope: float
    intercept: float
    parts: np.ndarray  # the root of their sum of squares is the error (HC3)

    @property
    def error(self) -> float:
        """The standard error."""
        return float(np.linalg.norm(self.parts))


def fit(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Return slope and intercept of Equation 3; NaN when x does not vary.

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


def fit_with_error(x: np.ndarray, y: np.ndarray, units: np.ndarray) -> Fit:
    """Return the line and each unit's part in its slope's error."""
    slope, intercept = fit(x, y)
    centred = x - x.mean()
    spread = centred @ centred
    residual = y - y.mean() - slope * centred
    leverage = np.bincount(units, 1.0 / len(x) + centred**2 / spread)
    parts = np.bincount(units, centred * residual) / np.maximum(1.0 - leverage, SAME) / spread
    return Fit(slope, intercept, parts)


def quantile(x: np.ndarray, units: np.ndarray, level: float = 0.95) -> float:
    """Return t on the effective number of units."""
    from scipy import stats

    squares = np.bincount(units, (x - x.mean()) ** 2)
    effective = squares.sum() ** 2 / (squares**2).sum() * (1 - 2 / len(squares))
    return float(stats.t.isf((1 - level) / 2, max(effective, 1.0)))


def measure_slope(x: np.ndarray, y: np.ndarray, units: np.ndarray | None = None, seed: int = 0) -> Slope:
    """Return the slope of y on x over the queries that have both."""
    usable = ~(np.isnan(x) | np.isnan(y))
    names, own = np.unique((np.arange(len(x)) if units is None else units)[usable], return_inverse=True)
    x, y = x[usable], steady(y[usable])
    counts: dict[str, Any] = {"n": len(x), "n_missing": int(np.sum(~usable))}
    slope, intercept = fit(x, y)
    untested = {**counts, "decision": NOT_TESTED, "intercept": intercept}
    if not len(x):
        return Slope(**counts)
    if np.isnan(slope) and len(x) > 1:
        return Slope(**untested, reason=ALIKE, note=ALIKE)
    if len(names) < FEWEST:
        return Slope(slope, **untested, reason=TOO_FEW.format(len(names)), note=TOO_FEW.format(len(names)))
    if not np.ptp(y):
        return Slope(0.0, 0.0, 0.0, **untested, reason=CONSTANT)
    return _tested(x, y, names, own, seed, counts)


def steady(y: np.ndarray) -> np.ndarray:
    """Return y, made exactly constant where it differs by rounding errors only."""
    return np.full(len(y), y[0]) if len(y) and np.ptp(y) <= SAME * max(1.0, float(np.abs(y).max())) else y


def parts_of_slope(x: np.ndarray, y: np.ndarray, units: np.ndarray) -> np.ndarray:
    """Return each unit's part in the slope, lists centred on their middle third.

    Centred on the mean of the middle third: a list far out would move the mean, and with it the parts of all other queries,
    which then look like evidence; a median would not, but falls on a value that many lists may have.
    """
    means = np.sort(np.bincount(units, y) / np.bincount(units))
    beyond = (len(means) - 1) // 3
    middle = means[beyond : len(means) - beyond].mean()
    parts = np.bincount(units, (x - x.mean()) * (y - middle))
    return np.where(np.abs(parts) <= SAME * np.abs(parts).max(initial=0.0), 0.0, parts)


def _tested(
    x: np.ndarray, y: np.ndarray, names: np.ndarray, own: np.ndarray, seed: int, counts: dict[str, Any]
) -> Slope:
    """Return the slope with its interval, and its p by sign flips."""
    found = fit_with_error(x, y, own)
    reach = quantile(x, own) * found.error
    influence = parts_of_slope(x, y, own)
    flipped = flip_jointly(influence[:, None], seed)
    return Slope(
        found.slope, found.slope - reach, found.slope + reach, float(flipped.p[0]), **counts,
        p_floor=float(flipped.floor[0]), note=_note(len(x), len(names)), intercept=found.intercept,
        units=names, influence=influence,
    )  # fmt: skip


def _note(queries: int, units: int) -> str:
    few = f"under {SMALL} queries: the interval is wide" if units < SMALL else ""
    together = f"{queries} queries of {units} wordings; those of the same words count together"
    return "; ".join(part for part in (few, together if units < queries else "") if part)
