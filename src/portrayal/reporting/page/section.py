"""One audit's run as a section of the report."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import polars as pl

from portrayal.errors import PortrayalError
from portrayal.reporting.answers.answers import READ, answers_of
from portrayal.reporting.answers.behind import Bases
from portrayal.reporting.charts.drawing import Draw, Drawing, Drawn, Sketch, draw_here, spec_of
from portrayal.reporting.charts.looks import Looks, looks_of
from portrayal.reporting.words.conclusions import Conclusion, conclude
from portrayal.reporting.words.sentences import NAMES, in_order
from portrayal.reporting.words.sides import told_once
from portrayal.reporting.words.silence import silence_findings
from portrayal.run.contents import MEND, RECORD, read_inputs, read_measured, study_of
from portrayal.run.folder import Run, kept_json, kept_table
from portrayal.run.silence import silent_in
from portrayal.run.status import states_table
from portrayal.study.audit import Audit, Chart, Evidence, Finding, Measured, ReportTable
from portrayal.study.registry import get_audit
from portrayal.study.study import Study
from portrayal.text.formatting import plain, unique, visible

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

    @cached_property
    def questions(self) -> int:
        """Return how many questions the study has."""
        return self.total(*STATES)

    @cached_property
    def simulated(self) -> frozenset[str]:
        """Return the simulated systems by their names in results and charts."""
        names = simulated(self.systems)
        return frozenset([*names, *map(self.measured.shown, names)])

    @cached_property
    def shown_systems(self) -> list[str]:
        """Return the systems' names as readers see them."""
        return [self.measured.shown(str(system.get("name"))) for system in self.systems]

    @cached_property
    def conclusions(self) -> list[Conclusion]:
        """Return one answer for each research question and system."""
        return conclude(self.audit, self.measured, self.findings, [str(one.get("name")) for one in self.systems])

    @cached_property
    def table_files(self) -> dict[str, ReportTable]:
        """Return the further tables by the stems of their files."""
        stems = unique([file_name(self.anchor, table.name) for table in self.tables])
        return dict(zip(stems, self.tables, strict=True))

    @cached_property
    def names(self) -> dict[str, str]:
        """Return the names of measures in words."""
        return {**NAMES, **self.audit.names}

    def named(self, measure: str) -> str:
        """Return a measure in words."""
        return self.names.get(measure) or plain(measure)

    def row(self, finding: Finding) -> dict[str, Any]:
        """Return the row of the results that a sentence speaks of."""
        return self.measured.results.row(finding.row, named=True)


