"""Agreement of word vectors on queries (Figure 11) and on systems (Table 2) [1]_.

References
----------
.. [1] Fabris, Purpura, Silvello, Susto (2020), section 4.2.4.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.search.measures.scored_runs import INSTRUMENT, PERFECT, PartialResult, ScoredQueries, ScoredRuns
from portrayal.audits.search.measures.slope import fit
from portrayal.stats.estimate import Estimate

AT_ONCE = 1_000_000  # points held in memory together


def agreement(scored: ScoredRuns) -> PartialResult:
    """Return the agreement of each two sets of vectors, and the points."""
    points = [_points(scored, first, second) for first, second in combinations(scored.rulers, 2)]
    return PartialResult(agreement_rows(scored), {"agreement": pl.concat(points)} if points else {})


def agreement_rows(scored: ScoredQueries) -> list[dict[str, Any]]:
    """Return the agreement of each two sets of vectors on queries and systems."""
    rows = []
    for first, second in combinations(scored.rulers, 2):
        about = {"system": INSTRUMENT, "ruler": first, "versus": second}
        queries = correlate(scored.query_scores(first), scored.query_scores(second), seed=scored.seed)
        order = correlate(_slopes(scored, first), _slopes(scored, second), "spearman", scored.seed)
        rows += [
            _row("query_agreement", queries, unit="Pearson's r of g(q)", counted="queries", **about),
            _row("system_agreement", order, unit="Spearman's rho of GSR", counted="systems", **about),
        ]
    return rows


def _points(scored: ScoredRuns, first: str, second: str) -> pl.DataFrame:
    """Return every query's genderedness by both."""
    x, y = scored.query_scores(first), scored.query_scores(second)
    table = pl.DataFrame({"query": list(scored.history.queries), "x": x, "y": y}).fill_nan(None)
    return table.with_columns(first=pl.lit(first), second=pl.lit(second))


def _slopes(scored: ScoredQueries, ruler: str) -> np.ndarray:
    """Return GSR of all systems and, where there are judgments, of the perfect one."""
    names = [*scored.systems, *((PERFECT,) if scored.judged else ())]
    known = (scored.tables[ruler][name].select("query_score", "list_score").drop_nulls() for name in names)
    return np.array([fit(table["query_score"].to_numpy(), table["list_score"].to_numpy())[0] for table in known])


def _row(measure: str, found: Estimate, **columns: Any) -> dict[str, Any]:
    note = "few points: the interval is rough" if (found.n or 0) < 10 else ""
    return found.row(measure, note=note, **columns)


def correlate(
    first: np.ndarray, second: np.ndarray, method: str = "pearson", seed: int = 0, draws: int = 2000
) -> Estimate:
    """Return Pearson's r or Spearman's rho over the points both have."""
    from scipy import stats

    usable = ~(np.isnan(first) | np.isnan(second))
    x, y = first[usable], second[usable]
    missing = int(np.sum(~usable))
    if len(x) < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return Estimate(n=len(x), n_missing=missing)
    if method == "spearman":
        x, y = stats.rankdata(x), stats.rankdata(y)
    low, high = np.nanquantile(_resampled(x, y, seed, draws), [0.025, 0.975])
    return Estimate(float(_pearson(x[None], y[None])[0]), float(low), float(high), n=len(x), n_missing=missing)


def _resampled(x: np.ndarray, y: np.ndarray, seed: int, draws: int) -> np.ndarray:
    """Return r of samples of the points, drawn some at a time."""
    random, block = np.random.default_rng(seed), max(1, AT_ONCE // len(x))
    sizes = (min(block, draws - start) for start in range(0, draws, block))
    picks = (random.integers(0, len(x), (size, len(x))) for size in sizes)
    return np.concatenate([_pearson(x[some], y[some]) for some in picks])


def _pearson(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return r per row; NaN where a row does not vary."""
    x, y = x - x.mean(axis=1, keepdims=True), y - y.mean(axis=1, keepdims=True)
    scale = np.sqrt(np.einsum("ij,ij->i", x, x) * np.einsum("ij,ij->i", y, y))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(scale > 0, np.einsum("ij,ij->i", x, y) / scale, np.nan)
