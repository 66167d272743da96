"""Direct stereotypes: who is mentioned (Figure 12), the average rank bias of gendered terms, and exposure."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.search.material import PERFECT, Material, Part
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
from portrayal.audits.search.measures.reliability import correlate
from portrayal.audits.search.measures.slope import permutation_p
from portrayal.stats.intervals import clustered_mean, wilson
from portrayal.text.lexicons import read_lexicon


def mentioned(material: Material) -> Part:
    """Return rows on mentions for every system; nothing when no words name the groups."""
    poles = material.settings.poles
    if not all(material.mentions.get(pole) for pole in poles):
        return Part()
    groups = document_groups(
        count_mentions(material.history.bags, {name: material.mentions[name] for name in _groups(material)})
    )
    rows, bars = [], []
    for system in material.runs:
        rows += _exposure_rows(material, system, groups) + _arab_rows(material, system)
        if material.judged:
            outcomes = _outcomes(material, system, groups)
            rows += _outcome_rows(material, system, outcomes)
            bars.append(_bars(material, system, outcomes))
    return Part(rows, {"representation": pl.concat(bars)} if bars else {})


def _outcomes(material: Material, system: str, groups: np.ndarray) -> dict[str, str]:
    """Return, per judged query, which pole's documents the system over-represents against the perfect system."""
    own, perfect = material.cut(system), material.cut(PERFECT)
    found = {}
    for query in material.history.queries:
        if perfect[query] and query in material.heard[system]:
            pairs = [_documents(material, lists[query], groups) for lists in (own, perfect)]
            found[query] = compare_gaps(pairs[0], pairs[1], material.settings.poles)
    return found


def _documents(material: Material, listed: list[str], groups: np.ndarray) -> tuple[int, int]:
    """Return f(q) and m(q): documents of the positive and of the negative pole."""
    of_list = groups[material.history.bags.rows(listed)]
    return int(np.sum(of_list == 0)), int(np.sum(of_list == 1))


def _outcome_rows(material: Material, system: str, outcomes: dict[str, str]) -> list[dict[str, Any]]:
    """Return the share of queries with each outcome, and whether it follows the query's genderedness."""
    found = list(outcomes.values())
    judged = sum(bool(material.history.relevant(query)) for query in material.history.queries)
    about = {"system": system, "contrast": f"against {PERFECT}"}
    counted = {"n_missing": judged - len(found), "unit": "share of queries", **about}
    rows = [
        wilson(found.count(outcome), len(found)).row("over_representation", group=outcome, **counted)
        for outcome in (*material.settings.poles, NEITHER, UNDEFINED)
    ]
    return [*rows, _trend_row(material, about, *_trend(material, outcomes))]


def _trend_row(material: Material, about: dict[str, Any], x: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """Return the correlation of the outcome with the query's genderedness, with a permutation p."""
    related = correlate(x, y, seed=material.seed)
    poles = material.settings.poles
    return related.row(
        "over_representation_trend",
        group=material.first.name,
        p=permutation_p(x, y, material.seed) if np.isfinite(related.value) else None,
        n_missing=len(material.history.queries) - len(x),
        unit="Pearson's r with query genderedness, queries",
        note=f"{poles[0]} +1, {poles[1]} -1, neither 0; queries with no documents of either are missing",
        **about,
    )


def _trend(material: Material, outcomes: dict[str, str]) -> tuple[np.ndarray, np.ndarray]:
    """Return genderedness and outcome (+1, -1, 0) of the queries that have both."""
    scores = dict(zip(material.history.queries, material.query_scores(material.first.name), strict=True))
    signs = {material.settings.poles[0]: 1.0, material.settings.poles[1]: -1.0, NEITHER: 0.0}
    usable = [
        query for query, outcome in outcomes.items() if outcome in signs and not np.isnan(scores[query])
    ]
    return np.array([scores[query] for query in usable]), np.array(
        [signs[outcomes[query]] for query in usable]
    )


def _bars(material: Material, system: str, outcomes: dict[str, str]) -> pl.DataFrame:
    scores = dict(zip(material.history.queries, material.query_scores(material.first.name), strict=True))
    usable = [query for query in outcomes if not np.isnan(scores[query])]
    table = representation(
        np.array([scores[query] for query in usable]),
        [outcomes[query] for query in usable],
        _edges(material, np.array([scores[query] for query in usable])),
        material.settings.poles,
    )
    return table.with_columns(system=pl.lit(system))


def _edges(material: Material, scores: np.ndarray) -> list[float]:
    """Return the edges of the bins: those of the study, else those that part the queries into fifths."""
    if material.settings.bins is not None:
        return sorted(material.settings.bins)
    return (
        sorted({float(edge) for edge in np.quantile(scores, [0.2, 0.4, 0.6, 0.8])}) if len(scores) else [0.0]
    )


def _groups(material: Material) -> list[str]:
    """Return all groups that words name, the two poles first."""
    poles = material.settings.poles
    return [*poles, *(name for name in material.mentions if name not in poles)]


def _exposure_rows(material: Material, system: str, groups: np.ndarray) -> list[dict[str, Any]]:
    """Return each group's mean share of attention, and the difference of the poles."""
    poles, named = material.settings.poles, _groups(material)
    table = _shares(material, system, groups, len(named))
    usable = table[~np.isnan(table[:, 0])]
    names = [*({"group": name} for name in named), {"contrast": f"{poles[0]} - {poles[1]}"}]
    about = {
        "system": system,
        "n_missing": len(table) - len(usable),
        "unit": "mean share of attention, queries",
    }
    return [
        clustered_mean(values).row("exposure", **about, **whose)
        for values, whose in zip(usable.T, names, strict=True)
    ]


def _shares(material: Material, system: str, groups: np.ndarray, count: int) -> np.ndarray:
    """Return, per query, the share of attention of each group and the difference of the first two."""
    shares = []
    for listed in material.cut(system).values():
        weights = rank_weights(len(listed), material.history.discount)
        shares.append(exposure(groups[material.history.bags.rows(listed)], weights, count))
    table = np.array(shares)
    return np.column_stack([table, table[:, 0] - table[:, 1]])


def _arab_rows(material: Material, system: str) -> list[dict[str, Any]]:
    """Return ARaB with its own 64 words (gender), else with the study's mentions."""
    words = _arab_words(material)
    counts = count_mentions(material.history.bags, words)
    listed = [counts[material.history.bags.rows(docs)] for docs in material.cut(system).values()]
    rows = []
    for magnitude in MAGNITUDES:
        values = np.array([rank_bias(part, magnitude) for part in listed])
        usable = values[~np.isnan(values)]
        unit = f"ARaB at 10 ({magnitude}), mean over queries; above 0 leans to {material.settings.poles[0]}"
        about = {"system": system, "group": magnitude, "n_missing": len(values) - len(usable), "unit": unit}
        rows.append(clustered_mean(usable).row("arab", **about))
    return rows


def _arab_words(material: Material) -> dict[str, Any]:
    if not material.settings.about_gender or material.settings.mentions is not None:
        return {pole: material.mentions[pole] for pole in material.settings.poles}
    table = read_lexicon("arab_terms")
    return {pole: table.filter(group=pole)["word"].to_list() for pole in material.settings.poles}
