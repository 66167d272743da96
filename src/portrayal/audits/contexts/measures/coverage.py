"""Coverage: how much of a tagger's words the typology knows; part of every result.

Barlas et al. (2020), To "See" is to Stereotype, CSCW3, Section 4.5.1, put every tag into a cluster by hand.
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
        row["system"]: f"typology knows {percent(row['value'], 1)} of the tags"
        for row in rows
        if (row["measure"], row.get("attribute")) == ("coverage", "known") and row["value"] is not None
    }
    if not known:
        return list(rows)
    return [{**row, "note": "; ".join(filter(None, [row.get("note"), known.get(row["system"])]))} for row in rows]
