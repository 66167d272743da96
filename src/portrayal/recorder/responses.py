"""The Responses table, read from the ledger: every question gives at least one row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from portrayal.recorder.ledger import Entry
from portrayal.recorder.outcomes import outcome_of, usual_widths
from portrayal.systems.core.base import BROKEN
from portrayal.systems.core.quick import Columns, quick_columns
from portrayal.tables import RESPONSES, ROWS, check_responses

PART = 200_000  # rows, or numbers of vectors, held as Python objects
# What a state of the ledger means for a reader of responses.
STATUS_OF_STATE = {
    "planned": "planned",
    "in_flight": "unknown",
    "failed": "failed",
    "refused": "refused",
    "unknown": "unknown",
}
QUESTIONS = {
    "system": pl.String,
    "hash": pl.String,
    "repeat": pl.Int64,
    "status": pl.String,
    "reason": pl.String,
    "rows": pl.Int64,  # how many its answer has
}


@dataclass(frozen=True)
class Answers:
    """Questions with the place of each answer's `first` row; the last row is null."""

    questions: pl.DataFrame
    rows: pl.DataFrame


@dataclass
class _Part:
    """Some questions and their rows, not yet in tables."""

    kind: str
    questions: list[tuple[Any, ...]] = field(default_factory=list)
    columns: list[list[Any]] = field(default_factory=list)
    size: int = 0

    def __post_init__(self) -> None:
        self.columns = [[] for _ in ROWS[self.kind]]

    def add(self, entry: Entry) -> None:
        status, reason, columns = _read(entry, self.kind)
        for column, values in zip(self.columns, columns, strict=True):
            column.extend(values)
        count = len(columns[0])
        self.questions.append((entry.system, entry.hash, entry.repeat, status, reason, count))
        self.size += 1 + (sum(map(len, columns[0])) if self.kind == "encoder" else count)

    def frames(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Return the questions and their rows as tables."""
        schema = ROWS[self.kind]
        rows = pl.DataFrame(
            [_series(name, values, schema[name]) for name, values in zip(schema, self.columns, strict=True)]
        )
        return pl.DataFrame(self.questions, QUESTIONS, orient="row"), rows


def gather(entries: Iterable[Entry], kind: str) -> Answers:
    """Read every answer of systems of this kind."""
    part, parts = _Part(kind), []
    for entry in entries:
        part.add(entry)
        if part.size >= PART:
            parts.append(part.frames())
            part = _Part(kind)
    questions, rows = zip(*parts, part.frames(), strict=True)
    first = pl.col("rows").cum_sum() - pl.col("rows")
    nothing = pl.DataFrame({name: [None] for name in ROWS[kind]}, schema=dict(ROWS[kind]))
    return Answers(pl.concat(questions).with_columns(first=first), pl.concat([*rows, nothing], rechunk=True))


def read_entry(entry: Entry) -> tuple[str, str | None, list[dict[str, Any]]]:
    """Return status, reason and rows of one question."""
    if entry.answer is None or entry.state == "refused":
        return STATUS_OF_STATE[entry.state], entry.error, []
    outcome = outcome_of(entry)
    return outcome.status, outcome.reason, outcome.rows


def _read(entry: Entry, kind: str) -> tuple[str, str | None, Columns]:
    """Return status, reason and columns of a question, by the short way if possible."""
    answer = entry.answer
    if answer is not None and entry.state != "refused" and entry.kind == kind and not answer.media.startswith(BROKEN):
        columns = quick_columns(entry.reader, kind, answer.raw)
        if columns is not None:
            return "answered", None, columns
    status, reason, rows = read_entry(entry)
    return status, reason, [[row.get(name) for row in rows] for name in ROWS[kind]]


def _series(name: str, values: Sequence[Any], kind: Any) -> pl.Series:
    """Make a column; vectors are laid end to end first, ten times as fast."""
    if kind != pl.List(pl.Float64) or not values:
        return pl.Series(name, values, kind)
    flat = pl.DataFrame({"at": np.repeat(np.arange(len(values)), list(map(len, values))), name: np.concatenate(values)})
    return flat.group_by("at", maintain_order=True).agg(name)[name].cast(kind)


def read_responses(entries: Iterable[Entry], stimuli: pl.DataFrame, kind: str) -> pl.DataFrame:
    """Read every raw answer into rows; no system is opened.

    Returns
    -------
    polars.DataFrame
        Columns of `RESPONSES`, those of the kind, and `reason` for questions without a usable answer.
    """
    answers = gather(entries, kind)
    table = _spread(answers, stimuli)
    if kind == "encoder":
        table = _of_one_width(table)
    return check_responses(table, kind)


def _spread(answers: Answers, stimuli: pl.DataFrame) -> pl.DataFrame:
    """Give every stimulus the rows of its content's answer, or one row without any."""
    questions = (
        answers.questions.join(stimuli.select("hash", "stimulus"), on="hash", maintain_order="left_right")
        .sort("system", "stimulus", "repeat", maintain_order=True)
        .with_columns(pl.max_horizontal("rows", 1).alias("here"))
    )
    here = questions["here"].to_numpy()
    first = np.where(questions["rows"].to_numpy() > 0, questions["first"].to_numpy(), answers.rows.height - 1)
    within = np.arange(here.sum()) - np.repeat(here.cumsum() - here, here)
    about = questions.select(*RESPONSES, "reason")[np.repeat(np.arange(len(here)), here)]
    rows = answers.rows[np.repeat(first, here) + within]
    return about.hstack(rows).select(*RESPONSES, *rows.columns, "reason")


def _of_one_width(table: pl.DataFrame) -> pl.DataFrame:
    """Mark vectors unreadable that are not as wide as most of their system's."""
    vectors = table.filter(pl.col("status") == "answered").with_columns(width=pl.col("embedding").list.len())
    usual = usual_widths(vectors.select("system", "width").iter_rows())
    expected = pl.col("system").replace_strict(usual, default=None, return_dtype=pl.UInt32)
    odd = (pl.col("status") == "answered") & (pl.col("embedding").list.len() != expected)
    words = pl.format("a vector of {} numbers, where most have {}", pl.col("embedding").list.len(), expected)
    return table.with_columns(
        status=pl.when(odd).then(pl.lit("unparsable")).otherwise("status"),
        reason=pl.when(odd).then(words).otherwise("reason"),
        embedding=pl.when(odd).then(None).otherwise("embedding"),
    )
