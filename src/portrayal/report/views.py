"""What the templates show, worked out beforehand: the templates only place it."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

import polars as pl
from markupsafe import Markup

from portrayal.report.drawing import Drawing, prefixed
from portrayal.report.names import NAMES
from portrayal.report.provenance import asked, family, manifest_rows, recorded
from portrayal.report.results import result_blocks
from portrayal.report.section import STATES, UNFINISHED, Section, table_files
from portrayal.report.shown import shown_view
from portrayal.report.systems import said_simulated, system_rows
from portrayal.report.theme import dark_rules
from portrayal.report.words import cell, listed, number, p_value, plain, plural
from portrayal.runs.audit import Finding
from portrayal.runs.silence import ANSWERED
from portrayal.stats.decision import FOUND

SHOWN_ROWS = 200  # of a further table; its file has them all
OPEN_MEASURES = 6
OPEN_CHARTS = 4  # further ones are folded
OPEN_ROWS = 12  # longer tables are folded
P_VALUES = ("p", "p_value", "p_adjusted")
MANY = {"study": "studies"}
STATE_WORDS = {
    "done": "answered",
    "refused": "refused",
    "unreadable": "unreadable",
    "failed": "failed",
    "unknown": "unknown",
    "in_flight": "in flight",
    "planned": "planned",
}


def page_view(
    sections: Sequence[Section], title: str, drawings: Sequence[Sequence[Drawing]]
) -> dict[str, Any]:
    """Return everything the page template needs."""
    shown = [section_view(section, drawn) for section, drawn in zip(sections, drawings, strict=True)]
    return {
        "title": title,
        "style": Markup(files("portrayal.report").joinpath("templates/style.css").read_text("utf-8")),
        "dark": Markup(dark_rules()),
        "sections": shown,
        "unfinished": [line for section in sections if (line := unfinished(section))],
        "warned": [warning for section in sections for warning in warnings(section)],
        "failed": [line for section in sections for line in failed(section)],
        "several": len({section.audit.stem for section in sections}) < len(sections),
        "top": 3 if len(sections) > 1 else 8,
        "facts": facts(sections),
        "recorded": recorded([section.manifest for section in sections]),
    }


def section_view(section: Section, drawings: Sequence[Drawing]) -> dict[str, Any]:
    """Return everything the template of one section needs."""
    results = section.measured.results
    cited = {finding.row for finding in section.findings if 0 <= finding.row < results.height}
    blocks = result_blocks(results, section.anchor, cited, {**NAMES, **section.audit.names})
    main = open_measures(blocks, [results["measure"][row] for row in sorted(cited)], section.audit.family)
    charts = [chart_view(drawing) for drawing in drawings]
    said = [finding_view(finding, section) for finding in section.findings]
    return {
        "anchor": section.anchor,
        "audit": section.audit,
        "study": section.study_name,
        "warnings": list(section.measured.warnings),
        "findings": said,
        "decided": _by_decision(said),
        "main": [one for one in said if one["decision"] == FOUND or one["silent"]],
        "simulated": said_simulated(section.systems),
        "blocks": [block for block in blocks if block["name"] in main],
        "further": [block for block in blocks if block["name"] not in main],
        "charts": [drawn for place, drawn in enumerate(charts) if _first(place, drawn)],
        "further_charts": [drawn for place, drawn in enumerate(charts) if not _first(place, drawn)],
        "tables": tables_view(section),
        "shown": shown_view(section.stimuli),
        "systems": system_rows(section.systems),
        "states": states_view(section),
        "questions": section.questions(),
        "answered": section.total("done"),
        "unfinished": section.total(*UNFINISHED),
        "state_words": STATE_WORDS,
        "family": family(section.manifest, results, {**NAMES, **section.audit.names}),
        "asked": asked(section.manifest),
        "manifest": manifest_rows(section.manifest),
    }


def open_measures(
    blocks: Sequence[Mapping[str, Any]], cited: Sequence[str], family: Sequence[str]
) -> set[str]:
    """Return the measures seen at once: those findings speak of, then the declared family, then the others."""
    known = [block["name"] for block in blocks]
    wanted = [name for name in dict.fromkeys([*cited, *family]) if name in known]
    return set((wanted or list(dict.fromkeys(known)))[:OPEN_MEASURES])


def _first(place: int, drawn: dict[str, Any]) -> bool:
    """Tell whether a chart is seen at once: the first few, and the specification curve."""
    return place < OPEN_CHARTS or "specification" in drawn["name"]


def finding_view(finding: Finding, section: Section) -> dict[str, Any]:
    """Return the sentence, its decision, and the address of the row it speaks of."""
    row = section.measured.results.row(finding.row, named=True)
    return {
        "sentence": finding.sentence,
        "row": f"{section.anchor}-row-{finding.row + 1}",
        "number": finding.row + 1,
        "decision": row["decision"],
        "silent": row["measure"]
        == ANSWERED,  # nothing can be said of the system, which belongs before all else
    }


def _by_decision(said: Sequence[Mapping[str, Any]]) -> list[tuple[str, list[Mapping[str, Any]]]]:
    """Return the sentences under their decisions, in the order of the report."""
    order = dict.fromkeys(one["decision"] for one in said)
    return [(str(name).capitalize(), [one for one in said if one["decision"] == name]) for name in order]


def chart_view(drawing: Drawing) -> dict[str, Any]:
    """Return a drawing ready to stand in the page."""
    svg = Markup(prefixed(drawing.svg, drawing.name)) if drawing.svg else ""
    picture = base64.b64encode(drawing.png).decode() if drawing.png and not svg else ""
    return {"chart": drawing.chart, "name": drawing.name, "svg": svg, "picture": picture}


def tables_view(section: Section) -> list[dict[str, Any]]:
    """Return the further tables, capped, each with the name of its file."""
    return [
        {
            "title": table.title,
            "text": table.text,
            "file": f"tables/{name}.csv",
            "columns": [(plain(column.name), column_kind(column)) for column in table.table.get_columns()],
            "rows": list(zip(*map(cells, table.table.head(SHOWN_ROWS).get_columns()), strict=True)),
            "height": table.table.height,
            "folded": table.table.height > OPEN_ROWS,
        }
        for table, name in zip(section.tables, table_files(section), strict=True)
    ]


def column_kind(column: pl.Series) -> str:
    """Return the class of a column's cells: figures to the right, long texts wide."""
    if column.dtype.is_numeric():
        return "figure"
    texts = column.head(SHOWN_ROWS).str.len_chars().max() if column.dtype == pl.String else None
    return "long" if isinstance(texts, int) and texts > 40 else ""


