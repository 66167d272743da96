"""Gender Stereotype Reinforcement (GSR) [1]_: the slope of list on query genderedness.

A reasonable ranker has positive GSR where language is specific to a domain; the perfect system's GSR is the
baseline, and both the difference and the ratio to it are given (sections 3.5 and 4).

References
----------
.. [1] Fabris, Purpura, Silvello, Susto (2020), Gender stereotype reinforcement, Information Processing &
   Management 57.
.. [2] Fieller (1954), Some problems in interval estimation, Journal of the Royal Statistical Society B 16, 175-185.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from portrayal.audits.search.measures.slope import SAME, Slope, fit_with_error, measure_slope, quantile, steady

TOO_FEW = "no ratio: too few queries have both a list and a relevant document"
FLAT = "no ratio: the perfect system's GSR is zero"
VAGUE = "no ratio: the perfect system's GSR may be zero; read the difference"


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

    Query genderedness is the same for both, so the difference of the slopes is the slope of the differences
    and gets the same interval and test. The ratio has Fieller's interval, and is left out where the perfect system's own
    slope may be zero.
    """
    both = _beside(table, perfect)
    x, own, base = (_column(both, name) for name in ("query_score", "list_score", "perfect_score"))
    given = _units(both)
    units = np.arange(len(x)) if given is None else given
    difference = measure_slope(x, _without_rounding(own - base), units, seed)
    usable = ~(np.isnan(x) | np.isnan(own) | np.isnan(base))
    if np.isnan(difference.low):
        return Relative(difference, note=TOO_FEW)
    _, groups = np.unique(units[usable], return_inverse=True)
    return _ratio(difference, x[usable], own[usable], steady(base[usable]), groups)


def _beside(table: pl.DataFrame, perfect: pl.DataFrame) -> pl.DataFrame:
    """Add the perfect system's list scores, without a join where possible (memory)."""
    other = perfect.select("query", perfect_score="list_score")
    if table["query"].equals(other["query"]):
        return table.with_columns(other["perfect_score"])
    return table.join(other, on="query", maintain_order="left")


def _ratio(difference: Slope, x: np.ndarray, own: np.ndarray, base: np.ndarray, units: np.ndarray) -> Relative:
    """Add the ratio of the slopes with Fieller's interval [2]_."""
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


def _without_rounding(differences: np.ndarray) -> np.ndarray:
    """Return the differences, exactly 0 where they are rounding errors."""
    return np.where(np.abs(differences) <= SAME, 0.0, differences)


def _column(table: pl.DataFrame, name: str) -> np.ndarray:
    """Return a column of numbers, NaN where missing."""
    return table[name].cast(pl.Float64).fill_null(np.nan).to_numpy()


def _units(table: pl.DataFrame) -> np.ndarray | None:
    return table["unit"].to_numpy() if "unit" in table.columns else None
