"""Tables to read beside the sentences: what techniques need, where a harm can have arisen, objects, tuples and looks."""

from __future__ import annotations

import polars as pl

from portrayal.audits.captions.measures.stages import DELETION_WARNING, SYSTEM_CAPTIONS, mitigation, where_it_arises
from portrayal.audits.captions.measures.techniques import TECHNIQUES
from portrayal.audits.captions.settings import CaptionsSettings
from portrayal.study.audit import Measured, ReportTable

MOST_ROWS = 60  # of each system in a table of the report
# The techniques' own tables: title and what to know of it.
SHOWN = {
    "faults": ("Captions and boxes that are not as they should be", "Counted and named; the first image of each."),
    "cases": (
        "Cases to read",
        "Captions that may do harm, the first of each technique. These and many more are in reviews.csv of the run, to be judged there.",
    ),
    "objects": (
        "Objects correctly mentioned",
        "Ranked by test accuracy; the interval over splits is the paper's and too narrow.",
    ),
    "tuples": (
        "Tuples that differ most between groups",
        "Shares of captions that mention a person; the p is Holm-corrected over the tuples of a kind, not over the study.",
    ),
    "looks": ("What goes with the group term", "Log odds of the term for each feature of appearance."),
    "overlaps": ("How the scenarios of wrong inclusions overlap", "A case is counted once, in this order."),
}


def report_tables(measured: Measured, settings: CaptionsSettings) -> list[ReportTable]:
    """Return the needs of every technique, what its stages tell, faults, and the techniques' own tables."""
    tables = {name: measured.tables.get(name, pl.DataFrame()) for name in SHOWN}
    shown = [_shown(name, table) for name, table in tables.items() if len(table)]
    return [_needs(measured.tables.get("missing")), *_stages(measured.results), *shown]


def _stages(results: pl.DataFrame) -> list[ReportTable]:
    """Say once for each pair of stages where a harm can have arisen and what section 5.2 of the paper suggests."""
    if "stage" not in results.columns:
        return []
    pairs = results.filter(pl.col("stage") == SYSTEM_CAPTIONS).select("stage", "truth").unique(maintain_order=True)
    rows = [
        {
            "found at": stage,
            "against": truth or "nothing",
            "then": where_it_arises(stage, truth),
            "the paper suggests": mitigation(stage, truth),
        }
        for stage, truth in pairs.sort("truth", nulls_last=True).iter_rows()
    ]
    title = "Where a harm can have arisen, and what may be done"
    return [ReportTable("stages", title, DELETION_WARNING, pl.DataFrame(rows))] if rows else []


def _shown(name: str, table: pl.DataFrame) -> ReportTable:
    """Cut a table system by system, so that the first does not crowd out the others, and say what was cut."""
    title, text = SHOWN[name]
    cut = [
        f"{system} {len(part) - MOST_ROWS}"
        for (system,), part in table.group_by("system", maintain_order=True)
        if len(part) > MOST_ROWS
    ]
    if cut:
        text = f"{text} The first {MOST_ROWS} rows of each system; rows cut: {', '.join(cut)}."
    return ReportTable(name, title, text, table.group_by("system", maintain_order=True).head(MOST_ROWS))


def _needs(missing: pl.DataFrame | None) -> ReportTable:
    """What every technique needs, and for which systems a stage was absent, in whole or in part."""
    absent: dict[str, list[str]] = {}
    for system, technique, why in [] if missing is None else missing.iter_rows():
        absent.setdefault(technique, []).append(f"{system}: {why}")
    table = pl.DataFrame(
        [
            {
                "technique": t.key,
                "needs": t.needs,
                "a missing stage means": t.missing,
                "not measured here": "; ".join(absent.get(t.key, [])),
            }
            for t in TECHNIQUES.values()
        ]
    )
    return ReportTable("needs", "What each technique needs", "And what it means when a stage is absent.", table)
