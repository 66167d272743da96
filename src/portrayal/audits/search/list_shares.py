"""Ranked lists of any number of queries, from a folder of Parquet files: what is a sum over a query's list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.search.gsr_of_run import ranked_study
from portrayal.audits.search.inputs import inputs, open_inputs, stimuli
from portrayal.audits.search.measure import FACETS
from portrayal.audits.search.measures.agreement import agreement
from portrayal.audits.search.measures.comparison import quality_rows, query_quality
from portrayal.audits.search.measures.coverage import coverage
from portrayal.audits.search.measures.history import score_history
from portrayal.audits.search.measures.mentions import Figures, mention_figures, mention_rows
from portrayal.audits.search.measures.reinforcement import reinforcement
from portrayal.audits.search.measures.scored_runs import ScoredRuns, merge_repeats, score_runs
from portrayal.batches import ROWS, Source, whole_units
from portrayal.runs.audit import Evidence
from portrayal.tables import RESPONSES, results
from portrayal.tables import ROWS as OF_KIND

LIST = ("system", "repeat", "stimulus")
COLUMNS = {**RESPONSES, **OF_KIND["ranker"]}
Asked = tuple[str, int]  # a system and a repeat


def list_shares(
    responses: Source,
    collection: Path | str,
    vectors: str = "glove",
    seed: int = 0,
    rows: int = ROWS,
    **settings: Any,
) -> pl.DataFrame:
    """Measure rankers on more results than memory holds: GSR, quality, exposure, ARaB and over-representation.

    Parameters
    ----------
    responses
        A folder of Parquet files, a lazy table or a table: system, stimulus (the query), repeat, status, doc, rank and score, one
        row per result. The rows of a list lie together.
    collection
        A folder or file of documents, queries and judgments, or a generated collection by name ("toy"); it is held in memory.
    vectors
        The measuring vectors, by name or path.
    seed
        Of the tests' sign flips.
    rows
        Read at a time; memory grows with it and with the number of queries, not with the lengths of lists.
    **settings
        Further settings of the search audit, such as `cutoff` or `quality`.

    Returns
    -------
    polars.DataFrame
        A Results table with the rows of a search audit that are sums over a query's list (docs/search.md lists them), the same as
        in memory: counts equal, floats within 1e-12.

    Raises
    ------
    PortrayalError
        When the rows of a list lie in two places, or a column is missing.

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
    study = ranked_study({"collection": str(collection), "vectors": [vectors], **settings}, seed)
    opened = open_inputs(inputs(study), study.settings)
    nothing = pl.DataFrame(schema=COLUMNS)
    whole = score_runs(Evidence(stimuli(study), nothing, opened, seed=seed), study.settings)
    found = _Found(whole)
    for batch in whole_units(responses, LIST, list(COLUMNS), rows):
        for key, part in batch.group_by("system", "repeat", maintain_order=True):
            found.add((str(key[0]), int(key[1])), part)
    return results(found.rows(), facets=FACETS, audit="search")


@dataclass
class _Found:
    """What is known of each query so far; `whole` has the history, the rulers and the reference systems, and no run."""

    whole: ScoredRuns
    tables: dict[str, dict[Asked, list[pl.DataFrame]]] = field(default_factory=dict)  # by ruler
    figures: dict[str, dict[str, tuple[np.ndarray, np.ndarray]]] = field(default_factory=dict)  # by query
    outcomes: dict[str, dict[str, str]] = field(default_factory=dict)
    quality: dict[str, list[pl.DataFrame]] = field(default_factory=dict)
    answered: dict[str, frozenset[str]] = field(default_factory=dict)
    unusable: dict[str, str] = field(default_factory=dict)

    def add(self, key: Asked, part: pl.DataFrame) -> None:
        """Add whole lists of one system and repeat."""
        scored = self._scored(part)
        self.unusable = {**scored.unusable, **self.unusable}
        for ruler, tables in scored.tables.items():
            own = self.tables.setdefault(ruler, {}).setdefault(key, [])
            own += [tables[key[0]]] if key[0] in tables else []
        for system in scored.runs:  # of the first repeat
            self.answered[system] = self.answered.get(system, frozenset()) | scored.answered[system]
            self.quality.setdefault(system, []).append(query_quality(scored, system))
        for system, known in mention_figures(scored):
            each = zip(scored.history.queries, known.shares, known.biases, strict=True)
            self.figures.setdefault(system, {}).update({query: (share, bias) for query, share, bias in each})
            self.outcomes.setdefault(system, {}).update(known.outcomes)

    def _scored(self, part: pl.DataFrame) -> ScoredRuns:
        """Score these lists alone: of the history only their queries and judgments are looked at."""
        whole, asked = self.whole, set(part["stimulus"])
        queries = {query: words for query, words in whole.history.queries.items() if query in asked}
        qrels = {query: levels for query, levels in whole.history.qrels.items() if query in asked}
        known = {
            "history": replace(whole.history, queries=queries, qrels=qrels),
            "texts": whole.texts,
            "mentions": whole.mentions,
        }
        return score_runs(Evidence(part, part, known, seed=whole.seed), whole.settings, whole.rulers)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield the rows of all lists together."""
        scored = self._joined()
        figures = {system: self._figures(system) for system in self.figures if system in scored.systems}
        qualities = {system: pl.concat(parts) for system, parts in self.quality.items()}
        parts = [reinforcement(scored), agreement(scored), mention_rows(scored, figures), coverage(scored)]
        for row in [row for part in parts for row in part.rows] + [
            row for system, table in qualities.items() if system in scored.systems
            for row in quality_rows(scored, system, self._ordered(table))
        ]:  # fmt: skip
            yield {name: value for name, value in row.items() if name != "influence"}

    def _joined(self) -> ScoredRuns:
        """Return all systems with the tables of all their queries."""
        systems = list(dict.fromkeys(name for tables in self.tables.values() for name, _ in tables))
        usable = [name for name in systems if name not in self.unusable]
        tables = {ruler: self._tables(ruler, usable) for ruler in self.whole.rulers}
        return replace(
            self.whole, systems=usable, unusable=self.unusable, notes=dict.fromkeys(usable, ""),
            answered=self.answered, tables=tables,
        )  # fmt: skip

    def _tables(self, ruler: str, usable: list[str]) -> Mapping[str, pl.DataFrame]:
        """Return the table of each system, queries that it has no list for among them, and of the reference systems."""
        silent = score_history(self.whole.history, {}, self.whole.rulers[ruler].scores)
        found = {
            key: silent.update(pl.concat(parts).drop("unit"), on="query", include_nulls=True)
            for key, parts in self.tables.get(ruler, {}).items()
            if key[0] in usable
        }
        return {**merge_repeats(found), **self.whole.tables[ruler]}

    def _figures(self, system: str) -> Figures:
        """Return a system's figures in the order of the history; nothing is known of a query without a list."""
        known, history = self.figures[system], self.whole.history
        widths = [len(part) for part in next(iter(known.values()))]
        nothing = tuple(np.full(width, np.nan) for width in widths)
        shares, biases = zip(*(known.get(query, nothing) for query in history.queries), strict=True)
        outcomes = {
            query: self.outcomes[system][query] for query in history.queries if query in self.outcomes[system]
        }
        return Figures(outcomes, np.array(shares), np.array(biases))

    def _ordered(self, table: pl.DataFrame) -> pl.DataFrame:
        """Return a system's quality in the order of the judgments, as in memory: sums of floats hang on it."""
        order = pl.DataFrame({"query": list(self.whole.history.qrels)}, schema={"query": pl.String})
        return order.join(table, on="query", maintain_order="left")
