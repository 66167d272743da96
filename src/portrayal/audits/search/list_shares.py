"""Ranked lists of any number of queries, measured from a folder of Parquet files.

Lists go by in parts. The numbers of each query (`PerQuery`) are put into columns on disk; rows are made of whole columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.search.inputs import (
    measuring_stop_words,
    measuring_words,
    mentions,
    open_spaces,
    read_bags,
    wanted_words,
)
from portrayal.audits.search.measure import FACETS, QUERY_MEASURES
from portrayal.audits.search.measures import scored_runs
from portrayal.audits.search.measures.clusters import LIST_KEYS, Wordings, read_wordings, tie
from portrayal.audits.search.measures.comparison import agreement_rows
from portrayal.audits.search.measures.coverage import coverage
from portrayal.audits.search.measures.history import History, lists_of
from portrayal.audits.search.measures.quality import QUALITY
from portrayal.audits.search.measures.reinforcement import slope_rows
from portrayal.audits.search.measures.scored_runs import (
    PERFECT,
    REFERENCES,
    PerQuery,
    Repeat,
    Row,
    Ruler,
    ScoredQueries,
)
from portrayal.audits.search.run_files import HERE, own_settings
from portrayal.audits.search.settings import SearchSettings
from portrayal.audits.search.stimuli import check_queries, open_collection, pole_pairs
from portrayal.tables import RESPONSES, results
from portrayal.tables import ROWS as OF_KIND
from portrayal.tables.batches import ROWS, Columns, Source, whole_units
from portrayal.text.collections.shelf import Shelf, Some, shelve

LIST = ("system", "repeat", "stimulus")
COLUMNS = {**RESPONSES, **OF_KIND["ranker"]}
FOLDER = "portrayal-lists-"  # how the name of the temporary folder begins
PIECE = 2_000  # queries whose reference lists are scored together


def list_shares(
    responses: Source, collection: Path | str, vectors: str = "glove", seed: int = 0, rows: int = ROWS, **settings: Any
) -> pl.DataFrame:
    """Measure rankers on more results than memory holds: GSR, quality, exposure, ARaB and over-representation.

    Parameters
    ----------
    responses, rows
        A folder of Parquet files, a lazy table or a table of which so many rows are read at a time: system, stimulus (the query),
        repeat, status, doc, rank and score, one row a result. The rows of a list lie together; else it is refused.
    collection, vectors, seed, **settings
        A path or a generated collection by name, whose documents are held in memory, queries and judgments in a temporary file;
        the measuring vectors; the seed of the tests' sign flips; further settings of the search audit, such as `cutoff`.

    Returns
    -------
    polars.DataFrame
        A Results table with the rows of a search audit that are sums over a query's list (docs/search_settings.md lists them), the same as
        in memory: counts equal, floats within 1e-12.

    Examples
    --------
    >>> import polars as pl
    >>> from portrayal import list_shares
    >>> from portrayal.text.collections.synthetic import reference_run, toy_collection
    >>> run = reference_run(toy_collection(), "stereotypical").rename({"query": "stimulus"})
    >>> answers = run.with_columns(system=pl.lit("s"), repeat=pl.lit(0, pl.Int64), status=pl.lit("answered"))
    >>> found = list_shares(answers, "toy").filter(measure="gsr", system="s")
    >>> found["value"].item() > 0.5, found["n"].item()
    (True, 20)
    """
    chosen = own_settings(collection, vectors, settings)
    opened = open_collection(chosen, HERE, in_memory=False)
    stop = measuring_stop_words(chosen.stop)
    with shelve(opened, partial(measuring_words, stop=stop)) as shelf, TemporaryDirectory(prefix=FOLDER) as folder:
        check_queries(opened, shelf.count)
        bags = read_bags(opened.documents(), stop)
        history = History({}, bags, discount=chosen.discount, inflected=chosen.inflected).cut_at(chosen.cutoff)
        # A ruler looks at the words that are asked, whichever query has them.
        every = History({"": list(shelf.words)}, bags)
        spaces = open_spaces(chosen, HERE, wanted_words(every, chosen))
        rulers = scored_runs.make_rulers(spaces, pole_pairs(chosen), chosen.direction, every)
        columns = Columns(Path(folder), len(shelf))
        lists = Lists(chosen, seed, shelf, history, rulers, mentions(chosen), columns)
        lists.add_references(np.random.default_rng(seed))
        for batch in whole_units(responses, LIST, list(COLUMNS), rows):
            for key, part in batch.group_by("system", "repeat", maintain_order=True):
                lists.add((str(key[0]), int(key[1])), part)
        return results(lists.rows(), facets=FACETS, audit="search")


@dataclass
class Lists:
    """The numbers so far; `history` has the documents, the shelf the queries."""

    settings: SearchSettings
    seed: int
    shelf: Shelf
    history: History
    rulers: Mapping[str, Ruler]
    mentions: Mapping[str, set[str]]
    columns: Columns
    repeats: dict[Repeat, None] = field(default_factory=dict)  # in the order they came
    unusable: dict[str, str] = field(default_factory=dict)
    unknown: dict[str, scored_runs.Unknown] = field(default_factory=dict)
    measured: dict[tuple[str, str], list[str]] = field(default_factory=dict)  # measure and system to its columns

    def add_references(self, random: np.random.Generator) -> None:
        """Score the reference systems, some queries at a time with one generator."""
        for some in self.shelf.pieces(PIECE):
            history = replace(self.history, queries=some.queries, qrels=some.qrels)
            queries, places = scored_runs.queries_of(history, self.mentions, self.settings), _places(some, some.queries)
            self.columns.put(("judged",), places, queries.judged)
            self.columns.put(("gendered",), places, queries.gendered)
            references = scored_runs.reference_lists(history, random)
            tables = scored_runs.score_lists(history, references, self.rulers)
            self._put_keys(some, PERFECT, history.list_keys(references[PERFECT, 0][0]))
            for name in REFERENCES:
                self._put_scores(some, (name, 0), {ruler: tables[ruler][name] for ruler in tables})

    def add(self, key: Repeat, part: pl.DataFrame) -> None:
        """Add whole lists of one system and repeat, scored by themselves."""
        some = self.shelf.some(part["stimulus"].unique())
        history = replace(self.history, queries=some.queries, qrels=some.qrels)
        further = {"seed": self.seed, "mentions": self.mentions, "references": (), "most_unknown": 1.0}
        scored = scored_runs.score_answers(part, history, self.rulers, self.settings, **further)
        self.repeats[key] = None
        self.unusable = {**scored.unusable, **self.unusable}
        self.unknown[key[0]] = self.unknown.get(key[0], scored_runs.Unknown()).plus(scored.unknown[key[0]])
        tables = {ruler: of_systems[key[0]] for ruler, of_systems in scored.tables.items() if key[0] in of_systems}
        self._put_scores(some, key, tables)
        for system, run in scored.runs.items():  # of the first repeat
            self._put_keys(some, system, history.list_keys(lists_of(run)))
            for measure in (*QUERY_MEASURES, QUALITY):
                if measure.applies(scored):
                    table = measure.per_query(scored, system)
                    places = _places(some, table["query"])
                    numbers = table.drop("query")
                    self.measured[measure.name, system] = numbers.columns
                    for name in numbers.columns:
                        self.columns.put((measure.name, system, name), places, numbers[name].to_numpy())

    def _put_keys(self, some: Some, system: str, keys: Mapping[str, np.ndarray]) -> None:
        """Keep what ties queries of the same list."""
        for name, numbers in keys.items():
            self.columns.put((name, system), _places(some, some.queries), numbers)

    def _put_scores(self, some: Some, key: Repeat, tables: Mapping[str, pl.DataFrame]) -> None:
        """Keep the scores of lists and queries by each ruler."""
        places = _places(some, some.queries)
        for ruler, table in tables.items():
            for name, own in (("query_score", ()), ("list_score", key), ("unscored", key)):
                numbers = table[name].cast(pl.Float64).fill_null(np.nan).to_numpy()
                self.columns.put((name, ruler, *own), places, numbers)

    def rows(self) -> Iterator[Row]:
        """Yield the rows of all lists together."""
        scored = self._whole()
        slopes = (row for row, _ in slope_rows(scored))
        others = self._measured(scored, QUERY_MEASURES), coverage(scored).rows, self._measured(scored, [QUALITY])
        for row in chain(slopes, agreement_rows(scored), *others):
            yield {name: value for name, value in row.items() if name != "influence"}

    def _whole(self) -> ScoredQueries:
        """Return all systems with lazily read tables of all their queries."""
        judged, gendered = self._column("judged") > 0, self._column("gendered") > 0
        queries = scored_runs.Queries(judged, gendered, self.shelf.words)
        unknown = {name: unknown.fault() for name, unknown in self.unknown.items()}
        self.unusable = {**{name: fault for name, fault in unknown.items() if fault}, **self.unusable}
        usable = [name for name in dict.fromkeys(name for name, _ in self.repeats) if name not in self.unusable]
        notes = {name: self.unknown[name].note() for name in usable}
        wordings = read_wordings(self.shelf.wordings())
        tables = {ruler: Tables(self, ruler, [*usable, *REFERENCES], wordings) for ruler in self.rulers}
        return ScoredQueries(
            self.settings, queries, self.history.bags, self.mentions, self.rulers, self.unusable, notes, usable, tables,
            self.seed,
        )  # fmt: skip

    def _measured(self, scored: ScoredQueries, measures: Sequence[PerQuery]) -> Iterator[Row]:
        """Yield the rows of measures of systems with a first repeat."""
        for system in scored.systems:
            for measure in measures:
                names = self.measured.get((measure.name, system))
                if names:
                    end = None if measure.judged else self.shelf.count
                    columns = {name: self.columns.get((measure.name, system, name))[:end] for name in names}
                    yield from measure.rows(scored, system, pl.DataFrame(columns))

    def _column(self, *name: Any) -> np.ndarray:
        """Return a column of the queries that are asked."""
        return self.columns.get(name)[: self.shelf.count]

    def keys(self, system: str) -> list[np.ndarray]:
        """Return what ties queries of the same list."""
        systems = [PERFECT, *([system] if system not in REFERENCES else [])]
        return [self._column(name, one) for one in systems for name in LIST_KEYS]

    def scores(self, ruler: str, system: str) -> dict[str, np.ndarray]:
        """Return a system's columns of `score_history`, its repeats put together."""
        repeats = [number for name, number in self.repeats if name == system] or [0]
        lists, unscored = (
            np.vstack([self._column(name, ruler, system, number) for number in repeats])
            for name in ("list_score", "unscored")
        )
        means = lists[0]
        if len(repeats) > 1:
            known = (~np.isnan(lists)).sum(axis=0)  # repeats that have a query
            means = np.where(known > 0, np.nansum(lists, axis=0) / np.maximum(known, 1), np.nan)
        return {
            "query_score": self._column("query_score", ruler),
            "list_score": means,
            "unscored": np.nansum(unscored, axis=0),
        }


class Tables(Mapping[str, pl.DataFrame]):
    """Lazily read tables of systems, held by the caller alone."""

    def __init__(self, lists: Lists, ruler: str, systems: list[str], wordings: Wordings) -> None:
        self._lists, self._ruler, self._systems, self._wordings = lists, ruler, systems, wordings

    def __getitem__(self, system: str) -> pl.DataFrame:
        """Return a table in the order of the queries, which their numbers stand for."""
        scores = pl.DataFrame(self._lists.scores(self._ruler, system)).fill_nan(None).with_row_index("query")
        return scores.hstack(tie(self._wordings, self._lists.keys(system)))

    def __iter__(self) -> Iterator[str]:
        return iter(self._systems)

    def __len__(self) -> int:
        return len(self._systems)


def _places(some: Some, names: Any) -> np.ndarray:
    return np.array([some.numbers[name] for name in names], np.int64)
