"""Ranked lists scored with every set of measuring vectors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain, product
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from portrayal.audits.search.measures.bags import Bags
from portrayal.audits.search.measures.history import (
    History,
    Lists,
    lists_of,
    random_lists,
    score_by_rulers,
    word_scores,
)
from portrayal.audits.search.measures.perfect_system import perfect_lists
from portrayal.audits.search.settings import SearchSettings
from portrayal.engine import current_engine, engine_map
from portrayal.errors import PortrayalError
from portrayal.tables import ANSWERED, check_responses
from portrayal.text.collections.runs import MOST_UNKNOWN
from portrayal.text.formatting import percent
from portrayal.text.lexicons import read_lexicon
from portrayal.text.vectors.direction import Direction, find_direction
from portrayal.text.vectors.space import WordSpace

PERFECT, RANDOM = "perfect", "random"
REFERENCES = (PERFECT, RANDOM)
INSTRUMENT = "instrument"  # the system column of rows that are about the ruler, not about a ranker

Row = dict[str, Any]
Repeat = tuple[str, int]  # a system and a repeat
Laid = tuple[Lists, bool]  # lists, and whether documents of equal relevance share the weight of their ranks
Tables = Mapping[str, pl.DataFrame]  # system to its `score_history` table

SAME_RANK = "its list for query {!r} has rank {} twice, so its order is not known"
STRANGE = (
    "its list for query {!r} names document {!r}, which the collection does not have, as {} of its {} results do, "
    "and {} are the most that are measured with"
)
UNJUDGED = "{} of {} results name documents that the collection does not have (first: {!r}); they count as unjudged"
REPEATED = "{} of its lists name a document twice (first: {!r} for query {!r}); the first place counts"


@dataclass(frozen=True)
class PartialResult:
    """Result rows, tables for charts, warnings and remarks of one part of the measure."""

    rows: list[Row] = field(default_factory=list)
    tables: dict[str, pl.DataFrame] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Ruler:
    """One set of measuring vectors, its direction and the words' scores."""

    name: str
    space: WordSpace
    direction: Direction
    scores: Mapping[str, float]


def make_ruler(space: WordSpace, pairs: Any, method: str, history: History, name: str = "") -> Ruler:
    """Find the direction and score the history's words."""
    direction = find_direction(space, pairs, method)
    return Ruler(name or space.name, space, direction, word_scores(space, direction, history))


def make_rulers(spaces: Mapping[str, WordSpace], pairs: Any, method: str, history: History) -> dict[str, Ruler]:
    """Make a ruler of each set of measuring vectors."""
    return {name: make_ruler(space, pairs, method, history, name) for name, space in spaces.items()}


@dataclass(frozen=True, eq=False)
class Queries:
    """The queries, one number each in the order of the history."""

    judged: np.ndarray  # whether the collection has a relevant document
    gendered: np.ndarray  # whether it names people of a group itself, such as 'women in parliaments'
    words: Mapping[str, int]  # how often the queries have each word

    def __len__(self) -> int:
        return len(self.judged)


def naming_words(settings: SearchSettings, mentions: Mapping[str, set[str]]) -> set[str]:
    """Return the words that name a group; Bradford's law is about nobody."""
    every = set().union(*mentions.values())
    return every if settings.mentions is not None else every & set(read_lexicon("gendered_entities")["word"])


def queries_of(history: History, mentions: Mapping[str, set[str]], settings: SearchSettings) -> Queries:
    """Return the queries of a history; `mentions` name people of each group."""
    named = naming_words(settings, mentions)
    return Queries(
        np.array([bool(history.relevant(query)) for query in history.queries], bool),
        np.array([not named.isdisjoint(words) for words in history.queries.values()], bool),
        Counter(chain.from_iterable(history.queries.values())),
    )


@dataclass(frozen=True, eq=False)
class ScoredQueries:
    """Every query's list scored with every ruler, in memory or on disk."""

    settings: SearchSettings
    queries: Queries
    bags: Bags
    mentions: Mapping[str, set[str]]
    rulers: Mapping[str, Ruler]
    unusable: Mapping[str, str]  # systems whose lists cannot be read as rankings, with the reason
    notes: Mapping[str, str]  # of the others, what had to be mended in their lists
    systems: list[str]  # these others, as the study names them
    tables: Mapping[str, Tables]  # by ruler, references included; all have the same queries in the same order
    seed: int

    @property
    def judged(self) -> bool:
        """True where any query has a relevant document, so that there is a perfect system."""
        return bool(self.queries.judged.any())

    @property
    def first(self) -> Ruler:
        """The first measuring vectors, which the charts of single queries use."""
        return next(iter(self.rulers.values()))

    def query_scores(self, ruler: str) -> np.ndarray:
        """Return g(q) of all queries in the order of the history; NaN where missing."""
        table = next(iter(self.tables[ruler].values()))
        return table["query_score"].fill_null(np.nan).to_numpy()