def simulated(systems: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the names of simulated systems, told by their kind, their base or their name."""
    return [
        str(one.get("name"))
        for one in systems
        if any(str(one.get(key) or "").startswith("phantom") for key in ("use", "identity"))
        or "simulated" in str(one.get("name") or "").lower()
    ]


def shown_names(systems: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the names of simulated systems as sentences write them."""
    return {name: name if "simulated" in name.lower() else f"{name} (simulated)" for name in simulated(systems)}


def file_name(*parts: str) -> str:
    """Return a file's stem of letters, digits, '-' and '_' only.

    Examples
    --------
    >>> file_name("associations", "../Forest plot")
    'associations-Forest_plot'
    """
    cleaned = [re.sub(r"[^A-Za-z0-9_-]+", "_", part).strip("_") or "unnamed" for part in parts]
    return cleaned[1] if len(cleaned) == 2 and cleaned[1].startswith(cleaned[0]) else "-".join(cleaned)


def draw_all(sections: Sequence[Section], draw: Draw = draw_here) -> list[list[Drawing]]:
    """Draw every section's charts that show something once, for the page and the files."""
    looks = report_looks(sections)
    drawn = iter(draw(sketch for section in sections for sketch in _sketches(section, looks)))
    return [_drawings(section, drawn) for section in sections]


def report_looks(sections: Sequence[Section]) -> Looks:
    """Give every system of a report its colour and shape."""
    return looks_of((name, name in section.simulated) for section in sections for name in section.shown_systems)


def _sketches(section: Section, looks: Looks) -> Iterator[Sketch]:
    """Yield what each of a section's charts is drawn from; pictures are there already."""
    charts = [chart for chart in section.charts if chart.chart is not None]
    main = next((place for place, chart in enumerate(charts) if chart.main), 0)
    for place, chart in enumerate(charts):
        label = visible(f"{chart.title}. {chart.text}")
        yield Sketch(spec_of(chart.chart), label, looks, chart.system in section.simulated, place == main)


def _drawings(section: Section, drawn: Iterator[Drawn]) -> list[Drawing]:
    """Name a section's charts, taking those that were sketched from what was drawn."""
    names = unique([file_name(section.anchor, chart.name) for chart in section.charts])
    drawings = []
    for chart, name in zip(section.charts, names, strict=True):
        made = next(drawn) if chart.chart is not None else Drawn("")
        drawings.append(Drawing(chart, name, made.svg, made.png if made.svg else chart.png, made.phone))
    return [one for one in drawings if one.svg or one.png]


def find(study: Study, measured: Measured) -> list[Finding]:
    """Put what was measured into sentences; of a silent system only that is said."""
    audit = get_audit(study.audit)
    silence, silent = silence_findings(measured, audit), silent_in(measured.results)
    findings = audit.findings(measured, study.settings)
    for finding in findings:
        if not 0 <= finding.row < measured.results.height:
            raise PortrayalError(
                f"the audit {audit.stem!r} says {finding.sentence!r} of row {finding.row}, and there are"
                f" {measured.results.height}. Expected the number of the row the sentence speaks of."
            )
    findings = told_once(findings, measured.results, audit.sides)
    spoken = [finding for finding in findings if measured.results["system"][finding.row] not in silent]
    unread = [one for one in silence if measured.results["value"][one.row] is None]
    others = [one for one in [*spoken, *silence] if one not in unread]
    return [*unread, *in_order(others, measured.results)]


def read_named(run: Run) -> tuple[Measured, list[dict[str, Any]], dict[str, Any]]:
    """Read what was measured with the systems' names for readers, the systems, and the manifest."""
    manifest: dict[str, Any] = kept_json(run.manifest, dict, RECORD)
    systems = [one for one in manifest.get("systems") or [] if isinstance(one, dict)]
    return replace(read_measured(run), shown_names=shown_names(systems)), systems, manifest


def read_section(run: Run, earlier: Sequence[str] = ()) -> Section:
    """Read a measured run; `earlier` are the stems of sections before it."""
    study = study_of(run)
    audit = get_audit(study.audit)
    measured, systems, manifest = read_named(run)
    count = earlier.count(audit.stem)
    inputs = read_inputs(run) if run.inputs.is_dir() else {}
    stimuli = kept_table(run.stimuli, RECORD)
    responses = kept_table(run.responses, MEND) if run.responses.exists() else pl.DataFrame()
    return Section(
        audit=audit,
        study_name=study.name,
        measured=measured,
        charts=audit.charts(as_shown(measured), study.settings),
        findings=find(study, measured),
        tables=audit.tables(measured, study.settings),
        systems=systems,
        states=states_table(run),
        manifest=manifest,
        anchor=audit.stem if not count else f"{audit.stem}-{count + 1}",
        stimuli=stimuli,
        bases=Bases(audit, study.settings, Evidence(stimuli, pl.DataFrame(), inputs)) if run.inputs.is_dir() else None,
        answers=answers_of(responses, audit.kind) if READ[audit.kind][0] in responses.columns else None,
        level_names=audit.level_names(inputs),
        documents=audit.documents(inputs),
    )


def as_shown(measured: Measured) -> Measured:
    """Give systems the names that readers see, in results and tables, for charts to draw."""

    def renamed(table: pl.DataFrame) -> pl.DataFrame:
        if table.schema.get("system") != pl.String or not measured.shown_names:
            return table
        return table.with_columns(pl.col("system").replace(dict(measured.shown_names)))

    tables = {name: renamed(table) for name, table in measured.tables.items()}
    return replace(measured, results=renamed(measured.results), tables=tables)
