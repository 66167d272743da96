"""The answers as ranked lists, scored once for each set of measuring vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.search.measures.asked import Asked, asked_of
from portrayal.audits.search.measures.bags import Bags
from portrayal.audits.search.measures.history import History, Lists, lay_out, lists_of, random_lists, score_laid
from portrayal.audits.search.measures.perfect_system import perfect_lists
from portrayal.audits.search.measures.scores import word_scores
from portrayal.audits.search.settings import SearchSettings
from portrayal.engine import current_engine, engine_map
from portrayal.errors import PortrayalError
from portrayal.study.audit import Evidence
from portrayal.tables import ANSWERED, check_responses
from portrayal.text.vectors.direction import Direction, find_direction
from portrayal.text.vectors.space import WordSpace

PERFECT, RANDOM = "perfect", "random"
REFERENCES = (PERFECT, RANDOM)
INSTRUMENT = "instrument"  # the system column of rows that are about the ruler, not about a ranker

Laid = tuple[Lists, bool]  # lists, and whether documents of equal relevance share the weight of their ranks

SAME_RANK = "its list for query {!r} has rank {} twice, so its order is not known"
STRANGE = "its list for query {!r} names document {!r}, which the collection does not have"
REPEATED = "{} of its lists name a document twice (first: {!r} for query {!r}); the first place counts"


@dataclass(frozen=True)
class PartialResult:
    """What one part of the measure adds: result rows, tables for charts, warnings."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    tables: dict[str, pl.DataFrame] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Ruler:
    """One set of measuring vectors: its direction and the score of every word of the history."""

    name: str
    space: WordSpace
    direction: Direction
    scores: Mapping[str, float]


@dataclass(frozen=True, eq=False)
class ScoredQueries:
    """Every query's list scored with every ruler: what rows over queries are made of, whether lists are held or not."""

    settings: SearchSettings
    asked: Asked
    bags: Bags
    mentions: Mapping[str, set[str]]
    rulers: Mapping[str, Ruler]
    unusable: Mapping[str, str]  # systems whose lists cannot be read as rankings, with the reason
    notes: Mapping[str, str]  # of the others, what had to be mended in their lists
    systems: list[str]  # these others, as the study names them
    # Ruler to system to `score_history` table, references included; all have the same queries in the same order.
    tables: Mapping[str, Mapping[str, pl.DataFrame]]
    seed: int

    @property
    def judged(self) -> bool:
        """Whether any query has a relevant document, so that there is a perfect system."""
        return bool(self.asked.judged.any())

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
    """The ranked lists of every system beside their scores: what all parts of the measure work on."""

    history: History
    texts: Mapping[str, str]
    runs: Mapping[str, pl.DataFrame]  # query, doc, rank, score of the first repeat
    # The queries a system answered; an empty list is an answer, a failure is none.
    answered: Mapping[str, frozenset[str]]

    def cut(self, system: str) -> dict[str, list[str]]:
        """Return a system's lists, or the perfect system's, cut at K."""
        return self._cuts[system]

    @cached_property
    def _cuts(self) -> dict[str, dict[str, list[str]]]:
        lists = {PERFECT: perfect_lists(self.history)} | {name: lists_of(run) for name, run in self.runs.items()}
        return {name: self.history.cut(found) for name, found in lists.items()}


def score_runs(evidence: Evidence, settings: SearchSettings, rulers: Mapping[str, Ruler] | None = None) -> ScoredRuns:
    """Score the answers of every system with every set of measuring vectors.

    `rulers` are those known already, of whoever measures answers in parts: the reference systems are then left to them too.
    """
    history: History = evidence.inputs["history"]
    answers = _runs(evidence.responses)
    faults = {system: _fault(run, history) for (system, _), run in answers.items()}
    unusable = {system: fault for system, fault in faults.items() if fault}
    runs = {key: _once(run) for key, run in answers.items() if key[0] not in unusable}
    systems = list(dict.fromkeys(name for name, _ in runs))
    lists: dict[tuple[str, int], Laid] = {key: (lists_of(run), False) for key, run in runs.items()}
    if rulers is None:
        rulers = make_rulers(evidence.inputs["spaces"], evidence.inputs["pairs"], settings.direction, history)
        lists |= reference_lists(history, evidence.seed)
    tables = score_lists(history, lists, rulers)
    first = {name: runs[name, 0] for name in systems if (name, 0) in runs}
    texts, mentions = evidence.inputs["texts"], evidence.inputs["mentions"]
    answered = {name: _answered(evidence.responses, name) for name in first}
    notes = {name: _repeated(run for key, run in answers.items() if key[0] == name) for name in systems}
    asked = asked_of(history, mentions)
    return ScoredRuns(
        settings, asked, history.bags, mentions, rulers, unusable, notes, systems, tables, evidence.seed,
        history, texts, first, answered,
    )  # fmt: skip


def check_system_names(names: Iterable[str]) -> None:
    """Refuse systems named like the reference systems, whose rows they would be mixed up with."""
    for name in names:
        if name in (*REFERENCES, INSTRUMENT):
            raise PortrayalError(
                f"a system is named {name!r}, which this audit calls its own reference. Give the system another name."
            )


