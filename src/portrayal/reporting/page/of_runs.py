"""The report of runs that are held."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from portrayal.reporting.charts.drawing import drawing
from portrayal.reporting.page.files import write_report
from portrayal.reporting.page.measured_run import read_section
from portrayal.reporting.page.section import Section
from portrayal.run.folder import Run


def report_of(runs: Sequence[Run], out: Path, title: str, processes: int = 1) -> Path:
    """Write the report of runs that are held, into a folder that is ours."""
    sections: list[Section] = []
    with drawing(processes) as draw:
        for run in runs:
            sections.append(read_section(run, [section.audit.stem for section in sections]))
        return write_report(out, sections, title or sections[0].study_name, draw)