@dataclass(frozen=True, eq=False)
class ScoredRuns(ScoredQueries):
    """The ranked lists of every system beside their scores."""

    history: History
    texts: Mapping[str, str]
    runs: Mapping[str, pl.DataFrame]  # query, doc, rank, score of the first repeat
    answered: Mapping[str, frozenset[str]]  # queries each system answered; an empty list is an answer
    unknown: Mapping[str, Unknown] = field(default_factory=dict)

    @cached_property
    def cuts(self) -> dict[str, dict[str, list[str]]]:
        """Each system's lists and the perfect system's, cut at K."""
        lists = {PERFECT: perfect_lists(self.history)} | {name: lists_of(run) for name, run in self.runs.items()}
        return {name: self.history.cut(listed) for name, listed in lists.items()}


@dataclass(frozen=True)
class PerQuery:
    """One measure of ranked lists: `per_query` sees some lists, `rows` the numbers of all queries.

    Lists in memory and lists that go by in parts (`portrayal.audits.search.list_shares`) use the same two functions.
    """

    name: str
    per_query: Callable[[ScoredRuns, str], pl.DataFrame]  # a column `query`, and numbers; NaN where there is none
    rows: Callable[[ScoredQueries, str, pl.DataFrame], list[Row]]
    applies: Callable[[ScoredQueries], bool] = lambda scored: True
    judged: bool = False  # numbers of judged queries, even of one that nobody asks; else of all that are asked


def score_answers(
    responses: pl.DataFrame, history: History, rulers: Mapping[str, Ruler], settings: SearchSettings, **further: Any
) -> ScoredRuns:
    """Score the answers of every system; `further` is passed on to `score_runs`."""
    check_system_names(responses["system"].unique().to_list() if "system" in responses.columns else [])
    frame = check_responses(responses, "ranker", "A search audit needs one row per result; see docs/search.md.")
    runs = {}
    for (system, repeat), part in frame.group_by("system", "repeat", maintain_order=True):
        listed = part.filter(pl.col("status") == "answered", pl.col("doc").is_not_null())
        runs[str(system), int(repeat)] = listed.select(pl.col("stimulus").alias("query"), "doc", "rank", "score")
    first = responses.filter(pl.col("status").is_in(ANSWERED), repeat=0)
    answered = {name: frozenset(first.filter(system=name)["stimulus"]) for name, repeat in runs if repeat == 0}
    return score_runs(history, runs, rulers, settings, answered=answered, **further)


def score_runs(
    history: History,
    runs: Mapping[Repeat, pl.DataFrame],
    rulers: Mapping[str, Ruler],
    settings: SearchSettings,
    seed: int = 0,
    mentions: Mapping[str, set[str]] | None = None,
    texts: Mapping[str, str] | None = None,
    answered: Mapping[str, frozenset[str]] | None = None,
    references: Sequence[str] = REFERENCES,
    most_unknown: float = MOST_UNKNOWN,
) -> ScoredRuns:
    """Score runs (query, doc, rank, score) of systems and repeats with every ruler."""
    unknown, strange, known = dict[str, Unknown](), dict[str, None](), history.bags.row_of.keys()
    for (system, _), run in runs.items():
        odd = run.filter(~pl.col("doc").is_in(list(known)))
        part = Unknown(run.height, odd.height, *(odd.select("query", "doc").row(0) if odd.height else ()))
        unknown[system] = unknown.get(system, Unknown()).plus(part)
        strange |= dict.fromkeys(odd["doc"])
    faults = {system: _same_rank(run) or unknown[system].fault(most_unknown) for (system, _), run in runs.items()}
    unusable = {system: fault for system, fault in faults.items() if fault}
    usable = {  # each document of a list at its first place
        key: run.sort("query", "rank", maintain_order=True).unique(["query", "doc"], keep="first", maintain_order=True)
        for key, run in runs.items()
        if key[0] not in unusable
    }
    systems = list(dict.fromkeys(name for name, _ in usable))
    lists: dict[Repeat, Laid] = {key: (lists_of(run), False) for key, run in usable.items()}
    laid = lists | reference_lists(history, seed, references)
    whole = replace(history, bags=history.bags.with_empty(strange)) if strange else history
    tables = score_lists(whole, laid, rulers)
    for name in next(iter(tables.values()), ()):
        ties = history.ties(*(laid[key][0] for key in ((PERFECT, 0), (name, 0)) if key in laid and key[0] != RANDOM))
        for of_systems in tables.values():
            of_systems[name] = of_systems[name].hstack(ties)
    notes = {
        name: "; ".join(
            filter(None, (_repeated(run for key, run in runs.items() if key[0] == name), unknown[name].note()))
        )
        for name in systems
    }
    first = {name: usable[name, 0] for name in systems if (name, 0) in usable}
    every, mentions = frozenset(history.queries), mentions or {}
    return ScoredRuns(
        settings, queries_of(history, mentions, settings), whole.bags, mentions, rulers, unusable, notes, systems,
        tables, seed, whole, texts or {}, first,
        {name: every if answered is None else answered[name] for name in first}, unknown,
    )  # fmt: skip


