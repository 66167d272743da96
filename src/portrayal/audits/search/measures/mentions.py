"""Direct stereotypes: who is mentioned (Figure 12), the average rank bias of gendered terms, and exposure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from portrayal.audits.search.measures.arab import MAGNITUDES, rank_bias
from portrayal.audits.search.measures.entities import (
    NEITHER,
    UNDEFINED,
    compare_gaps,
    count_mentions,
    document_groups,
    representation,
)
from portrayal.audits.search.measures.exposure import exposure
from portrayal.audits.search.measures.lists import rank_weights
from portrayal.audits.search.measures.scored_runs import PERFECT, PartialResult, ScoredQueries, ScoredRuns
from portrayal.audits.search.measures.slope import measure_slope
from portrayal.stats.intervals.intervals import clustered_mean, wilson
from portrayal.text.lexicons import read_lexicon


class Figures(NamedTuple):
    """What is known of each query of one system: sums over its list, so that queries can be measured in parts."""

    # Of judged queries that were answered, which pole's documents are over-represented: a place in `_outcomes`, else -1.
    outcomes: np.ndarray
    shares: np.ndarray  # queries x (groups, and the difference of the poles): shares of attention
    biases: np.ndarray  # queries x MAGNITUDES: ARaB


def mentioned(scored: ScoredRuns) -> PartialResult:
    """Return rows on mentions for every system; nothing when no words name the groups."""
    rows, bars = [], []
    for system, known in mention_figures(scored):
        rows += mention_rows(scored, system, known)
        bars += [_bars(scored, system, known.outcomes)] if scored.judged else []
    return PartialResult(rows, {"representation": pl.concat(bars)} if bars else {})


def mention_figures(scored: ScoredRuns) -> Iterator[tuple[str, Figures]]:
    """Yield what is known of each query of every system; nothing when no words name the groups."""
    if not all(scored.mentions.get(pole) for pole in scored.settings.poles):
        return
    named = _groups(scored)
    groups = document_groups(count_mentions(scored.history.bags, {name: scored.mentions[name] for name in named}))
    terms = count_mentions(scored.history.bags, _arab_words(scored))
    for system in scored.runs:
        shares, biases = _shares(scored, system, groups, len(named)), _biases(scored, system, terms)
        yield system, Figures(_compared(scored, system, groups), shares, biases)


def mention_rows(scored: ScoredQueries, system: str, known: Figures) -> list[dict[str, Any]]:
    """Return the rows of a system's figures."""
    rows = _exposure_rows(scored, system, known.shares) + _arab_rows(scored, system, known.biases)
    return [*rows, *(_outcome_rows(scored, system, known.outcomes) if scored.judged else ())]


def _outcomes(scored: ScoredQueries) -> list[str]:
    """Return what may come of comparing a query's list with the perfect one."""
    return [*scored.settings.poles, NEITHER, UNDEFINED]


def _compared(scored: ScoredRuns, system: str, groups: np.ndarray) -> np.ndarray:
    """Return, per judged query, which pole's documents the system over-represents against the perfect system."""
    own, perfect, names = scored.cut(system), scored.cut(PERFECT), _outcomes(scored)
    found = np.full(len(own), -1, np.int8)
    for place, query in enumerate(scored.history.queries):
        if perfect[query] and query in scored.answered[system]:
            pairs = [_documents(scored, lists[query], groups) for lists in (own, perfect)]
            found[place] = names.index(compare_gaps(pairs[0], pairs[1], scored.settings.poles))
    return found


def _documents(scored: ScoredRuns, listed: list[str], groups: np.ndarray) -> tuple[int, int]:
    """Return f(q) and m(q): documents of the positive and of the negative pole."""
    of_list = groups[scored.history.bags.rows(listed)]
    return int(np.sum(of_list == 0)), int(np.sum(of_list == 1))


def _outcome_rows(scored: ScoredQueries, system: str, outcomes: np.ndarray) -> list[dict[str, Any]]:
    """Return the share of queries with each outcome, and whether it follows the query's genderedness."""
    counts = np.bincount(outcomes[outcomes >= 0], minlength=len(_outcomes(scored))).tolist()
    about = {"system": system, "versus": PERFECT, "counted": "queries"}
    counted = {"n_missing": int(scored.asked.judged.sum()) - sum(counts), "unit": "share", **about}
    rows = [
        wilson(count, sum(counts)).row("over_representation", group=outcome, **counted)
        for outcome, count in zip(_outcomes(scored), counts, strict=True)
    ]
    return [*rows, _trend_row(scored, system, outcomes)]


