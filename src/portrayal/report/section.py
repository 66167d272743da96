"""One audit's run as the report takes it: everything it says is in here already, nothing is looked up."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from portrayal.report.drawing import Drawing, to_svg
from portrayal.report.words import visible
from portrayal.runs.audit import Audit, Chart, Finding, Measured, ReportTable

# What a question came to, in the order a reader meets it: first what was answered.
STATES = ("done", "refused", "unreadable", "failed", "unknown", "in_flight", "planned")
UNFINISHED = ("planned", "in_flight", "unknown")


@dataclass(frozen=True)
class Section:
    """One audit's run in the report."""

    audit: Audit
    study_name: str
    measured: Measured  # results with p_adjusted filled in
    charts: list[Chart]
    findings: list[Finding]
    tables: list[ReportTable]
    systems: list[dict[str, Any]]  # one per system: name, use, kind, version, versions, parameters
    states: pl.DataFrame  # system and the seven states
    manifest: dict[str, Any]
    anchor: str  # the section's id: the stem, or stem-2 ... for further studies of the same audit
    stimuli: pl.DataFrame | None = None  # what was shown; pictures are counted, never printed

    def total(self, *states: str) -> int:
        """Return how many questions are in these states, over all systems."""
        present = [state for state in states if state in self.states.columns]
        return int(sum(self.states[state].fill_null(0).sum() for state in present))

    def questions(self) -> int:
        """Return how many questions the study has."""
        return self.total(*STATES)


def file_name(*parts: str) -> str:
    """Return a file's stem from names: letters, digits, '-' and '_' only, so that no name leaves its folder.

    Examples
    --------
    >>> file_name("associations", "../Forest plot")
    'associations-Forest_plot'
    """
    cleaned = [re.sub(r"[^A-Za-z0-9_-]+", "_", part).strip("_") or "unnamed" for part in parts]
    if len(cleaned) == 2 and cleaned[1].startswith(cleaned[0]):
        return cleaned[1]
    return "-".join(cleaned)


def unique(names: Sequence[str]) -> list[str]:
    """Return the names with a number after those that occur again: a, a-2, a-3."""
    seen: dict[str, int] = {}
    numbered = []
    for name in names:
        seen[name.lower()] = seen.get(name.lower(), 0) + 1
        numbered.append(name if seen[name.lower()] == 1 else f"{name}-{seen[name.lower()]}")
    return numbered


def draw(section: Section) -> list[Drawing]:
    """Draw the section's charts once, for the page and the files."""
    names = unique([file_name(section.anchor, chart.name) for chart in section.charts])
    return [_draw(chart, name) for chart, name in zip(section.charts, names, strict=True)]


def table_files(section: Section) -> list[str]:
    """Return the file stem of each of the section's further tables."""
    return unique([file_name(section.anchor, table.name) for table in section.tables])


def _draw(chart: Chart, name: str) -> Drawing:
    svg = "" if chart.chart is None else to_svg(chart.chart, visible(f"{chart.title}. {chart.text}"))
    return Drawing(chart, name, svg, chart.png)
