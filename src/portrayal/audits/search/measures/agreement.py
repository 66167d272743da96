"""How the number depends on choices: agreement of vector sets (Figure 11, Table 2) and the specification curve."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.search.measures.gsr import gsr, relative_gsr
from portrayal.audits.search.measures.history import History, lists_of, score_many
from portrayal.audits.search.measures.lists import DISCOUNTS
from portrayal.audits.search.measures.perfect_system import perfect_lists
from portrayal.audits.search.measures.reliability import correlate
from portrayal.audits.search.measures.scored_runs import (
    INSTRUMENT,
    PERFECT,
    PartialResult,
    ScoredRuns,
    make_ruler,
    with_options,
)
from portrayal.stats.estimate import Estimate
from portrayal.text.direction import METHODS


def agreement(scored: ScoredRuns) -> PartialResult:
    """Return how far each two sets of measuring vectors agree on queries and on the order of systems."""
    rows, points = [], []
    for first, second in combinations(scored.rulers, 2):
        x, y = scored.query_scores(first), scored.query_scores(second)
        names = f"{first} and {second}"
        rows.append(
            _row("query_agreement", names, correlate(x, y, seed=scored.seed), "Pearson's r of g(q), queries")
        )
        order = correlate(_slopes(scored, first), _slopes(scored, second), "spearman", scored.seed)
        rows.append(
            _row("system_agreement", names, order, "Spearman's rho of GSR, systems with the perfect one")
        )
        columns = {"query": list(scored.history.queries), "x": x, "y": y}
        points.append(pl.DataFrame(columns).with_columns(first=pl.lit(first), second=pl.lit(second)))
    return PartialResult(rows, {"agreement": pl.concat(points).fill_nan(None)} if points else {})


def specifications(scored: ScoredRuns, pairs: Any) -> PartialResult:
    """Return GSR (against the perfect system where there is one) for every way of measuring it."""
    if not scored.settings.variants:
        return PartialResult()
    rows = []
    for (name, ruler), method in product(scored.rulers.items(), METHODS):
        scores = make_ruler(ruler.space, pairs, method, scored.history).scores
        for inflected, discount in product((True, False), DISCOUNTS):
            history = with_options(scored.history, discount, inflected)
            choices = {
                "vectors": name,
                "direction": method,
                "discount": discount,
                "inflected": "left out" if inflected else "kept",
            }
            rows += [{**choices, **row} for row in _specified(scored, history, scores)]
    # The claim: the list's slope lies above the perfect system's, or above zero where there is none.
    table = pl.DataFrame(rows).with_columns(supports=(pl.col("low") > 0).fill_null(False))
    return PartialResult(tables={"specifications": table})


def _specified(scored: ScoredRuns, history: History, scores: Any) -> list[dict[str, Any]]:
    """Measure all systems one way."""
    lists: dict[str, Any] = {system: (lists_of(run), False) for system, run in scored.runs.items()}
    tables = score_many(history, {**lists, PERFECT: (perfect_lists(history), True)}, scores)
    rows = []
    for system in scored.runs:
        slope = gsr(tables[system], scored.seed, draws=300, shuffles=1)
        if scored.judged:
            slope = relative_gsr(
                tables[system], tables[PERFECT], scored.seed, draws=300, shuffles=1
            ).difference
        known = slope.columns()
        rows.append({"system": system, **{name: known[name] for name in ("value", "low", "high", "n")}})
    return rows


def _slopes(scored: ScoredRuns, ruler: str) -> np.ndarray:
    """Return GSR of all systems and, where there are judgments, of the perfect one."""
    names = [*scored.systems, *((PERFECT,) if scored.judged else ())]
    return np.array([gsr(scored.tables[ruler][name], draws=2, shuffles=1).value for name in names])


def _row(measure: str, names: str, found: Estimate, unit: str) -> dict[str, Any]:
    note = "few points: the interval is rough" if (found.n or 0) < 10 else ""
    return found.row(measure, system=INSTRUMENT, group=names, unit=unit, note=note)
