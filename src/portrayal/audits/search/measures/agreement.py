"""How far sets of measuring vectors agree: on the genderedness of queries (Figure 11) and on the order of systems (Table 2)."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.search.measures.reliability import correlate
from portrayal.audits.search.measures.scored_runs import INSTRUMENT, PERFECT, PartialResult, ScoredQueries, ScoredRuns
from portrayal.audits.search.measures.slope import fit
from portrayal.stats.estimate import Estimate


def agreement(scored: ScoredRuns) -> PartialResult:
    """Return how far each two sets of measuring vectors agree, and the points of each query."""
    points = [_points(scored, first, second) for first, second in combinations(scored.rulers, 2)]
    return PartialResult(agreement_rows(scored), {"agreement": pl.concat(points)} if points else {})


def agreement_rows(scored: ScoredQueries) -> list[dict[str, Any]]:
    """Return how far each two sets of measuring vectors agree on queries and on the order of systems."""
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
    return np.array([fit(*_both(scored.tables[ruler][name]))[0] for name in names])


def _both(table: pl.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return query and list scores of the queries that have both."""
    known = table.select("query_score", "list_score").drop_nulls()
    return known["query_score"].to_numpy(), known["list_score"].to_numpy()


def _row(measure: str, found: Estimate, **columns: Any) -> dict[str, Any]:
    note = "few points: the interval is rough" if (found.n or 0) < 10 else ""
    return found.row(measure, note=note, **columns)
