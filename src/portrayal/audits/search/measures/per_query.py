"""Measures of ranked lists, written once: numbers of each query, then rows.

Lists in memory and lists that go by in parts (`portrayal.audits.search.list_shares`) use the same two functions: the numbers of
parts are put beside one another, and rows are made of all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import polars as pl

from portrayal.audits.search.measures.scored_runs import Row, ScoredQueries, ScoredRuns


@dataclass(frozen=True)
class PerQuery:
    """One measure: `per_query` sees some lists, `rows` the numbers of all queries."""

    name: str
    per_query: Callable[[ScoredRuns, str], pl.DataFrame]  # a column `query`, and numbers; NaN where there is none
    rows: Callable[[ScoredQueries, str, pl.DataFrame], list[Row]]
    applies: Callable[[ScoredQueries], bool] = lambda scored: True
    judged: bool = False  # numbers of judged queries, even of one that nobody asks; else of all that are asked


def rows_in_memory(measures: Sequence[PerQuery], scored: ScoredRuns) -> list[Row]:
    """Return the rows of measures, system by system."""
    return [
        row
        for system in scored.runs
        for measure in measures
        if measure.applies(scored)
        for row in measure.rows(scored, system, measure.per_query(scored, system))
    ]
