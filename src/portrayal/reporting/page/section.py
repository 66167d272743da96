"""One audit's run as a section of the report."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from portrayal.reporting.answers.behind import Bases
from portrayal.reporting.charts.drawing import Draw, Drawing, Drawn, Sketch, draw_here, spec_of
from portrayal.reporting.charts.looks import Looks, looks_of
from portrayal.reporting.page.systems import simulated
from portrayal.study.audit import Audit, Chart, Finding, Measured, ReportTable
from portrayal.text.formatting import unique, visible

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
    bases: Bases | None = None  # the answers behind each row
    documents: Mapping[str, str] = field(default_factory=dict)  # what a ranked document says, in a few words

    def total(self, *states: str) -> int:
        """Return how many questions are in these states, over all systems."""
        present = [state for state in states if state in self.states.columns]
        return int(sum(self.states[state].fill_null(0).sum() for state in present))

    @property
    def simulated(self) -> frozenset[str]:
        """Return the simulated systems by their names in results and charts."""
        names = simulated(self.systems)
        return frozenset([*names, *map(self.measured.shown, names)])

    def questions(self) -> int:
        """Return how many questions the study has."""
        return self.total(*STATES)


def file_name(*parts: str) -> str:
    """Return a file's stem of letters, digits, '-' and '_' only.

    Examples
    --------
    >>> file_name("associations", "../Forest plot")
    'associations-Forest_plot'
    """
    cleaned = [re.sub(r"[^A-Za-z0-9_-]+", "_", part).strip("_") or "unnamed" for part in parts]
    if len(cleaned) == 2 and cleaned[1].startswith(cleaned[0]):
        return cleaned[1]
    return "-".join(cleaned)


def draw_all(sections: Sequence[Section], draw: Draw = draw_here) -> list[list[Drawing]]:
    """Draw every section's charts once, for the page and the files.

    One that would show nothing is left out.
    """
    looks = report_looks(sections)
    drawn = iter(draw(sketch for section in sections for sketch in _sketches(section, looks)))
    return [_drawings(section, drawn) for section in sections]


def report_looks(sections: Sequence[Section]) -> Looks:
    """Give every system of a report its colour and shape."""
    return looks_of(
        (section.measured.shown(name), name in section.simulated)
        for section in sections
        for name in (str(system.get("name")) for system in section.systems)
    )


def _sketches(section: Section, looks: Looks) -> Iterator[Sketch]:
    """Yield what each of a section's charts is drawn from; pictures are there already."""
    main = main_chart(section.charts)
    for place, chart in enumerate(section.charts):
        if chart.chart is not None:
            label = visible(f"{chart.title}. {chart.text}")
            grey = chart.system in section.simulated
            yield Sketch(spec_of(chart.chart), label, looks, grey, place == main)


def _drawings(section: Section, drawn: Iterator[Drawn]) -> list[Drawing]:
    """Name a section's charts, taking those that were sketched from what was drawn."""
    names = unique([file_name(section.anchor, chart.name) for chart in section.charts])
    found = []
    for chart, name in zip(section.charts, names, strict=True):
        made = next(drawn) if chart.chart is not None else Drawn("")
        found.append(Drawing(chart, name, made.svg, made.png if made.svg else chart.png, made.phone))
    return [one for one in found if one.svg or one.png]


def main_chart(charts: Sequence[Chart]) -> int | None:
    """Return the place of the chart to show where there is room for one."""
    figures = [place for place, chart in enumerate(charts) if chart.chart is not None]
    return next((place for place in figures if charts[place].main), figures[0] if figures else None)


def table_files(section: Section) -> list[str]:
    """Return the file stem of each of the section's further tables."""
    return unique([file_name(section.anchor, table.name) for table in section.tables])
