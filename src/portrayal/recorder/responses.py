"""Answers that are read: their outcomes, and the Responses table of every question.

The recorder asks for the outcome of every answer it has stored, so that the ledger's states tell it; the Responses table asks again of
the same bytes. Ledgers that were written before this was asked, or by a process that died between storing and reading, are put right
when the run is next recorded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from portrayal.errors import PortrayalError
from portrayal.recorder.ledger import Entry, Ledger
from portrayal.recorder.storable import short_text
from portrayal.systems.core.base import BROKEN, Answer, Refused, Unreadable
from portrayal.systems.core.readers import read_rows
from portrayal.tables import RESPONSES, ROWS, check_responses

READING = 2  # raise it when the same bytes come to another outcome: ledgers are then read again
LONGEST_REASON = 300  # characters; the whole answer stays in the ledger

# The state of the ledger that follows from what an answer came to. An answer without content is an answer.
STATE_OF_STATUS = {"answered": "done", "empty": "done", "refused": "refused", "unparsable": "unreadable"}


@dataclass(frozen=True)
class Outcome:
    """Status, the reason where there is no usable answer, and rows."""

    status: str
    reason: str | None = None
    rows: list[dict[str, Any]] = field(default_factory=list)

    @property
    def state(self) -> str:
        """The state of the ledger that this is."""
        return STATE_OF_STATUS[self.status]


def read_outcome(reader: str, answer: Answer, kind: str, parameters: Mapping[str, Any]) -> Outcome:
    """Read a raw answer.

    Returns
    -------
    Outcome
        With status answered, empty, refused (with the words as reason) or unparsable (with what is wrong).
    """
    if answer.refused:
        return Outcome("refused")
    if answer.media.startswith(BROKEN):
        return Outcome("unparsable", f"the answer cannot be read: {answer.media.removeprefix(BROKEN)}")
    try:
        rows = read_rows(reader, answer, kind, parameters)
    except Refused as refusal:
        return Outcome("refused", short_text(refusal, LONGEST_REASON))
    except Unreadable as error:
        return Outcome("unparsable", short_text(error, LONGEST_REASON))
    except PortrayalError:
        raise
    except Exception as error:  # a reader that breaks must not cost the answers it was not written for
        words = f"the reader {reader!r} failed: {type(error).__name__} {short_text(error)}"
        return Outcome("unparsable", short_text(words, LONGEST_REASON))
    return Outcome("answered" if rows else "empty", None, rows)


def put_right(ledger: Ledger) -> None:
    """Read again what earlier versions, or a process that died, left without being read."""
    if not is_read(ledger) or ledger.was_killed():
        ledger.restate(
            [
                (entry.key, outcome.state, outcome.reason)
                for entry, outcome in _read(ledger)
                if (outcome.state, outcome.reason) != (entry.state, entry.error)
            ]
        )
        ledger.put_fact("reading", READING)


def is_read(ledger: Ledger) -> bool:
    """Return True where the ledger's states follow this version's reading."""
    return ledger.fact("reading") == READING


def counts(ledger: Ledger) -> dict[str, dict[str, int]]:
    """Return the number of questions in each state by system, unread answers read."""
    table = ledger.counts()
    for entry, outcome in () if is_read(ledger) else _read(ledger):
        table[entry.system][entry.state] -= 1
        table[entry.system][outcome.state] += 1
    return table


def _read(ledger: Ledger) -> Iterator[tuple[Entry, Outcome]]:
    """Yield the answers whose state follows from reading them."""
    for entry in ledger.entries():
        read_before = entry.state in ("done", "unreadable") or (entry.state == "refused" and entry.error)
        if entry.answer is None or not read_before:
            continue
        try:
            yield entry, outcome_of(entry)
        except PortrayalError:  # its reader is not installed here: the state stays as it was
            continue


def find_unreadable(ledger: Ledger) -> None:
    """Mark answers unreadable that were damaged or have vectors of another width."""
    ledger.find_damaged()
    widths = {
        entry.key: (entry.system, len(outcome.rows[0]["embedding"]))
        for entry, outcome in _read(ledger)
        if entry.kind == "encoder" and outcome.status == "answered"
    }
    usual = usual_widths(widths.values())
    ledger.restate(
        (key, "unreadable", f"a vector of {width} numbers, where most have {usual[system]}")
        for key, (system, width) in widths.items()
        if width != usual.get(system, width)
    )


def usual_widths(widths: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Return the width that more than half of a system's vectors have, if any."""
    seen: dict[str, Counter[int]] = {}
    for system, width in widths:
        seen.setdefault(system, Counter())[width] += 1
    commonest = {system: counts.most_common(1)[0] for system, counts in seen.items()}
    return {system: w for system, (w, count) in commonest.items() if 2 * count > seen[system].total()}


def outcome_of(entry: Entry) -> Outcome:
    """Read an entry's answer as if no one had read it before."""
    answer = entry.answer or Answer(b"")
    unread = Answer(answer.raw, answer.media, answer.version, answer.cost)
    return read_outcome(entry.reader, unread, entry.kind, entry.parameters)


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
        status, reason, rows = read_entry(entry)
        for column, name in zip(self.columns, ROWS[self.kind], strict=True):
            column.extend([row.get(name) for row in rows])
        self.questions.append((entry.system, entry.hash, entry.repeat, status, reason, len(rows)))
        self.size += 1 + (sum(len(row["embedding"]) for row in rows) if self.kind == "encoder" else len(rows))

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