def cells(column: pl.Series) -> list[str]:
    """Write the cells of a column alike: p-values as such, other fractions with the same decimals."""
    if column.name in P_VALUES and column.dtype.is_numeric():
        return [p_value(value) for value in column]
    known = column.drop_nulls() if column.dtype.is_float() else column.head(0)
    even = bool(len(known)) and bool(((known % 1 == 0) | (known.abs() >= 0.01) & (known.abs() < 100)).all())
    if even and bool((known % 1 != 0).any()):
        return [number(value, 2) for value in column]
    return [cell(value) for value in column]


def states_view(section: Section) -> list[dict[str, Any]]:
    """Return one row per system: its counts and the widths of its bar."""
    shown = []
    for row in section.states.iter_rows(named=True):
        counts = {state: int(row.get(state) or 0) for state in STATES}
        whole = sum(counts.values())
        widths = [(state, 100 * amount / whole) for state, amount in counts.items() if amount]
        shown.append({"system": row["system"], "counts": counts, "whole": whole, "widths": widths})
    return shown


def unfinished(section: Section) -> dict[str, Any] | None:
    """Return the banner's line about questions without an answer, or nothing when all is done."""
    missing = section.total(*UNFINISHED)
    if not missing:
        return None
    parts = [f"{section.total(state):,} {STATE_WORDS[state]}" for state in UNFINISHED if section.total(state)]
    return {
        "anchor": section.anchor,
        "title": section.audit.title,
        "sentence": f"{missing:,} of {plural(section.questions(), 'question')} "
        f"{'has' if missing == 1 else 'have'} no answer yet ({listed(parts)}).",
    }


def warnings(section: Section) -> list[dict[str, Any]]:
    """Return the banner's lines about checks that did not hold."""
    about = {"anchor": section.anchor, "title": section.audit.title}
    return [{**about, "sentence": sentence} for sentence in section.measured.warnings]


def failed(section: Section) -> list[dict[str, Any]]:
    """Return the banner's lines about questions that failed, and about answers that cannot be read."""
    whole = plural(section.questions(), "question")
    told = {"failed": "failed", "unreadable": "got an answer that cannot be read"}
    return [
        {
            "anchor": section.anchor,
            "title": section.audit.title,
            "sentence": f"{number:,} of {whole} {what} and count{'s' if number == 1 else ''} as missing.",
        }
        for state, what in told.items()
        if (number := section.total(state))
    ]


def facts(sections: Sequence[Section]) -> list[tuple[str, str]]:
    """Return the header's figures."""
    systems = {system.get("name") for section in sections for system in section.systems}
    questions = sum(section.questions() for section in sections)
    done = sum(section.total("done") for section in sections)
    results = sum(section.measured.results.height for section in sections)
    stems = {section.audit.stem for section in sections}
    named = [
        ("audit", len(stems)),
        ("study", len(sections)),
        ("system", len(systems)),
        ("question", questions),
    ]
    if len(stems) == len(sections):
        named.pop(1)
    counted = [(f"{amount:,}", noun if amount == 1 else MANY.get(noun, f"{noun}s")) for noun, amount in named]
    return [*counted, (f"{done:,}", "answered"), (f"{results:,}", "result" if results == 1 else "results")]
