"""Direct stereotypes: documents that mention one group more (section 4.2.5, Figure 12 of [1]_).

A document belongs to the group it mentions most, or to none. gap(q) is the ratio of the two poles' documents in a list. Two
gaps are compared by cross-multiplication, so a list without women is no division by zero; 0/0 on either side is an outcome of
its own.

References
----------
.. [1] Fabris, Purpura, Silvello, Susto (2020), Gender stereotype reinforcement, Information Processing & Management 57.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

import numpy as np
import polars as pl

from portrayal.audits.search.measures.bags import Bags
from portrayal.audits.search.measures.per_query import PerQuery
from portrayal.audits.search.measures.scored_runs import PERFECT, Row, ScoredQueries, ScoredRuns
from portrayal.audits.search.measures.slope import measure_slope
from portrayal.stats.intervals.intervals import wilson

Mentions = Mapping[str, Collection[str]]  # group to the words that name its people

NEITHER, UNDEFINED = "neither", "no documents of either"


def without_shared(mentions: Mentions) -> dict[str, set[str]]:
    """Drop words that stand in the lists of more than one group, names mostly.

    Examples
    --------
    >>> without_shared({"female": ["mary", "kim"], "male": ["john", "kim"]})
    {'female': {'mary'}, 'male': {'john'}}
    """
    groups_of = Counter(word for words in mentions.values() for word in set(words))
    shared = {word for word, groups in groups_of.items() if groups > 1}
    return {group: set(words) - shared for group, words in mentions.items()}


def count_mentions(bags: Bags, mentions: Mentions) -> np.ndarray:
    """Return how often each document (row) mentions each group (column)."""
    return np.column_stack([bags.occurrences(frozenset(words)) for words in mentions.values()])


def document_groups(counts: np.ndarray) -> np.ndarray:
    """Return the column each document mentions most, -1 where none or several lead."""
    most = counts.max(axis=1, initial=0.0)
    leads = (counts == most[:, None]) & (most[:, None] > 0)
    return np.where(leads.sum(axis=1) == 1, leads.argmax(axis=1), -1)


def compare_gaps(
    system: tuple[int, int], reference: tuple[int, int], poles: tuple[str, str] = ("female", "male")
) -> str:
    """Return the pole whose documents the system over-represents against the reference.

    Examples
    --------
    >>> compare_gaps((0, 3), (1, 3)), compare_gaps((2, 2), (3, 3)), compare_gaps((0, 0), (1, 1))
    ('male', 'neither', 'no documents of either')
    """
    if not any(system) or not any(reference):
        return UNDEFINED
    # m_s / f_s against m_r / f_r, multiplied out
    more = system[1] * reference[0] - reference[1] * system[0]
    return poles[1] if more > 0 else poles[0] if more < 0 else NEITHER


def names_people(scored: ScoredQueries) -> bool:
    """Tell whether words name the people of both poles."""
    return all(scored.mentions.get(pole) for pole in scored.settings.poles)


def named_groups(scored: ScoredQueries) -> list[str]:
    """Return all groups that words name, the two poles first."""
    poles = scored.settings.poles
    return [*poles, *(name for name in scored.mentions if name not in poles)]


def groups_of_documents(scored: ScoredQueries) -> np.ndarray:
    """Return the place among `named_groups` that each document is about, -1 for none."""
    return document_groups(count_mentions(scored.bags, {name: scored.mentions[name] for name in named_groups(scored)}))


def _outcomes(scored: ScoredQueries) -> list[str]:
    """Return the possible outcomes of comparing a query's list with the perfect one."""
    return [*scored.settings.poles, NEITHER, UNDEFINED]


