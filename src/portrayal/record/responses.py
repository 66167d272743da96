"""From the ledger to the Responses table: every question gives at least one row, answered or not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from portrayal.record.ledger import Entry
from portrayal.record.outcomes import outcome_of
from portrayal.tables import RESPONSES, ROWS, check_responses

# What a state of the ledger means for a reader of responses.
STATUS_OF_STATE = {
    "planned": "planned",
    "in_flight": "unknown",
    "failed": "failed",
    "refused": "refused",
    "unknown": "unknown",
}


def read_responses(entries: Iterable[Entry], stimuli: pl.DataFrame, kind: str) -> pl.DataFrame:
    """Read every raw answer into rows; no system is opened.

    Parameters
    ----------
    entries
        The ledger's questions, with their raw answers and the names of their readers.
    stimuli
        What was shown; stimuli of the same content share a hash, a question and an answer.
    kind
        The kind of the systems, which fixes the columns.

    Returns
    -------
    polars.DataFrame
        Columns of `RESPONSES`, those of the kind, and `reason` for questions without a usable answer.
    """
    shown = dict(stimuli.group_by("hash", maintain_order=True).agg("stimulus").iter_rows())
    rows = [row for entry in entries for row in _rows(entry, shown)]
    schema = {**RESPONSES, **ROWS[kind], "reason": pl.String}
    return check_responses(pl.DataFrame(rows, schema=schema, orient="row"), kind).sort(
        "system", "stimulus", "repeat", maintain_order=True
    )


def _rows(entry: Entry, shown: Mapping[str, Sequence[str]]) -> Iterator[dict[str, Any]]:
    status, reason, answers = read_entry(entry)
    for stimulus in shown.get(entry.hash, ()):
        asked = {"system": entry.system, "stimulus": stimulus, "repeat": entry.repeat}
        for answer in answers or [{}]:
            yield {**asked, "status": status, "reason": reason, **answer}


def read_entry(entry: Entry) -> tuple[str, str | None, list[dict[str, Any]]]:
    """Return status, reason and rows of one question."""
    if entry.answer is None or entry.state == "refused":
        return STATUS_OF_STATE[entry.state], entry.error, []
    outcome = outcome_of(entry)
    return outcome.status, outcome.reason, outcome.rows
