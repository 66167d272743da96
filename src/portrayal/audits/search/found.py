"""What is found of each query while lists go by: columns of numbers on disk, from which the rows are made at the end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain, count, takewhile
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.search.measures.agreement import agreement_rows
from portrayal.audits.search.measures.asked import Asked, asked_of
from portrayal.audits.search.measures.comparison import quality_rows, query_quality
from portrayal.audits.search.measures.coverage import coverage
from portrayal.audits.search.measures.history import History
from portrayal.audits.search.measures.mentions import Figures, mention_figures, mention_rows
from portrayal.audits.search.measures.reinforcement import slope_rows
from portrayal.audits.search.measures.scored_runs import (
    REFERENCES,
    Ruler,
    ScoredQueries,
    ScoredRuns,
    reference_lists,
    score_lists,
    score_runs,
)
from portrayal.audits.search.settings import SearchSettings
from portrayal.edges.spill import Columns
from portrayal.study.audit import Evidence
from portrayal.text.collections.shelf import Shelf, Some

PIECE = 2_000  # queries whose reference lists are scored together
Repeat = tuple[str, int]  # a system and a repeat


@dataclass
class Found:
    """The figures so far; `history` has the documents and no query, for those are on the shelf."""

    settings: SearchSettings
    seed: int
    shelf: Shelf
    history: History
    rulers: Mapping[str, Ruler]
    mentions: Mapping[str, set[str]]
    columns: Columns
    repeats: dict[Repeat, None] = field(default_factory=dict)  # in the order they came
    unusable: dict[str, str] = field(default_factory=dict)

    def add_references(self, random: np.random.Generator) -> None:
        """Score the reference systems, some queries at a time: one generator draws the lists of all."""
        for some in self.shelf.pieces(PIECE):
            history = replace(self.history, queries=some.queries, qrels=some.qrels)
            asked, places = asked_of(history, self.mentions), _places(some, some.queries)
            self.columns.put(("judged",), places, asked.judged)
            self.columns.put(("gendered",), places, asked.gendered)
            tables = score_lists(history, reference_lists(history, random), self.rulers)
            for name in REFERENCES:
                self._put_scores(some, (name, 0), {ruler: tables[ruler][name] for ruler in tables})

    def add(self, key: Repeat, part: pl.DataFrame) -> None:
        """Add whole lists of one system and repeat."""
        some = self.shelf.some(part["stimulus"].unique())
        scored = self._scored(some, part)
        self.repeats[key] = None
        self.unusable = {**scored.unusable, **self.unusable}
        tables = {ruler: found[key[0]] for ruler, found in scored.tables.items() if key[0] in found}
        self._put_scores(some, key, tables)
        for system in scored.runs:  # of the first repeat
            self._put_quality(some, system, query_quality(scored, system))
        for system, known in mention_figures(scored):
            self._put_figures(some, system, known)

    def _scored(self, some: Some, part: pl.DataFrame) -> ScoredRuns:
        """Score these lists alone: of the history only their queries and judgments are looked at."""
        history = replace(self.history, queries=some.queries, qrels=some.qrels)
        known = {"history": history, "texts": {}, "mentions": self.mentions}
        return score_runs(Evidence(part, part, known, seed=self.seed), self.settings, self.rulers)

    def _put_scores(self, some: Some, key: Repeat, tables: Mapping[str, pl.DataFrame]) -> None:
        """Keep what the rulers say of lists; a query's own score is the same for every system."""
        places = _places(some, some.queries)
        for ruler, table in tables.items():
            self.columns.put(("query_score", ruler), places, _numbers(table["query_score"]))
            for name in ("list_score", "unscored"):
                self.columns.put((name, ruler, *key), places, _numbers(table[name]))

    def _put_quality(self, some: Some, system: str, table: pl.DataFrame) -> None:
        places = _places(some, table["query"])
        for name in self.settings.quality:
            self.columns.put((name, system), places, table[name].to_numpy())

    def _put_figures(self, some: Some, system: str, known: Figures) -> None:
        places = _places(some, some.queries)
        self.columns.put(("outcome", system), places, known.outcomes)
        for name, table in (("share", known.shares), ("bias", known.biases)):
            for number, values in enumerate(table.T):
                self.columns.put((name, system, number), places, values)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield the rows of all lists together."""
        scored = self._whole()
        figures = (mention_rows(scored, name, self._figures(name)) for name in self._mentioned(scored))
        quality = (quality_rows(scored, name, self._quality(name)) for name in self._first(scored))
        slopes = (row for row, _ in slope_rows(scored))
        others = chain(agreement_rows(scored), chain.from_iterable(figures), coverage(scored).rows)
        for row in chain(slopes, others, chain.from_iterable(quality)):
            yield {name: value for name, value in row.items() if name != "influence"}

    def _whole(self) -> ScoredQueries:
        """Return all systems with the tables of all their queries, each read when it is asked for."""
        judged, gendered = self._column("judged") > 0, self._column("gendered") > 0
        asked = Asked(self.shelf.units(), judged, gendered, self.shelf.words)
        systems = dict.fromkeys(name for name, _ in self.repeats)
        usable = [name for name in systems if name not in self.unusable]
        tables = {ruler: Tables(self, ruler, [*usable, *REFERENCES], asked.units) for ruler in self.rulers}
        return ScoredQueries(
            self.settings, asked, self.history.bags, self.mentions, self.rulers, self.unusable,
            dict.fromkeys(usable, ""), usable, tables, self.seed,
        )  # fmt: skip

    def _first(self, scored: ScoredQueries) -> list[str]:
        """Return the systems of which there is a first repeat: quality and mentions are those of its lists."""
        return [name for name in scored.systems if (name, 0) in self.repeats]

    def _mentioned(self, scored: ScoredQueries) -> list[str]:
        """Return those of them whose lists were looked at for mentions."""
        return [name for name in self._first(scored) if ("outcome", name) in self.columns]

    def _figures(self, system: str) -> Figures:
        """Return a system's figures in the order of the queries; nothing is known of one without a list."""
        outcomes = np.nan_to_num(self._column("outcome", system), nan=-1).astype(np.int8)
        shares = self._table("share", system)
        return Figures(outcomes, shares, self._table("bias", system))

    def _table(self, name: str, system: str) -> np.ndarray:
        """Return the columns of a figure beside one another."""
        numbers = takewhile(lambda number: (name, system, number) in self.columns, count())
        return np.column_stack([self._column(name, system, number) for number in numbers])

    def _quality(self, system: str) -> pl.DataFrame:
        """Return a system's quality in the order of the judgments, as in memory: sums of floats hang on it."""
        order = self.shelf.judged()
        table = {name: self.columns.get((name, system))[order] for name in self.settings.quality}
        return pl.DataFrame(table).fill_nan(None).drop_nulls()

    def _column(self, *name: Any) -> np.ndarray:
        """Return a column of the queries that are asked."""
        return self.columns.get(name)[: self.shelf.count]

    def scores(self, ruler: str, system: str) -> dict[str, np.ndarray]:
        """Return the columns of `score_history` that rows need of a system; its repeats are put together."""
        repeats = [number for name, number in self.repeats if name == system] or [0]
        lists, unscored = (
            [self._column(name, ruler, system, number) for number in repeats] for name in ("list_score", "unscored")
        )
        return {
            "query_score": self._column("query_score", ruler),
            "list_score": _mean(lists),
            "unscored": np.nansum(unscored, axis=0),
        }