def check_system_names(names: Iterable[str]) -> None:
    """Refuse systems named like the reference systems, whose rows they would be mixed up with."""
    for name in names:
        if name in (*REFERENCES, INSTRUMENT):
            raise PortrayalError(
                f"a system is named {name!r}, which this audit calls its own reference. Give the system another name."
            )


def _same_rank(run: pl.DataFrame) -> str:
    """Say where a rank is given twice; nothing when the order is known."""
    twice = run.filter(pl.struct("query", "rank").is_duplicated())
    return "" if twice.is_empty() else SAME_RANK.format(*twice.select("query", "rank").row(0))


class Unknown(NamedTuple):
    """Results of a system, those of unknown documents, and the first of these."""

    results: int = 0
    strange: int = 0
    query: str = ""
    doc: str = ""

    def plus(self, other: Unknown) -> Unknown:
        """Return the results of both parts."""
        first = self if self.strange else other
        return Unknown(self.results + other.results, self.strange + other.strange, first.query, first.doc)

    def fault(self, most: float = MOST_UNKNOWN) -> str:
        """Say that too many are unknown, if so."""
        numbers = (self.query, self.doc, self.strange, self.results, percent(most))
        return STRANGE.format(*numbers) if self.strange > most * self.results else ""

    def note(self) -> str:
        """Say how many count as unjudged."""
        return UNJUDGED.format(self.strange, self.results, self.doc) if self.strange else ""


def _repeated(runs: Iterable[pl.DataFrame]) -> str:
    """Say how many lists of a system name a document twice; nothing when none does."""
    twice = pl.concat([run.filter(pl.struct("query", "doc").is_duplicated()) for run in runs])
    if twice.is_empty():
        return ""
    query, doc = twice.select("query", "doc").row(0)
    return REPEATED.format(twice["query"].n_unique(), doc, query)


def reference_lists(
    history: History, seed: int | np.random.Generator, names: Sequence[str] = REFERENCES
) -> dict[Repeat, Laid]:
    """Return the lists of the reference systems; a generator is used as it stands."""
    return {
        (name, 0): (perfect_lists(history), True) if name == PERFECT else (random_lists(history, seed), False)
        for name in names
    }


def score_lists(
    history: History, lists: Mapping[Repeat, Laid], rulers: Mapping[str, Ruler]
) -> dict[str, dict[str, pl.DataFrame]]:
    """Score all lists with every ruler; a query's list score is the mean over repeats."""
    scores = {name: ruler.scores for name, ruler in rulers.items()}
    # In this process all systems go over the documents together; workers take one system each.
    systems = [{key: lists[key]} for key in lists] if current_engine().named else [lists]
    parts = list(engine_map(partial(partial, score_by_rulers, history, scores), systems, "system's list"))
    merged: dict[str, dict[str, list[pl.DataFrame]]] = {ruler: {} for ruler in rulers}
    for part, ruler in product(parts, rulers):
        for (system, _), table in part[ruler].items():
            merged[ruler].setdefault(system, []).append(table)
    return {ruler: {name: _mean(repeats) for name, repeats in tables.items()} for ruler, tables in merged.items()}


def _mean(parts: list[pl.DataFrame]) -> pl.DataFrame:
    """Return the mean list score over the repeats that have a query."""
    if len(parts) == 1:
        return parts[0]
    first, sums = pl.col("query_score").first(), pl.col("documents", "unscored").sum()
    grouped = pl.concat(parts).group_by("query", maintain_order=True)
    means = grouped.agg(first, pl.col("list_score").mean(), sums, pl.col("reason").max())
    reason = pl.when(pl.col("list_score").is_null()).then("reason").otherwise(pl.lit(""))
    return means.with_columns(reason=reason)
