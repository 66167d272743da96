"""Variants of a system [1]_: distance (Figure 10), change of quality and GSR.

References
----------
.. [1] Fabris, Purpura, Silvello, Susto (2020), section 4.2.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.search.measures.agreement import correlate
from portrayal.audits.search.measures.gsr import relative_gsr
from portrayal.audits.search.measures.history import lists_of
from portrayal.audits.search.measures.kendall import kendall_distance
from portrayal.audits.search.measures.quality import QUALITY
from portrayal.audits.search.measures.scored_runs import PartialResult, ScoredRuns
from portrayal.audits.search.measures.slope import UNIT
from portrayal.audits.search.published import published_names
from portrayal.errors import PortrayalError, nearest
from portrayal.stats.decisions.decision import NOT_MEASURABLE
from portrayal.stats.estimate import Estimate
from portrayal.stats.intervals.intervals import clustered_mean
from portrayal.stats.models.groups import paired_t


def comparison(scored: ScoredRuns) -> PartialResult:
    """Return quality rows of every system, and of every declared pair what changed."""
    of_system = {system: QUALITY.per_query(scored, system) for system in scored.runs}
    rows = [row for system, table in of_system.items() for row in QUALITY.rows(scored, system, table)]
    distances = []
    for base, variant in _pairs(scored):
        if base in scored.unusable or variant in scored.unusable:
            rows += [_no_change(scored, ruler, base, variant) for ruler in scored.rulers]
            continue
        rows += _changes(base, variant, of_system, scored.settings.quality)
        table = _distances(scored, base, variant)
        rows += _distance_rows(table, base, variant, scored.seed)
        rows += [_gsr_change(scored, ruler, base, variant) for ruler in scored.rulers]
        distances.append(table)
    tables = {"distances": pl.concat(distances)} if distances else {}
    if scored.settings.published:
        tables["published"] = _published(scored)
    return PartialResult(rows, tables)


def _published(scored: ScoredRuns) -> pl.DataFrame:
    """Return which system stands beside which row of the paper's tables."""
    known = published_names()
    for system, name in scored.settings.published.items():
        if name not in known:
            raise PortrayalError(
                f"[search.published] sets {system!r} beside {name!r}, which Table 2 does not have."
                f"{nearest(name, known)}"
            )
    rows = list(scored.settings.published.items())
    return pl.DataFrame(rows, schema={"system": pl.String, "name": pl.String}, orient="row")


def _pairs(scored: ScoredRuns) -> list[tuple[str, str]]:
    """Return (system, variant) pairs of the study, each a system that was asked."""
    pairs = [(base, variant) for base, variants in scored.settings.compare.items() for variant in variants]
    for name in (name for pair in pairs for name in pair):
        if name not in (*scored.runs, *scored.unusable):
            raise PortrayalError(
                f"[search.compare] names {name!r}, which is no system of this study.{nearest(name, scored.runs)}"
            )
    return pairs


def _changes(base: str, variant: str, tables: dict[str, pl.DataFrame], names: Sequence[str]) -> list[dict[str, Any]]:
    """Return the mean change of quality with the paired t-test of Table 3."""
    both = tables[variant].join(tables[base], on="query", suffix="_base")
    about = {"system": variant, "versus": base, "unit": "mean paired difference", "counted": "queries"}
    return [
        paired_t((both[name] - both[f"{name}_base"]).to_numpy()).row(f"{name}_change", **about)
        for name in names
        if both.height > 1
    ]


def _distances(scored: ScoredRuns, base: str, variant: str) -> pl.DataFrame:
    """Return, per query, the distance of the two top lists beside the query's genderedness."""
    first, second = (lists_of(scored.runs[name]) for name in (base, variant))
    top, penalty = scored.settings.top, scored.settings.penalty
    answered = scored.answered[base] & scored.answered[variant]
    distances = [
        kendall_distance(first.get(query, [])[:top], second.get(query, [])[:top], penalty)
        if query in answered
        else np.nan
        for query in scored.history.queries
    ]
    frame = pl.DataFrame({"query": list(scored.history.queries), "distance": distances})
    genderedness = np.abs(scored.query_scores(scored.first.name))
    return frame.with_columns(
        pl.Series("genderedness", genderedness).fill_nan(None),
        pl.col("distance").fill_nan(None),
        base=pl.lit(base),
        variant=pl.lit(variant),
    )


def _distance_rows(table: pl.DataFrame, base: str, variant: str, seed: int) -> list[dict[str, Any]]:
    """Return the mean distance and its correlation with |g(q)|."""
    about = {"system": variant, "versus": base, "counted": "queries"}
    values = table["distance"].drop_nulls().to_numpy()
    mean = replace(clustered_mean(values), n_missing=table.height - len(values))
    x, y = (table[name].fill_null(np.nan).to_numpy() for name in ("genderedness", "distance"))
    r, unit = correlate(x, y, seed=seed), "Pearson's r of |g(q)| and distance"
    return [
        mean.row("kendall_distance", unit="normalised K(p), mean", **about),
        r.row("kendall_genderedness", unit=unit, **about),
    ]


def _gsr_change(scored: ScoredRuns, ruler: str, base: str, variant: str) -> dict[str, Any]:
    """Return the change of GSR, the slope of the difference of two lists."""
    tables = scored.tables[ruler]
    found = relative_gsr(tables[variant], tables[base], scored.seed)
    return found.difference.row("gsr_change", system=variant, ruler=ruler, versus=base)


def _no_change(scored: ScoredRuns, ruler: str, base: str, variant: str) -> dict[str, Any]:
    """Return the row of a change where one system gave no rankings."""
    broken = variant if variant in scored.unusable else base
    reason = f"{broken} gave no rankings: {scored.unusable[broken]}"
    said = Estimate(n=0, n_missing=len(scored.history.queries), decision=NOT_MEASURABLE, reason=reason)
    return said.row("gsr_change", system=variant, ruler=ruler, versus=base, counted="queries", unit=UNIT)
