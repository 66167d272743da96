"""Gender Stereotype Reinforcement: the slope of list genderedness on query genderedness, and its relation to the perfect system.

A reasonable ranker has positive GSR where language is specific to a domain; the perfect system's GSR is the
baseline, and both the difference and the ratio to it are given (sections 3.5 and 4).

References
----------
.. [1] Fabris, Purpura, Silvello, Susto (2020), Gender stereotype reinforcement, Information Processing &
   Management 57.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from portrayal.audits.search.measures.slope import Slope, fit, measure_slope, resample_slopes


@dataclass(frozen=True)
class Relative:
    """A system against the perfect one, on the queries both can be measured on."""

    difference: Slope
    ratio: float  # m_s / m_perfect
    low: float
    high: float
    note: str = ""

    @property
    def relative(self) -> float:
        """The ratio less 1: the "relative" column of Table 2."""
        return self.ratio - 1


def gsr(table: pl.DataFrame, seed: int = 0, draws: int = 2000, shuffles: int = 9999) -> Slope:
    """Return GSR: the slope of the genderedness of result lists on that of their queries.

    Parameters
    ----------
    table
        Columns `query_score` and `list_score`, one row a query, as `score_history` gives them; null where a query has none.
    seed, draws, shuffles
        Of the bootstrap and the permutation test.

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
    x, y = _columns(table)
    return measure_slope(x, y, seed, draws, shuffles)


def relative_gsr(
    table: pl.DataFrame, perfect: pl.DataFrame, seed: int = 0, draws: int = 2000, shuffles: int = 9999
) -> Relative:
    """Return difference and ratio of two systems' GSR.

    Query genderedness is the same for both, so the difference of the slopes is the slope of the differences
    and gets the same interval and test. The ratio's interval comes from the same resamples for both
    (percentiles).
    """
    both = table.select("query", "query_score", "list_score").join(
        perfect.select("query", pl.col("list_score").alias("perfect_score")),
        on="query",
        maintain_order="left",
    )
    x, y = _columns(both)
    baseline = both["perfect_score"].cast(pl.Float64).fill_null(np.nan).to_numpy()
    difference = measure_slope(x, y - baseline, seed, draws, shuffles)
    usable = ~(np.isnan(x) | np.isnan(y) | np.isnan(baseline))
    x, y, baseline = x[usable], y[usable], baseline[usable]
    own, base = fit(x, y)[0], fit(x, baseline)[0]
    if np.isnan(base) or abs(base) < 1e-12:
        return Relative(difference, np.nan, np.nan, np.nan, "no ratio: the perfect system's GSR is zero")
    low, high, crosses = _ratio_interval(x, y, baseline, seed, draws)
    note = "the perfect system's interval holds zero: read the difference, not the ratio" if crosses else ""
    return Relative(difference, own / base, low, high, note)


def _ratio_interval(
    x: np.ndarray, y: np.ndarray, baseline: np.ndarray, seed: int, draws: int
) -> tuple[float, float, bool]:
    """Return percentiles of the resampled ratio, and whether the baseline's own resamples lie on both sides of zero."""
    if len(x) < 3:
        return np.nan, np.nan, True
    own, base = resample_slopes(x, [y, baseline], seed, draws)
    ends = np.nanquantile(base, [0.025, 0.975])
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = np.nanquantile(own / base, [0.025, 0.975])
    return float(low), float(high), bool(ends[0] <= 0 <= ends[1])


def _columns(table: pl.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return query and list scores, NaN where missing."""
    x, y = (
        table[column].cast(pl.Float64).fill_null(np.nan).to_numpy()
        for column in ("query_score", "list_score")
    )
    return x, y
