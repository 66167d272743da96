"""Coverage: how much of a tagger's words the typology knows; part of every result.

Barlas et al. (2020), Section 4.5.1, put every tag into a cluster by hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from portrayal.audits.contexts.measures.design import SUPER
from portrayal.audits.contexts.measures.views import Rows, View, column
from portrayal.stats.intervals.shares import clustered_share
from portrayal.text.formatting import percent


def coverage(view: View) -> Rows:
    """Yield `coverage` rows: the share of tags that some list or each cluster holds."""
    answered, (lost, why) = view.answered, view.missing
    tags = answered["tags"].to_numpy()
    for name in ("known", *SUPER, "other"):
        share = clustered_share(answered[name if name == "known" else column(name)].to_numpy(), tags)
        note = why if name == "known" else "never used by this tagger" if share.value == 0 else ""
        about = {"system": view.system, "attribute": name, "n_missing": lost}
        yield share.row("coverage", unit="share", counted="tags", note=note, **about)


def note_coverage(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add each system's coverage to the note of every one of its rows."""
    known = {
        row["system"]: row["value"] for row in rows if row["measure"] == "coverage" and row["attribute"] == "known"
    }
    return [{**row, "note": _with_coverage(row.get("note"), known.get(row["system"]))} for row in rows]


def _with_coverage(note: str | None, known: float | None) -> str | None:
    added = "" if known is None else f"typology knows {percent(known, 1)} of the tags"
    return f"{note}; {added}" if note and added else added or note
