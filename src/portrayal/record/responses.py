"""From the ledger to the Responses table: every question gives at least one row, answered or not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from portrayal.record.ledger import Entry
from portrayal.record.outcomes import outcome_of, usual_widths
from portrayal.tables import RESPONSES, ROWS, check_responses

PART = 200_000  # rows held as Python objects
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
    table = _table(entries, shown, kind)
    if kind == "encoder":
        table = _of_one_width(table)
    return check_responses(table, kind).sort("system", "stimulus", "repeat", maintain_order=True)


def _of_one_width(table: pl.DataFrame) -> pl.DataFrame:
    """Call a vector unreadable that is not as wide as most of its system's: a few odd ones must not stop the measure."""
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


def _table(entries: Iterable[Entry], shown: Mapping[str, Sequence[str]], kind: str) -> pl.DataFrame:
    """Gather rows by column, a part at a time: a million rows as dicts would take gigabytes."""
    schema = {**RESPONSES, **ROWS[kind], "reason": pl.String}
    parts = [pl.DataFrame(schema=schema)]
    columns: dict[str, list[Any]] = {name: [] for name in schema}
    for entry in entries:
        _add(columns, entry, shown.get(entry.hash, ()), tuple(ROWS[kind]))
        if len(columns["system"]) >= PART:
            parts.append(pl.DataFrame(columns, schema=schema))
            columns = {name: [] for name in schema}
    return pl.concat([*parts, pl.DataFrame(columns, schema=schema)], rechunk=True)


def _add(
    columns: Mapping[str, list[Any]], entry: Entry, stimuli: Sequence[str], answered: Sequence[str]
) -> None:
    """Add a question's rows: one for each part of its answer and each stimulus that shares it, or one without an answer."""
    status, reason, answers = read_entry(entry)
    rows = answers or [{}]
    for stimulus in stimuli:
        about = {"system": entry.system, "stimulus": stimulus, "repeat": entry.repeat}
        for name, value in {**about, "status": status, "reason": reason}.items():
            columns[name].extend([value] * len(rows))
        for name in answered:
            columns[name].extend([row.get(name) for row in rows])


def read_entry(entry: Entry) -> tuple[str, str | None, list[dict[str, Any]]]:
    """Return status, reason and rows of one question."""
    if entry.answer is None or entry.state == "refused":
        return STATUS_OF_STATE[entry.state], entry.error, []
    outcome = outcome_of(entry)
    return outcome.status, outcome.reason, outcome.rows
