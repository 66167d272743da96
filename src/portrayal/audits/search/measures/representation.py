"""Documents about people: over-representation (section 4.2.5, Figure 12), exposure and ARaB.

A document belongs to the group it mentions most, or to none. gap(q) is the ratio of the two poles' documents in a list. Gaps are
compared by cross-multiplication, so a list without women is no division by zero; 0/0 on either side is an outcome of its own.

Exposure: Singh, Joachims (2018), Fairness of exposure in rankings, KDD, 2219-2228. Attention falls with the rank as in Definition 3.7.

ARaB, average rank bias of gendered terms: Rekabsaz, Schedl (2020), Do neural ranking models intensify gender bias?, SIGIR,
2065-2068. RaB_t is the mean over the first t documents of (magnitude of the positive pole - that of the negative); ARaB_t is the
mean of RaB_1 to RaB_t. Positive leans to the positive pole (female); the paper's tables print male minus female.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import pairwise

import numpy as np
import polars as pl

from portrayal.audits.search.measures.bags import Bags
from portrayal.audits.search.measures.genderedness import rank_weights
from portrayal.audits.search.measures.gsr import measure_slope, ties_of
from portrayal.audits.search.measures.scored_runs import PERFECT, PerQuery, Row, ScoredQueries, ScoredRuns
from portrayal.errors import check_name
from portrayal.stats.intervals.intervals import clustered_mean, wilson
from portrayal.text.lexicons import read_lexicon

Mentions = Mapping[str, Collection[str]]  # group to the words that name its people
NEITHER, UNDEFINED = "neither", "no documents of either"
DIFFERENCE = "difference"  # of the two poles
MAGNITUDES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "count": lambda counts: counts,
    "log": np.log1p,
    "any": lambda counts: np.minimum(counts, 1.0),
}


def without_shared(mentions: Mentions) -> dict[str, set[str]]:
    """Drop words that stand in the lists of more than one group, names mostly."""
    groups_of = Counter(word for words in mentions.values() for word in set(words))
    return {group: {word for word in words if groups_of[word] == 1} for group, words in mentions.items()}


def count_mentions(bags: Bags, mentions: Mentions) -> np.ndarray:
    """Return how often each document (row) mentions each group (column)."""
    return np.column_stack([bags.occurrences(frozenset(words)) for words in mentions.values()])


def document_groups(counts: np.ndarray) -> np.ndarray:
    """Return the column each document mentions most, -1 where none or several lead."""
    most = counts.max(axis=1, initial=0.0)
    leads = (counts == most[:, None]) & (most[:, None] > 0)
    return np.where(leads.sum(axis=1) == 1, leads.argmax(axis=1), -1)


def names_people(scored: ScoredQueries) -> bool:
    """Tell whether words name the people of both poles."""
    return all(scored.mentions.get(pole) for pole in scored.settings.poles)


def _named_groups(scored: ScoredQueries) -> list[str]:
    """Return all groups that words name, the two poles first."""
    return list(dict.fromkeys([*scored.settings.poles, *scored.mentions]))


def _groups_of_documents(scored: ScoredQueries) -> np.ndarray:
    """Return the place among `_named_groups` that each document is about, -1 for none."""
    return document_groups(count_mentions(scored.bags, {name: scored.mentions[name] for name in _named_groups(scored)}))


def compare_gaps(
    system: tuple[int, int], reference: tuple[int, int], poles: tuple[str, str] = ("female", "male")
) -> str:
    """Return the pole whose documents the system over-represents against the reference."""
    if not any(system) or not any(reference):
        return UNDEFINED
    # m_s / f_s against m_r / f_r, multiplied out
    more = system[1] * reference[0] - reference[1] * system[0]
    return poles[1] if more > 0 else poles[0] if more < 0 else NEITHER


def _outcomes(scored: ScoredQueries) -> list[str]:
    return [*scored.settings.poles, NEITHER, UNDEFINED]


def _compared(scored: ScoredRuns, system: str) -> pl.DataFrame:
    """Return the outcome of each answered judged query, by its place among all."""
    own, perfect, names = scored.cuts[system], scored.cuts[PERFECT], _outcomes(scored)
    groups = _groups_of_documents(scored)
    codes = np.full(len(own), np.nan)
    for place, query in enumerate(scored.history.queries):
        if perfect[query] and query in scored.answered[system]:
            of_lists = (groups[scored.bags.rows(lists[query])] for lists in (own, perfect))
            pairs = [(int(np.sum(listed == 0)), int(np.sum(listed == 1))) for listed in of_lists]  # f(q), m(q)
            codes[place] = names.index(compare_gaps(pairs[0], pairs[1], scored.settings.poles))
    return pl.DataFrame({"query": list(own), "outcome": codes})


def _outcome_rows(scored: ScoredQueries, system: str, table: pl.DataFrame) -> list[Row]:
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
    poles = scored.settings.poles  # the trend: Pearson's r of the outcome and genderedness, tested as a slope
    x = scored.query_scores(scored.first.name)
    y = np.select([outcomes == 0, outcomes == 1, outcomes == 2], [1.0, -1.0, 0.0], np.nan)
    slope = measure_slope(x, y, *ties_of(scored.tables[scored.first.name][system]), scored.seed)
    both = ~(np.isnan(x) | np.isnan(y))
    scale = float(x[both].std() / y[both].std()) if both.any() and y[both].std() > 0 else 1.0
    note = f"{poles[0]} +1, {poles[1]} -1, neither 0; queries with no documents of either are missing"
    about |= {"ruler": scored.first.name, "note": note, "unit": "Pearson's r with query genderedness"}
    r = slope.map(lambda end: float(np.clip(end * scale, -1, 1)))
    return [*rows, r.row("over_representation_trend", **about)]


def representation_bars(scored: ScoredRuns) -> dict[str, pl.DataFrame]:
    """Return the bars of Figure 12 of every system; nothing where they cannot be drawn."""
    if not (scored.judged and names_people(scored)):
        return {}
    scores, names, bars = scored.query_scores(scored.first.name), _outcomes(scored), []
    for system in scored.runs:
        outcomes = _compared(scored, system)["outcome"].to_numpy()
        usable = ~np.isnan(outcomes) & ~np.isnan(scores)
        compared = [names[int(outcome)] for outcome in outcomes[usable]]
        fifths = np.quantile(scores[usable], [0.2, 0.4, 0.6, 0.8]).tolist() if usable.any() else [0.0]
        edges = sorted(set(fifths) if scored.settings.bins is None else scored.settings.bins)
        table = representation(scores[usable], compared, edges, scored.settings.poles)
        bars.append(table.with_columns(system=pl.lit(system)))
    return {"representation": pl.concat(bars)} if bars else {}


def representation(
    scores: np.ndarray, outcomes: Sequence[str], edges: Sequence[float], poles: tuple[str, str]
) -> pl.DataFrame:
    """Return the share of queries with each outcome, by bin of genderedness."""
    places = np.searchsorted(np.asarray(edges, dtype=float), scores, side="right")
    ends = [f"{edge:.3g}" for edge in edges]
    bins = [f"below {ends[0]}", *(f"{low} to {high}" for low, high in pairwise(ends)), f"{ends[-1]} and above"]
    rows = []
    for position, name in enumerate(bins):
        inside = [outcome for outcome, place in zip(outcomes, places, strict=True) if place == position]
        for outcome in (*poles, NEITHER, UNDEFINED):
            count = inside.count(outcome)
            rows.append((name, position, outcome, count, count / len(inside) if inside else None))
    schema = {"bin": str, "position": int, "outcome": str, "queries": int, "share": float}
    return pl.DataFrame(rows, schema=schema, orient="row")


def exposure(groups: np.ndarray, weights: np.ndarray, count: int) -> np.ndarray:
    """Return each group's share of a list's attention; documents about no group take the rest."""
    total, about = weights.sum(), groups >= 0
    shares = np.bincount(groups[about], weights[about], minlength=count)
    return shares / total if total else np.full(count, np.nan)


def _exposures(scored: ScoredRuns, system: str) -> pl.DataFrame:
    """Return each group's share of attention and the poles' difference, per query."""
    groups, names = _groups_of_documents(scored), _named_groups(scored)
    shares = [
        exposure(groups[scored.bags.rows(listed)], rank_weights(len(listed), scored.history.discount), len(names))
        for listed in scored.cuts[system].values()
    ]
    table = np.array(shares).reshape(len(shares), len(names))
    columns = dict(zip(names, table.T, strict=True)) | {DIFFERENCE: table[:, 0] - table[:, 1]}
    return pl.DataFrame({"query": list(scored.history.queries), **columns})


def _exposure_rows(scored: ScoredQueries, system: str, table: pl.DataFrame) -> list[Row]:
    """Return each group's mean share of attention, and the difference of the poles."""
    poles = scored.settings.poles
    usable = table.filter(~pl.col(poles[0]).is_nan())
    about = {"system": system, "n_missing": table.height - usable.height, "unit": "mean share of attention"}
    columns = {name: {"group": name} for name in _named_groups(scored)}
    columns[DIFFERENCE] = {"group": poles[0], "versus": poles[1]}
    return [
        clustered_mean(usable[name].to_numpy()).row("exposure", **about, counted="queries", **groups)
        for name, groups in columns.items()
    ]


