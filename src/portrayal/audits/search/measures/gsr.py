"""Gender Stereotype Reinforcement (GSR): the slope of list on query genderedness (Definition 3.8).

Fabris, Purpura, Silvello, Susto (2020), Gender stereotype reinforcement, Information Processing & Management 57. A reasonable
ranker has positive GSR where language is specific to a domain; the perfect system's GSR is the baseline (sections 3.5 and 4).

The interval is the slope plus and minus t times HC3 errors (Long, Ervin, 2000, The American Statistician 54, 217-224), with the
effective number of queries as degrees of freedom. The test flips signs of each query's part of the slope, so noise may grow with
|g(q)|. Queries of the same words flip together, and all tests of a study flip the same queries (`portrayal.stats.tests.max_t`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

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
NO_RATIO = "no ratio: too few queries have both a list and a relevant document"
FLAT = "no ratio: the perfect system's GSR is zero"
VAGUE = "no ratio: the perfect system's GSR may be zero; read the difference"


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


@dataclass(frozen=True)
class Relative:
    """A system against the perfect one, on the queries both can be measured on."""

    difference: Slope
    ratio: float = np.nan  # m_s / m_perfect; NaN where m_perfect may be zero
    low: float = np.nan
    high: float = np.nan
    note: str = ""

    @property
    def relative(self) -> float:
        """The ratio less 1: the "relative" column of Table 2."""
        return self.ratio - 1


@dataclass(frozen=True, eq=False)
class Fit:
    """A least-squares line, and each unit's part in the error of its slope."""

    slope: float
    parts: np.ndarray  # the root of their sum of squares is the error (HC3)

    @property
    def error(self) -> float:
        """The standard error."""
        return float(np.linalg.norm(self.parts))


def gsr(table: pl.DataFrame, seed: int = 0) -> Slope:
    """Return GSR: the slope of the genderedness of result lists on that of their queries.

    Parameters
    ----------
    table
        Columns `query_score` and `list_score`, one row a query, as `score_history` gives them; null where a query has none.
        Queries of the same `unit`, where there is such a column, count together.
    seed
        Of the test's sign flips.

    Returns
    -------
    Slope
        `value`, `low`, `high`, two-sided `p`, `intercept`, `n` (queries used), `n_missing` and a `note`.

    Examples
    --------
    >>> import polars
    >>> from portrayal import gsr
    >>> table = polars.DataFrame({"query_score": [-0.2, 0.0, 0.2, 0.4], "list_score": [-0.1, 0.0, 0.1, None]})
    >>> found = gsr(table)
    >>> round(found.value, 6), found.n, found.n_missing
    (0.5, 3, 1)
    """
    return measure_slope(_column(table, "query_score"), _column(table, "list_score"), _units(table), seed)


def relative_gsr(table: pl.DataFrame, perfect: pl.DataFrame, seed: int = 0) -> Relative:
    """Return difference and ratio of two systems' GSR.

    The slope of the differences is the difference of the slopes, with the same test; the ratio has Fieller's interval.
    """
    other = perfect.select("query", perfect_score="list_score")
    same = table["query"].equals(other["query"])  # then no join, which takes memory
    both = table.with_columns(other["perfect_score"]) if same else table.join(other, on="query", maintain_order="left")
    x, own, base = (_column(both, name) for name in ("query_score", "list_score", "perfect_score"))
    units, apart = _units(both), own - base
    difference = measure_slope(x, np.where(np.abs(apart) <= SAME, 0.0, apart), units, seed)
    usable = ~(np.isnan(x) | np.isnan(own) | np.isnan(base))
    if np.isnan(difference.low):
        return Relative(difference, note=NO_RATIO)
    _, groups = np.unique(units[usable], return_inverse=True)
    return _ratio(difference, x[usable], own[usable], steady(base[usable]), groups)


