"""The measure of the search audit: its parts put together."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from portrayal.audits.search.inputs import open_inputs
from portrayal.audits.search.measures.agreement import agreement, specifications
from portrayal.audits.search.measures.comparison import comparison
from portrayal.audits.search.measures.examples import most_gendered
from portrayal.audits.search.measures.mentions import mentioned
from portrayal.audits.search.measures.reinforcement import reinforcement
from portrayal.audits.search.measures.scored_runs import PartialResult, score_runs
from portrayal.audits.search.measures.validation import validation
from portrayal.audits.search.settings import SearchSettings
from portrayal.runs.audit import Evidence, Measured
from portrayal.tables import results


def measure(evidence: Evidence, settings: SearchSettings) -> Measured:
    """Measure every system; see docs/search.md for each measure."""
    evidence = replace(evidence, inputs=open_inputs(evidence.inputs, settings))
    scored = score_runs(evidence, settings)
    pairs = evidence.inputs["pairs"]
    parts = [
        reinforcement(scored),
        comparison(scored),
        mentioned(scored),
        agreement(scored),
        specifications(scored, pairs),
        validation(scored, evidence.inputs["checks"], pairs),
        most_gendered(scored, evidence.inputs.get("example")),
    ]
    tables: dict[str, pl.DataFrame] = {}
    for part in parts:
        tables |= part.tables
    return Measured(
        results((row for part in parts for row in part.rows), audit="search", group="", contrast=""),
        tables,
        _warnings(parts),
    )


def _warnings(parts: list[PartialResult]) -> list[str]:
    return [warning for part in parts for warning in part.warnings]