def rank_bias(counts: np.ndarray, magnitude: str = "log", cutoff: int = 10) -> float:
    """Return ARaB of one list."""
    check_name(magnitude, MAGNITUDES, "magnitude")
    sizes = MAGNITUDES[magnitude](np.asarray(counts[:cutoff], dtype=np.float64))
    if not len(sizes):
        return float("nan")
    running = np.cumsum(sizes[:, 0] - sizes[:, 1]) / np.arange(1, len(sizes) + 1)
    return float(running.mean())


def _biases(scored: ScoredRuns, system: str) -> pl.DataFrame:
    """Return each query's rank bias, by magnitude."""
    poles = scored.settings.poles
    terms: Mentions = {pole: scored.mentions[pole] for pole in poles}
    if scored.settings.about_gender and scored.settings.mentions is None:  # ARaB's own 64 words
        terms = {pole: read_lexicon("arab_terms").filter(group=pole)["word"].to_list() for pole in poles}
    counts = count_mentions(scored.bags, terms)
    listed = [counts[scored.bags.rows(docs)] for docs in scored.cuts[system].values()]
    biases = {name: np.array([rank_bias(part, name) for part in listed], np.float64) for name in MAGNITUDES}
    return pl.DataFrame({"query": list(scored.history.queries), **biases})


def _bias_rows(scored: ScoredQueries, system: str, table: pl.DataFrame) -> list[Row]:
    """Return ARaB: the mean of the queries' rank biases."""
    positive, negative = scored.settings.poles
    about = {"system": system, "group": positive, "versus": negative, "counted": "queries", "unit": "ARaB at 10, mean"}
    known = {name: table[name].drop_nans().to_numpy() for name in MAGNITUDES}
    return [
        clustered_mean(values).row("arab", magnitude=name, n_missing=table.height - len(values), **about)
        for name, values in known.items()
    ]


EXPOSURE = PerQuery("exposure", _exposures, _exposure_rows, names_people)
ARAB = PerQuery("arab", _biases, _bias_rows, names_people)
REPRESENTATION = PerQuery("representation", _compared, _outcome_rows, names_people)
