"""How much of what a tagger says the typology knows; part of every result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from portrayal.audits.contexts.measures.people import missing_note
from portrayal.audits.contexts.measures.pictures import by_system, column, usable
from portrayal.reporting.words.words import percent
from portrayal.stats.intervals.shares import clustered_share


def coverage(pictures: pl.DataFrame, clusters: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield `coverage` rows: the share of tags the typology or a dictionary holds, and of each cluster."""
    for system, part in by_system(pictures).items():
        answered = usable(part)
        lost, why = missing_note(part)
        tags = answered["tags"].to_numpy()
        for name in ("known", *clusters):
            share = clustered_share(answered[name if name == "known" else column(name)].to_numpy(), tags)
            absent = "never used by this tagger" if share.value == 0 else ""
            note = why if name == "known" else absent
            yield share.row(
                "coverage", system=system, attribute=name, n_missing=lost, unit="share", counted="tags", note=note
            )


def note_coverage(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add each system's coverage to the note of every one of its rows."""
    known = {
        item["system"]: item["value"] for item in rows if item["measure"] == "coverage" and item["attribute"] == "known"
    }
    return [{**item, "note": _with_coverage(item, known.get(item["system"]))} for item in rows]


def _with_coverage(item: dict[str, Any], known: float | None) -> str | None:
    if known is None:
        return item.get("note")
    said = f"typology knows {percent(known, 1)} of the tags"
    return f"{item['note']}; {said}" if item.get("note") else said