def _ratio(difference: Slope, x: np.ndarray, own: np.ndarray, base: np.ndarray, units: np.ndarray) -> Relative:
    """Add the ratio of the slopes with the interval of Fieller (1954, JRSS B 16)."""
    if not np.ptp(base):
        return Relative(difference, note=FLAT)
    above, below = fit_with_error(x, own, units), fit_with_error(x, base, units)
    t = quantile(x, units) ** 2
    square = below.slope**2 - t * below.error**2
    if square <= 0:
        return Relative(difference, note=VAGUE)
    middle = above.slope * below.slope - t * (above.parts @ below.parts)
    rest = above.slope**2 - t * above.error**2
    reach = np.sqrt(max(middle**2 - square * rest, 0.0))
    low, high = (middle - reach) / square, (middle + reach) / square
    return Relative(difference, above.slope / below.slope, float(low), float(high))


def _column(table: pl.DataFrame, name: str) -> np.ndarray:
    return table[name].cast(pl.Float64).fill_null(np.nan).to_numpy()


def _units(table: pl.DataFrame) -> np.ndarray:
    return table["unit"].to_numpy() if "unit" in table.columns else np.arange(table.height)


def fit(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Return slope and intercept of Equation 3; NaN when x does not vary."""
    if len(x) < 2 or np.ptp(x) == 0:
        return np.nan, np.nan
    centred = x - x.mean()
    slope = float(centred @ (y - y.mean()) / (centred @ centred))
    return slope, float(y.mean() - slope * x.mean())


def fit_with_error(x: np.ndarray, y: np.ndarray, units: np.ndarray) -> Fit:
    """Return the line and each unit's part in its slope's error."""
    slope, _ = fit(x, y)
    centred = x - x.mean()
    spread = centred @ centred
    residual = y - y.mean() - slope * centred
    leverage = np.bincount(units, 1.0 / len(x) + centred**2 / spread)
    return Fit(slope, np.bincount(units, centred * residual) / np.maximum(1.0 - leverage, SAME) / spread)


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
    slope, intercept = fit(x, y)
    counts: dict[str, Any] = {"n": len(x), "n_missing": int(np.sum(~usable))}
    untested, few = {**counts, "decision": NOT_TESTED, "intercept": intercept}, TOO_FEW.format(len(names))
    if not len(x):
        return Slope(**counts)
    if np.isnan(slope) and len(x) > 1:
        return Slope(**untested, reason=ALIKE, note=ALIKE)
    if len(names) < FEWEST:
        return Slope(slope, **untested, reason=few, note=few)
    if not np.ptp(y):
        return Slope(0.0, 0.0, 0.0, **untested, reason=CONSTANT)
    reach, influence = quantile(x, own) * fit_with_error(x, y, own).error, parts_of_slope(x, y, own)
    flipped = flip_jointly(influence[:, None], seed)
    wide = f"under {SMALL} queries: the interval is wide" if len(names) < SMALL else ""
    together = f"{len(x)} queries of {len(names)} wordings; those of the same words count together"
    note = "; ".join(filter(None, (wide, together if len(names) < len(x) else "")))
    return Slope(
        slope, slope - reach, slope + reach, float(flipped.p[0]), **counts, p_floor=float(flipped.floor[0]), note=note,
        intercept=intercept, units=names, influence=influence,
    )  # fmt: skip


def steady(y: np.ndarray) -> np.ndarray:
    """Return y, made exactly constant where it differs by rounding errors only."""
    return np.full(len(y), y[0]) if len(y) and np.ptp(y) <= SAME * max(1.0, float(np.abs(y).max())) else y


def parts_of_slope(x: np.ndarray, y: np.ndarray, units: np.ndarray) -> np.ndarray:
    """Return each unit's part in the slope, lists centred on their middle third.

    A list far out would move the mean, and with it all other parts; a median may fall on a value that many lists have.
    """
    means = np.sort(np.bincount(units, y) / np.bincount(units))
    beyond = (len(means) - 1) // 3
    middle = means[beyond : len(means) - beyond].mean()
    parts = np.bincount(units, (x - x.mean()) * (y - middle))
    return np.where(np.abs(parts) <= SAME * np.abs(parts).max(initial=0.0), 0.0, parts)
