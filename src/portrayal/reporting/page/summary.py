"""Report as one page of plain text: summary.md, in the manner of a model card."""

from __future__ import annotations

import re
from collections.abc import Sequence

from portrayal.reporting.page.first import alarms, answers_in_short
from portrayal.reporting.page.provenance import recorded
from portrayal.reporting.page.section import Section
from portrayal.stats.decisions.decision import FOUND, NOT_MEASURABLE
from portrayal.text.formatting import listed, plural, visible

_MARKS = re.compile(r"([\\`*_\[\]<>|#])")
FILES = {
    "report.html": "the page, with figures",
    "results.csv, results.parquet, results.json": "every estimate, unrounded",
    "rows/": "every row, and the answers behind it",
    "charts/, tables/": "figures as SVG and PNG, tables as CSV and Parquet",
    "croissant.json": "the tables described for machines (Croissant 1.0)",
}


def summary(sections: Sequence[Section], title: str) -> str:
    """Return summary.md: questions, findings, limits and files."""
    told = alarms(sections)
    parts = [
        f"# {_text(title)}",
        "\n".join(f"- **{question}**: {_text(answer)}" for question, answer in answers_in_short(sections)),
        _listed("Read this first", [f"{one['title']}: {one['sentence']}" for one in told]),
        *(_section(section) for section in sections),
        _listed("Files", [f"{name}: {what}" for name, what in FILES.items()]),
        _text(recorded([section.manifest for section in sections])),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _section(section: Section) -> str:
    decisions = section.measured.results["decision"]
    systems = [section.measured.shown(str(system.get("name"))) for system in section.systems]
    said = {
        decision: [one.sentence for one in section.findings if decisions[one.row] == decision]
        for decision in (FOUND, NOT_MEASURABLE)
    }
    rest = len(section.findings) - sum(map(len, said.values()))
    parts = [
        f"## {_text(section.audit.title)}: {_text(section.study_name)}",
        _text(section.audit.question),
        f"Systems: {_text(listed(systems))}. {plural(section.questions(), 'question')}, {section.total('done'):,} answered.",
        _listed("Found", said[FOUND], 3) or "Nothing was found.",
        _listed("Not measurable", said[NOT_MEASURABLE], 3),
        f"{plural(rest, 'more sentence')} about what was not found or not tested in report.html." if rest else "",
        _listed("What it does not show", list(section.audit.validity), 3),
        _listed("Remarks", list(section.measured.remarks), 3),
    ]
    return "\n\n".join(part for part in parts if part)


def _listed(heading: str, lines: Sequence[str], level: int = 2) -> str:
    if not lines:
        return ""
    return f"{'#' * level} {heading}\n\n" + "\n".join(f"- {_text(line)}" for line in lines)


def _text(text: str) -> str:
    """Return text that Markdown prints as it stands: systems and studies may be called anything."""
    return _MARKS.sub(r"\\\1", " ".join(visible(text).split()))
