"""Comparison of systems with variants (section 4.2.3) and of word vectors (section 4.2.4).

Fagin, Kumar, Sivakumar (2003), Comparing top k lists, SIAM Journal on Discrete Mathematics 17, 134-160.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from itertools import combinations
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.search.measures.gsr import UNIT, fit, relative_gsr
from portrayal.audits.search.measures.history import lists_of
from portrayal.audits.search.measures.quality import QUALITY
from portrayal.audits.search.measures.reinforcement import common_slopes
from portrayal.audits.search.measures.scored_runs import INSTRUMENT, PERFECT, PartialResult, ScoredQueries, ScoredRuns
from portrayal.errors import PortrayalError, nearest
from portrayal.stats.decisions.decision import NOT_MEASURABLE
from portrayal.stats.estimate import Estimate
from portrayal.stats.intervals.intervals import clustered_mean
from portrayal.stats.models.groups import paired_t

AT_ONCE = 1_000_000  # points held in memory together


def comparison(scored: ScoredRuns) -> PartialResult:
    """Return quality rows of every system, and of every declared pair what changed."""
    of_system = {system: QUALITY.per_query(scored, system) for system in scored.runs}
    rows = [row for system, table in of_system.items() for row in QUALITY.rows(scored, system, table)]
    distances = []
    for base, variant in _pairs(scored):
        about = {"system": variant, "versus": base}
        broken = next((name for name in (variant, base) if name in scored.unusable), None)
        if broken is not None:
            reason = f"{broken} gave no rankings: {scored.unusable[broken]}"
            none = Estimate(n=0, n_missing=len(scored.queries), decision=NOT_MEASURABLE, reason=reason)
            about |= {"counted": "queries", "unit": UNIT}
            rows += [none.row("gsr_change", ruler=ruler, **about) for ruler in scored.rulers]
            continue
        rows += _changes(base, variant, of_system, scored.settings.quality)
        distances.append(_distances(scored, base, variant))
        rows += _distance_rows(distances[-1], base, variant, scored.seed)
        for ruler, tables in scored.tables.items():  # the slope of the difference of two lists
            change = relative_gsr(tables[variant], tables[base], scored.seed).difference
            rows.append(change.row("gsr_change", ruler=ruler, **about))
            rows += common_slopes(scored, ruler, variant, base)
    tables = {"distances": pl.concat(distances)} if distances else {}
    if scored.settings.published:
        tables["published"] = _published(scored)
    return PartialResult(rows, tables)


def _published(scored: ScoredRuns) -> pl.DataFrame:
    """Return the systems beside rows of the paper's tables."""
    known, rows = published("gsr")["name"].to_list(), list(scored.settings.published.items())
    for system, name in rows:
        if name not in known:
            raise PortrayalError(
                f"[search.published] sets {system!r} beside {name!r}, which Table 2 does not have.{nearest(name, known)}"
            )
    return pl.DataFrame(rows, schema={"system": pl.String, "name": pl.String}, orient="row")


def published(name: str) -> pl.DataFrame:
    """Return one of the paper's tables, rows named by system and variant."""
    table = pl.read_csv(Path(__file__).parents[1] / f"published_{name}.csv", null_values="NA")
    return table.with_columns(name=pl.concat_str("system", "variant", separator=", ", ignore_nulls=True))


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
    genderedness = np.abs(scored.query_scores(scored.first.name))
    columns = {"query": list(scored.history.queries), "distance": distances, "genderedness": genderedness}
    return pl.DataFrame(columns).fill_nan(None).with_columns(base=pl.lit(base), variant=pl.lit(variant))


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


def kendall_distance(first: Sequence[Hashable], second: Sequence[Hashable], p: float = 0.0) -> float:
    """Return Fagin's Kendall distance K(p) over its largest value; NaN for an empty list.

    An absent member stands below all present ones; pairs that one list lacks altogether count p.
    """
    if not len(first) or not len(second):
        return float("nan")
    members, ranks = list(dict.fromkeys([*first, *second])), []
    for listed in (first, second):
        place = {member: rank for rank, member in enumerate(listed)}
        ranks.append(np.array([place.get(member, np.inf) for member in members]))
    here, there = ((of[:, None] > of).astype(int) - (of[:, None] < of) for of in ranks)  # 0 for two absent ones
    against = np.triu(here * there, 1) < 0
    apart = sum(comb(int(np.sum(np.isinf(of))), 2) for of in ranks)
    largest = len(first) * len(second) + p * (comb(len(first), 2) + comb(len(second), 2))
    return float((np.sum(against) + p * apart) / largest)


def agreement(scored: ScoredRuns) -> PartialResult:
    """Return the agreement of each two sets of vectors, and the points (Figure 11)."""
    points = []
    for first, second in combinations(scored.rulers, 2):
        x, y = scored.query_scores(first), scored.query_scores(second)
        table = pl.DataFrame({"query": list(scored.history.queries), "x": x, "y": y}).fill_nan(None)
        points.append(table.with_columns(first=pl.lit(first), second=pl.lit(second)))
    return PartialResult(agreement_rows(scored), {"agreement": pl.concat(points)} if points else {})


def agreement_rows(scored: ScoredQueries) -> list[dict[str, Any]]:
    """Return the agreement of each two sets of vectors on queries and systems (Table 2)."""
    rows = []
    for first, second in combinations(scored.rulers, 2):
        queries = correlate(scored.query_scores(first), scored.query_scores(second), seed=scored.seed)
        order = correlate(_slopes(scored, first), _slopes(scored, second), "spearman", scored.seed)
        for counted, measure, r, unit in (
            ("queries", "query_agreement", queries, "Pearson's r of g(q)"),
            ("systems", "system_agreement", order, "Spearman's rho of GSR"),
        ):
            note = "few points: the interval is rough" if (r.n or 0) < 10 else ""
            about = {"system": INSTRUMENT, "ruler": first, "versus": second}
            rows.append(r.row(measure, note=note, unit=unit, counted=counted, **about))
    return rows


def _slopes(scored: ScoredQueries, ruler: str) -> np.ndarray:
    """Return GSR of all systems and, where there are judgments, of the perfect one."""
    names = [*scored.systems, *((PERFECT,) if scored.judged else ())]
    known = (scored.tables[ruler][name].select("query_score", "list_score").drop_nulls() for name in names)
    return np.array([fit(table["query_score"].to_numpy(), table["list_score"].to_numpy())[0] for table in known])


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
    random, block = np.random.default_rng(seed), max(1, AT_ONCE // len(x))
    sizes = (min(block, draws - start) for start in range(0, draws, block))
    picks = (random.integers(0, len(x), (size, len(x))) for size in sizes)
    low, high = np.nanquantile(np.concatenate([_pearson(x[some], y[some]) for some in picks]), [0.025, 0.975])
    return Estimate(float(_pearson(x[None], y[None])[0]), float(low), float(high), n=len(x), n_missing=missing)


def _pearson(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return r per row; NaN where a row does not vary."""
    x, y = x - x.mean(axis=1, keepdims=True), y - y.mean(axis=1, keepdims=True)
    scale = np.sqrt(np.einsum("ij,ij->i", x, x) * np.einsum("ij,ij->i", y, y))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(scale > 0, np.einsum("ij,ij->i", x, y) / scale, np.nan)
