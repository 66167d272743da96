"""Search histories: queries, documents and judgments (Definitions 3.5 and 3.6)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import compress, repeat
from typing import TypeVar

import numpy as np
import polars as pl

from portrayal.audits.search.measures.bags import Bags
from portrayal.audits.search.measures.clusters import Wordings, list_keys, read_wordings, tie
from portrayal.audits.search.measures.genderedness import (
    document_scores,
    inflected,
    list_scores,
    query_scores,
    rank_weights,
    shared_weights,
    usable,
)
from portrayal.text.vectors.direction import Direction, score_words
from portrayal.text.vectors.space import WordSpace

# Stop words that are kept because they name a gender, as in the authors' code.
GENDERED_STOP_WORDS = frozenset(("mrs", "ms", "she", "her", "hers", "herself", "mr", "he", "his", "himself", "him"))

UNJUDGED = 100  # results measured of a query without a relevant document

SCORES = {
    "query": pl.String,
    "query_score": pl.Float64,  # g(q)
    "list_score": pl.Float64,  # g_q(L)
    "documents": pl.Int64,  # in the list, after the cut
    "unscored": pl.Int64,  # of these, without a word that has a score
    "reason": pl.String,  # why the query cannot be used, or nothing
}

Key = TypeVar("Key", bound=Hashable)  # of a system: its name, or its name and repeat
Lists = Mapping[str, Sequence[str]]  # query to document ids in rank order


@dataclass(frozen=True)
class History:
    """The queries (words without stop words), documents and judgments a run is measured against."""

    queries: Mapping[str, Sequence[str]]
    bags: Bags
    qrels: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    cutoff: int = UNJUDGED
    discount: str = "definition"
    inflected: bool = True
    clusters: Mapping[str, str] = field(default_factory=dict)  # of queries, where the data name them
    cuts_all: bool = False  # the cutoff is K of judged queries too

    def cut_at(self, cutoff: int | None) -> History:
        """Return the history with this K for every query, where one is given."""
        return self if cutoff is None else replace(self, cutoff=cutoff, cuts_all=True)

    @cached_property
    def wordings(self) -> Wordings:
        """The words that queries have in common."""
        return read_wordings((words, self.clusters.get(query)) for query, words in self.queries.items())

    def list_keys(self, lists: Lists) -> dict[str, np.ndarray]:
        """Return what queries with the same result list have in common."""
        known = self.bags.row_of
        return list_keys([[known[doc] for doc in listed if doc in known] for listed in self.cut(lists).values()])

    def ties(self, *systems: Lists) -> pl.DataFrame:
        """Return each query's cluster, and what runs across clusters, for the lists of these systems."""
        return tie(self.wordings, [keys for lists in systems for keys in self.list_keys(lists).values()])

    @cached_property
    def left_out(self) -> list[np.ndarray]:
        """For each query the columns of the words that are not counted in its documents."""
        reach = inflected if self.inflected else (lambda word: frozenset((word,)))
        return [self.bags.columns(set().union(*map(reach, words))) for words in self.queries.values()]

    def relevant(self, query: str) -> dict[str, int]:
        """Return the relevant documents of a query that the collection has, best first."""
        levels, there = self.qrels.get(query, {}).items(), self.bags.row_of
        return dict(sorted(((doc, n) for doc, n in levels if n > 0 and doc in there), key=lambda item: -item[1]))

    def depth(self, query: str) -> int:
        """Return K."""
        relevant = 0 if self.cuts_all else sum(level > 0 for level in self.qrels.get(query, {}).values())
        return relevant or self.cutoff

    def cut(self, lists: Lists) -> dict[str, list[str]]:
        """Return the top K of every query's list."""
        return {query: list(lists.get(query, ()))[: self.depth(query)] for query in self.queries}


def word_scores(space: WordSpace, direction: Direction, history: History) -> dict[str, float]:
    """Return the genderedness of all usable words of queries and documents that the vectors have."""
    new = {word for words in history.queries.values() for word in words} - history.bags.column_of.keys()
    words = list(filter(usable, (*history.bags.words, *sorted(new))))
    scores = score_words(space, direction, words)
    known = ~np.isnan(scores)
    return dict(zip(compress(words, known.tolist()), scores[known].tolist(), strict=True))


def lists_of(run: pl.DataFrame) -> dict[str, list[str]]:
    """Return each query's documents by rank, from a table with `query`, `doc` and `rank`."""
    ordered = run.sort("query", "rank").group_by("query", maintain_order=True).agg("doc")
    return dict(ordered.iter_rows())


def random_lists(history: History, seed: int | np.random.Generator = 0) -> dict[str, list[str]]:
    """Return K documents drawn without replacement for each query."""
    rng, names = np.random.default_rng(seed), history.bags.documents
    sizes = {query: min(history.depth(query), len(names)) for query in history.queries}
    return {query: [names[row] for row in rng.choice(len(names), n, replace=False)] for query, n in sizes.items()}


def score_history(history: History, lists: Lists, scores: Mapping[str, float], shared: bool = False) -> pl.DataFrame:
    """Return the columns of `SCORES` of every query and its list, cut at K."""
    return score_many(history, {"": (lists, shared)}, scores)[""]


def score_many(
    history: History, systems: Mapping[Key, tuple[Lists, bool]], scores: Mapping[str, float]
) -> dict[Key, pl.DataFrame]:
    """Return `score_history` of several systems; the documents are gone over once."""
    return score_by_rulers(history, {"": scores}, systems)[""]


def score_by_rulers(
    history: History, rulers: Mapping[str, Mapping[str, float]], systems: Mapping[Key, tuple[Lists, bool]]
) -> dict[str, dict[Key, pl.DataFrame]]:
    """Return the scored queries by ruler and system; `True` beside lists shares weights."""
    rows, ranks, discount, count = [], [], history.discount, len(systems)
    for lists, shared in systems.values():
        for query, listed in history.cut(lists).items():
            rows.append(history.bags.rows(listed))
            levels = history.qrels.get(query, {})
            grades = (levels.get(doc, 0) for doc in listed)
            ranks.append(shared_weights([*grades], discount) if shared else rank_weights(len(listed), discount))
    weights, sizes = (
        np.concatenate(ranks) if ranks else np.zeros(0),
        np.array([len(listed) for listed in rows], np.int64),
    )
    tables = {}
    for ruler, scores in rulers.items():
        by_column = np.fromiter(map(scores.get, history.bags.words, repeat(np.nan)), np.float64)
        documents = document_scores(rows, history.left_out * count, history.bags, by_column)
        of_lists = list_scores(documents, weights, sizes)
        unscored = np.bincount(np.repeat(np.arange(len(sizes)), sizes), np.isnan(documents), len(sizes))
        of_query, shape = query_scores(history.queries.values(), scores), (count, len(history.queries))
        parts = (numbers.reshape(shape) for numbers in (of_lists, sizes, unscored.astype(np.int64)))
        columns = zip(systems, *parts, strict=True)
        tables[ruler] = {name: _table(history, of_query, *of_system) for name, *of_system in columns}
    return tables


def _table(
    history: History, of_query: np.ndarray, of_list: np.ndarray, sizes: np.ndarray, unscored: np.ndarray
) -> pl.DataFrame:
    reasons = np.select(
        [np.isnan(of_query), sizes == 0, np.isnan(of_list)],
        ["no word of the query has a vector", "no result", "no scored word in the documents"],
        "",
    )
    columns = [list(history.queries), of_query, of_list, sizes, unscored, reasons]
    return pl.DataFrame(columns, schema=SCORES).with_columns(pl.col("query_score", "list_score").fill_nan(None))
