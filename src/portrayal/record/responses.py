"""From the ledger to the Responses table: every question gives at least one row, answered or not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from portrayal.record.ledger import Entry, Ledger
from portrayal.systems.base import Question, System, Unreadable
from portrayal.tables import RESPONSES, ROWS, check_responses

# What a state of the ledger means for a reader of responses.
STATUS_OF_STATE = {
    "planned": "planned",
    "in_flight": "unknown",
    "failed": "failed",
    "refused": "refused",
    "unknown": "unknown",
}


def read_responses(
    ledger: Ledger, work: Sequence[tuple[System, Mapping[str, Sequence[Question]]]], kind: str
) -> pl.DataFrame:
    """Read every raw answer of the ledger into rows.

    Parameters
    ----------
    ledger
        An open ledger.
    work
        Each system with its questions by key; stimuli of the same content share a key and an answer.
    kind
        The kind of the systems, which fixes the columns.

    Returns
    -------
    polars.DataFrame
        Columns of `RESPONSES`, those of the kind, and `reason` for questions without a usable answer.
    """
    rows = [row for system, questions in work for row in _system_rows(ledger, system, questions)]
    schema = {**RESPONSES, **ROWS[kind], "reason": pl.String}
    return check_responses(pl.DataFrame(rows, schema=schema, orient="row"), kind).sort(
        "system", "stimulus", "repeat", maintain_order=True
    )


def _system_rows(
    ledger: Ledger, system: System, questions: Mapping[str, Sequence[Question]]
) -> Iterable[dict[str, Any]]:
    for entry in ledger.entries(system.name):
        status, reason, answers = _read(system, entry)
        for question in questions.get(entry.key, ()):
            asked = {"system": system.name, "stimulus": question.stimulus, "repeat": question.repeat}
            for answer in answers or [{}]:
                yield {**asked, "status": status, "reason": reason, **answer}


def _read(system: System, entry: Entry) -> tuple[str, str | None, list[dict[str, Any]]]:
    """Return status, reason and rows of one ledger entry."""
    if entry.answer is None or entry.state == "refused":
        return STATUS_OF_STATE[entry.state], entry.error, []
    try:
        rows = system.read(entry.answer)
    except Unreadable as error:
        return "unparsable", str(error), []
    return ("answered" if rows else "empty"), None, rows