def _per_query(scored: ScoredRuns, system: str) -> pl.DataFrame:
    """Return the outcome of each answered judged query, by its place among all."""
    own, perfect, names = scored.cut(system), scored.cut(PERFECT), _outcomes(scored)
    groups = groups_of_documents(scored)
    codes = np.full(len(own), np.nan)
    for place, query in enumerate(scored.history.queries):
        if perfect[query] and query in scored.answered[system]:
            of_lists = (groups[scored.bags.rows(lists[query])] for lists in (own, perfect))
            pairs = [(int(np.sum(listed == 0)), int(np.sum(listed == 1))) for listed in of_lists]  # f(q), m(q)
            codes[place] = names.index(compare_gaps(pairs[0], pairs[1], scored.settings.poles))
    return pl.DataFrame({"query": list(own), "outcome": codes})


def _rows(scored: ScoredQueries, system: str, table: pl.DataFrame) -> list[Row]:
    """Return the share of queries with each outcome, and whether it follows the query's genderedness."""
    if not scored.judged:
        return []
    outcomes, names = table["outcome"].to_numpy(), _outcomes(scored)
    counts = np.bincount(outcomes[~np.isnan(outcomes)].astype(np.int64), minlength=len(names)).tolist()
    about = {"system": system, "versus": PERFECT, "counted": "queries", "unit": "share"}
    missing = int(scored.queries.judged.sum()) - sum(counts)
    rows = [
        wilson(count, sum(counts)).row("over_representation", group=outcome, n_missing=missing, **about)
        for outcome, count in zip(names, counts, strict=True)
    ]
    return [*rows, _trend_row(scored, system, outcomes)]


def _trend_row(scored: ScoredQueries, system: str, outcomes: np.ndarray) -> Row:
    """Return Pearson's r of the outcome and genderedness, tested as a slope."""
    poles = scored.settings.poles
    x = scored.query_scores(scored.first.name)
    y = np.select([outcomes == 0, outcomes == 1, outcomes == 2], [1.0, -1.0, 0.0], np.nan)
    slope = measure_slope(x, y, scored.queries.units, scored.seed)
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


REPRESENTATION = PerQuery("representation", _per_query, _rows, names_people)


def representation_bars(scored: ScoredRuns) -> dict[str, pl.DataFrame]:
    """Return the bars of Figure 12 of every system; nothing where they cannot be drawn."""
    if not (scored.judged and names_people(scored)):
        return {}
    scores, names, bars = scored.query_scores(scored.first.name), _outcomes(scored), []
    for system in scored.runs:
        outcomes = _per_query(scored, system)["outcome"].to_numpy()
        usable = ~np.isnan(outcomes) & ~np.isnan(scores)
        compared = [names[int(outcome)] for outcome in outcomes[usable]]
        edges = _edges(scored, scores[usable])
        bars.append(
            representation(scores[usable], compared, edges, scored.settings.poles).with_columns(system=pl.lit(system))
        )
    return {"representation": pl.concat(bars)} if bars else {}


def _edges(scored: ScoredRuns, scores: np.ndarray) -> list[float]:
    """Return the edges of the study's bins, else of fifths of the queries."""
    if scored.settings.bins is not None:
        return sorted(scored.settings.bins)
    return sorted({float(edge) for edge in np.quantile(scores, [0.2, 0.4, 0.6, 0.8])}) if len(scores) else [0.0]


def representation(
    scores: np.ndarray, outcomes: Sequence[str], edges: Sequence[float], poles: tuple[str, str]
) -> pl.DataFrame:
    """Return the share of queries with each outcome, by bin of genderedness."""
    places = np.searchsorted(np.asarray(edges, dtype=float), scores, side="right")
    rows = []
    for position, name in enumerate(_bin_names(edges)):
        inside = [outcome for outcome, place in zip(outcomes, places, strict=True) if place == position]
        for outcome in (*poles, NEITHER, UNDEFINED):
            count = inside.count(outcome)
            rows.append((name, position, outcome, count, count / len(inside) if inside else None))
    schema = {"bin": str, "position": int, "outcome": str, "queries": int, "share": float}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _bin_names(edges: Sequence[float]) -> list[str]:
    ends = [f"{edge:.3g}" for edge in edges]
    between = [f"{low} to {high}" for low, high in pairwise(ends)]
    return [f"below {ends[0]}", *between, f"{ends[-1]} and above"]