def make_ruler(space: WordSpace, pairs: Any, method: str, history: History, name: str = "") -> Ruler:
    """Find the direction and score the history's words; `name` is what the study calls the vectors."""
    direction = find_direction(space, pairs, method)
    return Ruler(name or space.name, space, direction, word_scores(space, direction, history))


def make_rulers(spaces: Mapping[str, WordSpace], pairs: Any, method: str, history: History) -> dict[str, Ruler]:
    """Make a ruler of each set of measuring vectors."""
    return {name: make_ruler(space, pairs, method, history, name) for name, space in spaces.items()}


def with_options(history: History, discount: str, inflected: bool) -> History:
    """Return the history measured another way."""
    return replace(history, discount=discount, inflected=inflected)


def _runs(responses: pl.DataFrame) -> dict[tuple[str, int], pl.DataFrame]:
    """Return the run of each system and repeat: query, doc, rank, score."""
    check_system_names(responses["system"].unique().to_list() if "system" in responses.columns else [])
    frame = check_responses(responses, "ranker", "A search audit needs one row per result; see docs/search.md.")
    runs = {}
    for (system, repeat), part in frame.group_by("system", "repeat", maintain_order=True):
        answered = part.filter(pl.col("status") == "answered", pl.col("doc").is_not_null())
        runs[str(system), int(repeat)] = answered.select(pl.col("stimulus").alias("query"), "doc", "rank", "score")
    return runs


def _fault(run: pl.DataFrame, history: History) -> str:
    """Say what keeps a run from being read as rankings; nothing when it can be."""
    twice = run.filter(pl.struct("query", "rank").is_duplicated())
    if not twice.is_empty():
        return SAME_RANK.format(*twice.select("query", "rank").row(0))
    strange = run.filter(~pl.col("doc").is_in(list(history.bags.documents)))
    return STRANGE.format(*strange.select("query", "doc").row(0)) if not strange.is_empty() else ""


def _once(run: pl.DataFrame) -> pl.DataFrame:
    """Return a run with each document of a list at its first place; those below move up when the list is cut."""
    return run.sort("query", "rank", maintain_order=True).unique(["query", "doc"], keep="first", maintain_order=True)


def _repeated(runs: Iterable[pl.DataFrame]) -> str:
    """Say how many lists of a system name a document twice; nothing when none does."""
    twice = pl.concat([run.filter(pl.struct("query", "doc").is_duplicated()) for run in runs])
    if twice.is_empty():
        return ""
    query, doc = twice.select("query", "doc").row(0)
    return REPEATED.format(twice["query"].n_unique(), doc, query)


def _answered(responses: pl.DataFrame, system: str) -> frozenset[str]:
    """Return the queries whose first asking was answered, with a list or with an empty one."""
    said = pl.col("status").is_in(ANSWERED)
    return frozenset(responses.filter(said, system=system, repeat=0)["stimulus"])


def reference_lists(history: History, seed: int | np.random.Generator) -> dict[tuple[str, int], Laid]:
    """Return the lists of the reference systems; a generator goes on where it is, for a history that comes in pieces."""
    return {(PERFECT, 0): (perfect_lists(history), True), (RANDOM, 0): (random_lists(history, seed), False)}


def score_lists(
    history: History, lists: Mapping[tuple[str, int], Laid], rulers: Mapping[str, Ruler]
) -> dict[str, dict[str, pl.DataFrame]]:
    """Score all lists with every ruler; a query's list score is the mean over repeats."""
    scores = {name: ruler.scores for name, ruler in rulers.items()}
    # In this process all systems go over the documents together; workers take one system each.
    systems = [{key: lists[key]} for key in lists] if current_engine().named else [lists]
    found = list(engine_map(partial(_scorer, history, scores), systems, "system's list"))
    return {
        name: _merge_repeats({key: table for some in found for key, table in some[name].items()}) for name in rulers
    }


def _scorer(
    history: History, scores: Mapping[str, Mapping[str, float]]
) -> Callable[[Mapping[tuple[str, int], Laid]], dict[str, dict[tuple[str, int], pl.DataFrame]]]:
    """Return what scores systems' lists with every ruler: ruler to system and repeat to table."""

    def scored(systems: Mapping[tuple[str, int], Laid]) -> dict[str, dict[tuple[str, int], pl.DataFrame]]:
        laid = lay_out(history, systems)
        return {name: score_laid(laid, of_words) for name, of_words in scores.items()}

    return scored


def _merge_repeats(tables: Mapping[tuple[str, int], pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """Put the repeats of each system together."""
    merged: dict[str, list[pl.DataFrame]] = {}
    for (name, _), table in tables.items():
        merged.setdefault(name, []).append(table)
    return {name: _mean(parts) for name, parts in merged.items()}


def _mean(parts: list[pl.DataFrame]) -> pl.DataFrame:
    """Return the mean list score over repeats; a query missing in one repeat is measured on the others."""
    if len(parts) == 1:
        return parts[0]
    means = (
        pl.concat(parts)
        .group_by("query", maintain_order=True)
        .agg(
            pl.col("unit", "query_score").first(),
            pl.col("list_score").mean(),
            pl.col("documents").sum(),
            pl.col("unscored").sum(),
            pl.col("reason").max(),
        )
    )
    return means.with_columns(
        pl.when(pl.col("list_score").is_null()).then("reason").otherwise(pl.lit("")).alias("reason")
    )
