"""Gender Stereotype Reinforcement (GSR): the slope of list on query genderedness (Definition 3.8).

Fabris, Purpura, Silvello, Susto (2020), Gender stereotype reinforcement, Information Processing & Management 57. A reasonable
ranker has positive GSR where language is specific to a domain; the perfect system's GSR is the baseline (sections 3.5 and 4).

The test flips signs of each cluster's part of the slope, so noise may grow with |g(q)|; what runs across clusters, such as the
words of templates, is taken out first and flipped beside them. The interval holds the slopes that this test would not reject: an
end is a quantile of the slopes of clusters drawn by the flips (Hartigan, 1969, JASA 64, 1303-1317). All tests of a system flip
the same units (`portrayal.stats.tests.max_t`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl

from portrayal.stats.decisions.decision import NOT_TESTED
from portrayal.stats.decisions.multiplicity import LEVEL
from portrayal.stats.estimate import Estimate
from portrayal.stats.tests.max_t import sign_patterns

SMALL = 50  # queries; below, the row says that its interval is wide
FEWEST = 6  # clusters of queries; with fewer no pattern of signs is rare enough to be told from chance
MOST_CROSSING, SHARE, ENTRIES = 200, 4, 160_000  # crossing units: the most, queries for each, entries of the basis
LEAST = 3  # queries of a crossing unit
ALIASED = 1e-6
SAME = 1e-12  # list scores that differ by less are the same number, added up in another order
UNIT = "slope of list on query genderedness"
TIED = "its {} queries are only {} clusters that share words or lists"
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


def gsr(table: pl.DataFrame, seed: int = 0) -> Slope:
    """Return GSR: the slope of the genderedness of result lists on that of their queries.

    Parameters
    ----------
    table
        Columns `query_score` and `list_score`, one row a query, as `score_history` gives them; null where a query has none.
        Queries of the same `unit`, where there is such a column, count together; `shared` lists units that run across these.
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
    return measure_slope(_column(table, "query_score"), _column(table, "list_score"), *ties_of(table), seed)


def relative_gsr(table: pl.DataFrame, perfect: pl.DataFrame, seed: int = 0) -> Relative:
    """Return difference and ratio of two systems' GSR.

    The slope of the differences is the difference of the slopes, with the same test; the ratio's interval holds those of which it
    would not reject that own - ratio * perfect has no slope (as Fieller, 1954, JRSS B 16).
    """
    other = perfect.select("query", perfect_score="list_score")
    same = table["query"].equals(other["query"])  # then no join, which takes memory
    both = table.with_columns(other["perfect_score"]) if same else table.join(other, on="query", maintain_order="left")
    x, own, base = (_column(both, name) for name in ("query_score", "list_score", "perfect_score"))
    apart = own - base
    difference = measure_slope(x, np.where(np.abs(apart) <= SAME, 0.0, apart), *ties_of(both), seed)
    usable = ~(np.isnan(x) | np.isnan(own) | np.isnan(base))
    if np.isnan(difference.low):
        return Relative(difference, note=NO_RATIO)
    base = steady(base[usable])
    if not np.ptp(base):
        return Relative(difference, note=FLAT)
    design = Design.of(x, *ties_of(both), usable)
    parts = design.parts(own[usable]), design.parts(base)
    low, high, _ = flip(*parts, seed)
    if not (np.isfinite(low) and np.isfinite(high)):
        return Relative(difference, note=VAGUE)
    return Relative(difference, float(parts[0].sum() / parts[1].sum()), low, high)


def _column(table: pl.DataFrame, name: str) -> np.ndarray:
    return table[name].cast(pl.Float64).fill_null(np.nan).to_numpy()


def ties_of(table: pl.DataFrame) -> tuple[np.ndarray | None, pl.Series | None]:
    """Return the columns `unit` and `shared`, where the table has them."""
    unit = table["unit"].to_numpy() if "unit" in table.columns else None
    return unit, table["shared"] if "shared" in table.columns else None