def _trend_row(scored: ScoredQueries, system: str, outcomes: np.ndarray) -> dict[str, Any]:
    """Return Pearson's r of the outcome (+1, -1, 0) and the query's genderedness, tested as a slope is."""
    poles = scored.settings.poles
    x = scored.query_scores(scored.first.name)
    y = np.array([1.0, -1.0, 0.0, np.nan, np.nan])[outcomes]  # the last is that of -1: nothing was compared
    slope = measure_slope(x, y, scored.asked.units, scored.seed)
    both = ~(np.isnan(x) | np.isnan(y))
    scale = float(x[both].std() / y[both].std()) if both.any() and y[both].std() > 0 else 1.0
    return slope.map(lambda end: float(np.clip(end * scale, -1, 1))).row(
        "over_representation_trend",
        system=system,
        versus=PERFECT,
        ruler=scored.first.name,
        unit="Pearson's r with query genderedness",
        note=f"{poles[0]} +1, {poles[1]} -1, neither 0; queries with no documents of either are missing",
    )


def _bars(scored: ScoredRuns, system: str, outcomes: np.ndarray) -> pl.DataFrame:
    scores, names = scored.query_scores(scored.first.name), _outcomes(scored)
    usable = (outcomes >= 0) & ~np.isnan(scores)
    found, poles = [names[outcome] for outcome in outcomes[usable]], scored.settings.poles
    table = representation(scores[usable], found, _edges(scored, scores[usable]), poles)
    return table.with_columns(system=pl.lit(system))


def _edges(scored: ScoredRuns, scores: np.ndarray) -> list[float]:
    """Return the edges of the bins: those of the study, else those that part the queries into fifths."""
    if scored.settings.bins is not None:
        return sorted(scored.settings.bins)
    return sorted({float(edge) for edge in np.quantile(scores, [0.2, 0.4, 0.6, 0.8])}) if len(scores) else [0.0]


def _groups(scored: ScoredQueries) -> list[str]:
    """Return all groups that words name, the two poles first."""
    poles = scored.settings.poles
    return [*poles, *(name for name in scored.mentions if name not in poles)]


def _exposure_rows(scored: ScoredQueries, system: str, table: np.ndarray) -> list[dict[str, Any]]:
    """Return each group's mean share of attention, and the difference of the poles."""
    poles, named = scored.settings.poles, _groups(scored)
    usable = table[~np.isnan(table[:, 0])]
    names = [*({"group": name} for name in named), {"group": poles[0], "versus": poles[1]}]
    about = {
        "system": system,
        "n_missing": len(table) - len(usable),
        "unit": "mean share of attention",
        "counted": "queries",
    }
    return [
        clustered_mean(values).row("exposure", **about, **whose) for values, whose in zip(usable.T, names, strict=True)
    ]


def _shares(scored: ScoredRuns, system: str, groups: np.ndarray, count: int) -> np.ndarray:
    """Return, per query, the share of attention of each group and the difference of the first two."""
    shares = []
    for listed in scored.cut(system).values():
        weights = rank_weights(len(listed), scored.history.discount)
        shares.append(exposure(groups[scored.history.bags.rows(listed)], weights, count))
    table = np.array(shares).reshape(len(shares), count)
    return np.column_stack([table, table[:, 0] - table[:, 1]])


def _biases(scored: ScoredRuns, system: str, counts: np.ndarray) -> np.ndarray:
    """Return each query's rank bias, given how often each document has the words of each pole."""
    listed = [counts[scored.history.bags.rows(docs)] for docs in scored.cut(system).values()]
    biases = [[rank_bias(part, magnitude) for magnitude in MAGNITUDES] for part in listed]
    return np.array(biases).reshape(len(listed), len(MAGNITUDES))


def _arab_rows(scored: ScoredQueries, system: str, biases: np.ndarray) -> list[dict[str, Any]]:
    """Return ARaB: the mean of the queries' rank biases."""
    rows = []
    for magnitude, values in zip(MAGNITUDES, biases.T, strict=True):
        usable = values[~np.isnan(values)]
        positive, negative = scored.settings.poles
        about = {"system": system, "magnitude": magnitude, "group": positive, "versus": negative}
        further = {"n_missing": len(values) - len(usable), "counted": "queries", "unit": "ARaB at 10, mean"}
        rows.append(clustered_mean(usable).row("arab", **about, **further))
    return rows


def _arab_words(scored: ScoredRuns) -> dict[str, Any]:
    """Return ARaB's own 64 words (gender), else the study's mentions."""
    if not scored.settings.about_gender or scored.settings.mentions is not None:
        return {pole: scored.mentions[pole] for pole in scored.settings.poles}
    table = read_lexicon("arab_terms")
    return {pole: table.filter(group=pole)["word"].to_list() for pole in scored.settings.poles}