class Tables(Mapping[str, pl.DataFrame]):
    """The tables of systems, each made when it is asked for and held by whoever asks."""

    def __init__(self, found: Found, ruler: str, systems: list[str], units: np.ndarray) -> None:
        self._found, self._ruler, self._systems, self._units = found, ruler, systems, units

    def __getitem__(self, system: str) -> pl.DataFrame:
        """Return a table in the order of the queries, which their numbers stand for."""
        columns = {"unit": self._units, **self._found.scores(self._ruler, system)}
        return pl.DataFrame(columns).fill_nan(None).with_row_index("query")

    def __iter__(self) -> Iterator[str]:
        return iter(self._systems)

    def __len__(self) -> int:
        return len(self._systems)


def _places(some: Some, names: Any) -> np.ndarray:
    return np.array([some.numbers[name] for name in names], np.int64)


def _numbers(column: pl.Series) -> np.ndarray:
    return column.cast(pl.Float64).fill_null(np.nan).to_numpy()


def _mean(columns: list[np.ndarray]) -> np.ndarray:
    """Return the mean over repeats; a query missing in one repeat is measured on the others."""
    if len(columns) == 1:
        return columns[0]
    table = np.vstack(columns)
    known = (~np.isnan(table)).sum(axis=0)
    return np.where(known > 0, np.nansum(table, axis=0) / np.maximum(known, 1), np.nan)
