"""Answers that are read: their outcomes, and the Responses table of every question.

The recorder reads each answer once it is stored, so that the ledger has its state; ledgers of earlier versions, and of processes that
died between storing and reading, are put right when the run is next recorded.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from portrayal.errors import PortrayalError
from portrayal.recorder.ledger import Entry, Ledger, short_text
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
    """Read a raw answer: answered, empty, refused (with its words) or unparsable (with the reason)."""
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
    waves = ledger.waves()
    if not is_read(ledger) or (waves and waves[-1]["ended"] is None):
        outcomes = [(entry.key, *each) for entry, outcome in _read(ledger)
                    if (each := (outcome.state, outcome.reason)) != (entry.state, entry.error)]  # fmt: skip
        ledger.restate(outcomes)
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
TEXT = dict.fromkeys(("system", "hash", "status", "reason"), pl.String)
QUESTIONS = {"system": pl.String, "hash": pl.String, "repeat": pl.Int64, **TEXT, "rows": pl.Int64}  # its answer has


class _Part:
    """Some questions and their rows, not yet in tables."""

    def __init__(self, kind: str) -> None:
        self.kind, self.size = kind, 0
        self.questions: list[tuple[Any, ...]] = []
        self.columns: list[list[Any]] = [[] for _ in ROWS[kind]]

    def add(self, entry: Entry) -> None:
        status, reason, rows = read_entry(entry)
        for column, name in zip(self.columns, ROWS[self.kind], strict=True):
            column.extend([row.get(name) for row in rows])
        self.questions.append((entry.system, entry.hash, entry.repeat, status, reason, len(rows)))
        self.size += 1 + (sum(len(row["embedding"]) for row in rows) if self.kind == "encoder" else len(rows))

    def frames(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Return the questions and their rows as tables."""
        columns = zip(ROWS[self.kind].items(), self.columns, strict=True)
        rows = pl.DataFrame([_series(name, values, kind) for (name, kind), values in columns])
        return pl.DataFrame(self.questions, QUESTIONS, orient="row"), rows


def read_entry(entry: Entry) -> tuple[str, str | None, list[dict[str, Any]]]:
    """Return status, reason and rows of one question."""
    if entry.answer is None or entry.state == "refused":
        return "unknown" if entry.state == "in_flight" else entry.state, entry.error, []
    outcome = outcome_of(entry)
    return outcome.status, outcome.reason, outcome.rows


def _series(name: str, values: Sequence[Any], kind: Any) -> pl.Series:
    """Make a column; vectors are laid end to end first, ten times as fast."""
    if kind != pl.List(pl.Float64) or not values:
        return pl.Series(name, values, kind)
    flat = pl.DataFrame({"at": np.repeat(np.arange(len(values)), list(map(len, values))), name: np.concatenate(values)})
    return flat.group_by("at", maintain_order=True).agg(name)[name].cast(kind)


def read_responses(entries: Iterable[Entry], stimuli: pl.DataFrame, kind: str) -> pl.DataFrame:
    """Read every raw answer into rows; no system is opened."""
    part, parts = _Part(kind), []
    for entry in entries:
        part.add(entry)
        if part.size >= PART:
            parts.append(part.frames())
            part = _Part(kind)
    question_parts, answers = zip(*parts, part.frames(), strict=True)
    nothing = pl.DataFrame({name: [None] for name in ROWS[kind]}, schema=dict(ROWS[kind]))
    rows = pl.concat([*answers, nothing], rechunk=True)  # the last row is for questions without any
    questions = (
        pl.concat(question_parts)
        .with_columns(first=pl.col("rows").cum_sum() - pl.col("rows"), here=pl.max_horizontal("rows", 1))
        .join(stimuli.select("hash", "stimulus"), on="hash", maintain_order="left_right")
        .sort("system", "stimulus", "repeat", maintain_order=True)
    )
    here = questions["here"].to_numpy()
    first = np.where(questions["rows"].to_numpy() > 0, questions["first"].to_numpy(), rows.height - 1)
    within = np.arange(here.sum()) - np.repeat(here.cumsum() - here, here)
    about = questions.select(*RESPONSES, "reason")[np.repeat(np.arange(len(here)), here)]
    table = about.hstack(rows[np.repeat(first, here) + within]).select(*RESPONSES, *rows.columns, "reason")
    return check_responses(_of_one_width(table) if kind == "encoder" else table, kind)


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
