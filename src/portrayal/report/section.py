"""One audit's run as the report takes it: everything it says is in here already, nothing is looked up."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from portrayal.report.drawing import Drawing, to_svg
from portrayal.report.looks import Looks, looks_of
from portrayal.report.systems import simulated
from portrayal.report.words import unique, visible
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
    answers: pl.DataFrame | None = None  # one row a question, with what was read from the answer
    level_names: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # of codes in stimuli
    documents: Mapping[str, str] = field(default_factory=dict)  # what a ranked document says, in a few words

    def total(self, *states: str) -> int:
        """Return how many questions are in these states, over all systems."""
        present = [state for state in states if state in self.states.columns]
        return int(sum(self.states[state].fill_null(0).sum() for state in present))

    @property
    def simulated(self) -> frozenset[str]:
        """Return the systems that only play a part, by the names they have in results and in charts."""
        names = simulated(self.systems)
        return frozenset([*names, *map(self.measured.shown, names)])

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


def draw_all(sections: Sequence[Section]) -> list[list[Drawing]]:
    """Draw every section's charts once, for the page and the files: a system looks alike in all of them."""
    looks = report_looks(sections)
    return [draw(section, looks) for section in sections]


def report_looks(sections: Sequence[Section]) -> Looks:
    """Give every system of a report its colour and shape."""
    return looks_of(
        (section.measured.shown(name), name in section.simulated)
        for section in sections
        for name in (str(system.get("name")) for system in section.systems)
    )


def draw(section: Section, looks: Looks) -> list[Drawing]:
    """Draw the section's charts; one that would show nothing is left out."""
    names = unique([file_name(section.anchor, chart.name) for chart in section.charts])
    main = main_chart(section.charts)
    drawn = [
        _draw(chart, name, looks, place == main, chart.system in section.simulated)
        for place, (chart, name) in enumerate(zip(section.charts, names, strict=True))
    ]
    return [one for one in drawn if one.svg or one.png]


def main_chart(charts: Sequence[Chart]) -> int | None:
    """Return the place of the chart to show where there is room for one."""
    figures = [place for place, chart in enumerate(charts) if chart.chart is not None]
    return next((place for place in figures if charts[place].main), figures[0] if figures else None)


def table_files(section: Section) -> list[str]:
    """Return the file stem of each of the section's further tables."""
    return unique([file_name(section.anchor, table.name) for table in section.tables])


def _draw(chart: Chart, name: str, looks: Looks, main: bool, grey: bool) -> Drawing:
    if chart.chart is None:
        return Drawing(chart, name, "", chart.png)
    label = visible(f"{chart.title}. {chart.text}")
    svg = to_svg(chart.chart, label, looks, grey=grey)
    phone = to_svg(chart.chart, label, looks, narrow=True, grey=grey) if svg and main else ""
    return Drawing(chart, name, svg, chart.png, phone)
