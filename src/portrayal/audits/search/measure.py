"""The measure of the search audit: its parts put together."""

from __future__ import annotations

import polars as pl

from portrayal.audits.search.agreement import agreement, specifications
from portrayal.audits.search.comparison import comparison
from portrayal.audits.search.examples import most_gendered
from portrayal.audits.search.material import Part, make_material
from portrayal.audits.search.mentions import mentioned
from portrayal.audits.search.reinforcement import reinforcement
from portrayal.audits.search.settings import SearchSettings
from portrayal.audits.search.validation import validation
from portrayal.runs.audit import Evidence, Measured
from portrayal.tables import results


def measure(evidence: Evidence, settings: SearchSettings) -> Measured:
    """Measure every system; see docs/search.md for each measure."""
    material = make_material(evidence, settings)
    pairs = evidence.inputs["pairs"]
    parts = [
        reinforcement(material),
        comparison(material),
        mentioned(material),
        agreement(material),
        specifications(material, pairs),
        validation(material, evidence.inputs["checks"], pairs),
        most_gendered(material, evidence.inputs.get("example")),
    ]
    tables: dict[str, pl.DataFrame] = {}
    for part in parts:
        tables |= part.tables
    return Measured(
        results((row for part in parts for row in part.rows), audit="search", group="", contrast=""),
        tables,
        _warnings(parts),
    )


def _warnings(parts: list[Part]) -> list[str]:
    return [warning for part in parts for warning in part.warnings]