def fit(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Return slope and intercept of Equation 3; NaN when x does not vary."""
    if len(x) < 2 or np.ptp(x) == 0:
        return np.nan, np.nan
    centred = x - x.mean()
    slope = float(centred @ (y - y.mean()) / (centred @ centred))
    return slope, float(y.mean() - slope * x.mean())


@dataclass(frozen=True, eq=False)
class Design:
    """The usable queries: their scores, clusters, and a basis of what runs across clusters."""

    x: np.ndarray  # less its mean
    units: np.ndarray  # names of the crossing units and the clusters, ascending within each
    own: np.ndarray  # each query's cluster, counted from 0
    basis: np.ndarray  # queries x crossing units, orthonormal and centred

    @classmethod
    def of(cls, x: np.ndarray, units: np.ndarray | None, shared: pl.Series | None, usable: np.ndarray) -> Design:
        """Return the design of usable queries; without units each is a cluster."""
        names, own = np.unique((np.arange(len(x)) if units is None else units)[usable], return_inverse=True)
        nothing = names[:0], np.zeros((len(own), 0))
        crossing, basis = nothing if shared is None else _crossing(shared.filter(pl.Series(usable)))
        return cls(x[usable] - x[usable].mean(), np.concatenate([names, crossing]), own, basis)

    @property
    def clusters(self) -> int:
        """The number of clusters."""
        return len(self.units) - self.basis.shape[1]

    def parts(self, y: np.ndarray) -> np.ndarray:
        """Return each unit's part in the sum of products of x and y.

        Lists are centred on the middle third of the clusters: one far out would move the mean, and with it all other parts; a
        median may fall on a value that many lists have.
        """
        along = [self.basis.T @ one for one in (self.x, y)]
        x, y = (one - self.basis @ some for one, some in zip((self.x, y), along, strict=True))
        means = np.sort(np.bincount(self.own, y) / np.bincount(self.own))
        beyond = (len(means) - 1) // 3
        middle = means[beyond : len(means) - beyond].mean()
        return np.concatenate([np.bincount(self.own, x * (y - middle)), along[0] * along[1]])

    def squares(self) -> np.ndarray:
        """Return each unit's part in the sum of squares of x."""
        along = self.basis.T @ self.x
        return np.concatenate([np.bincount(self.own, (self.x - self.basis @ along) ** 2), along**2])

    def tests(self, y: np.ndarray, seed: int) -> Iterator[tuple[float, float, float, np.ndarray, np.ndarray]]:
        """Yield low, high, p, parts and units; crossing units first taken out, then left in."""
        alone = replace(self, units=self.units[: self.clusters], basis=self.basis[:, :0])
        for design in (self, alone) if self.basis.shape[1] else (self,):
            parts = design.parts(y)
            parts = np.where(np.abs(parts) <= SAME * np.abs(parts).max(initial=0.0), 0.0, parts)
            yield *flip(parts, design.squares(), seed), parts, design.units


def flip(parts: np.ndarray, squares: np.ndarray, seed: int) -> tuple[float, float, float]:
    """Return the ratios of sums that flips would not reject, and the p of 0."""
    both = np.column_stack([parts, squares])
    whole = both.sum(axis=0)
    flipped = np.concatenate([signs @ both for signs in sign_patterns(len(both), 1, seed)])
    reach = np.abs(flipped[:, 0]) >= np.abs(whole[0]) * (1 - SAME)
    sums = np.stack([whole - flipped, whole + flipped])  # twice those of the units flipped, and of the others
    some = (sums[..., 1] * np.sign(whole[1]) > SAME * np.abs(whole[1])).all(axis=0)  # elsewhere every ratio fits
    ratios = sums[..., 0] / np.where(some, sums[..., 1], 1.0)
    # Where the observed sum is reached a ratio of 0 would do too, whatever rounding says.
    ends = np.where(reach, 0.0, ratios[0])
    low = np.where(some, np.minimum(ratios.min(axis=0), ends), -np.inf)
    high = np.where(some, np.maximum(ratios.max(axis=0), ends), np.inf)
    rank = int(np.ceil(LEVEL * len(reach) - SAME)) - 1
    return float(np.partition(low, rank)[rank]), float(-np.partition(-high, rank)[rank]), float(reach.mean())


def _crossing(shared: pl.Series) -> tuple[np.ndarray, np.ndarray]:
    """Return the largest units that run across clusters, and an orthonormal basis of their members."""
    count, lengths = len(shared), shared.list.len().to_numpy()
    place, name = np.repeat(np.arange(count), lengths), shared.explode().drop_nulls().to_numpy()
    names, number, size = np.unique(name, return_inverse=True, return_counts=True)
    most = min(count // SHARE, MOST_CROSSING, ENTRIES // count)
    order = [one for one in np.argsort(-size, kind="stable")[:most].tolist() if LEAST <= size[one] < count]
    q, r = np.linalg.qr(
        np.column_stack([np.ones(count), *(np.bincount(place[number == one], minlength=count) for one in order)])
    )
    own = np.flatnonzero(np.abs(np.diag(r))[1:] > ALIASED)  # no sum of others, as "job interview" is of "job"
    rising = own[np.argsort(names[order][own])]
    return names[order][rising], q[:, 1 + rising]


def measure_slope(
    x: np.ndarray, y: np.ndarray, units: np.ndarray | None = None, shared: pl.Series | None = None, seed: int = 0
) -> Slope:
    """Return the slope of y on x over the queries that have both."""
    usable = ~(np.isnan(x) | np.isnan(y))
    counts: dict[str, Any] = {"n": int(usable.sum()), "n_missing": int(np.sum(~usable))}
    if not counts["n"]:
        return Slope(**counts)
    design, y = Design.of(x, units, shared, usable), steady(y[usable])
    slope, intercept = fit(x[usable], y)
    used = (
        f"only {len(y)} of its queries can be used"
        if design.clusters == len(y)
        else TIED.format(len(y), design.clusters)
    )
    few = f"{used}, and {FEWEST} are the fewest that can be told from chance"
    untested: dict[str, Any] = {**counts, "decision": NOT_TESTED, "intercept": intercept}
    if np.isnan(slope) and len(y) > 1:
        return Slope(**untested, reason=ALIKE, note=ALIKE)
    if design.clusters < FEWEST:
        return Slope(slope, **untested, reason=few, note=few)
    if not np.ptp(y):
        return Slope(0.0, 0.0, 0.0, **untested, reason=CONSTANT)
    # Taking out what runs across clusters would miss noise that grows with |g|, and leaving it in what templates have in common.
    low, high, p, influence, names = max(design.tests(y, seed), key=lambda tested: tested[2])
    floor = 2.0 ** (1 - np.count_nonzero(influence))
    notes = [f"under {SMALL} queries: the interval is wide"] if design.clusters < SMALL else []
    if design.clusters < len(y):
        across = f", and {design.basis.shape[1]} words or lists across clusters" if design.basis.shape[1] else ""
        notes.append(
            f"{len(y)} queries in {design.clusters} clusters that share words or lists count once a cluster{across}"
        )
    return Slope(
        slope, low, high, p, **counts, p_floor=floor, note="; ".join(notes),
        intercept=intercept, units=names, influence=influence,
    )  # fmt: skip


def steady(y: np.ndarray) -> np.ndarray:
    """Return y, made exactly constant where it differs by rounding errors only."""
    return np.full(len(y), y[0]) if len(y) and np.ptp(y) <= SAME * max(1.0, float(np.abs(y).max())) else y
