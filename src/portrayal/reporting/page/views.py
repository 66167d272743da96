"""Views that the templates place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import polars as pl
from markupsafe import Markup

from portrayal.reporting.charts.drawing import Drawing, prefixed
from portrayal.reporting.charts.looks import Looks, swatch
from portrayal.reporting.charts.theme import dark_rules
from portrayal.reporting.page.evidence import Traced
from portrayal.reporting.page.examples import examples_view
from portrayal.reporting.page.first import alarms, answers_in_short, cards, is_silent
from portrayal.reporting.page.pictures import pictures_view
from portrayal.reporting.page.provenance import asked, family, manifest_rows, recorded
from portrayal.reporting.page.results import block_id, result_blocks
from portrayal.reporting.page.section import STATES, Section, file_name, report_looks, table_files
from portrayal.reporting.page.shown import shown_view
from portrayal.reporting.page.systems import said_simulated, system_rows
from portrayal.reporting.words.names import NAMES
from portrayal.stats.decisions.decision import FOUND, NOT_MEASURABLE
from portrayal.study.audit import Finding
from portrayal.text.formatting import cell, number, p_value, parted, plain

SHOWN_ROWS = 60  # of a further table; its file has them all
OPEN_FOUND, OPEN_OTHERS = 3, 1  # sentences seen at once; further ones are folded
OPEN_ALARMS = 3
P_VALUES = ("p", "p_value", "p_adjusted")
STATE_WORDS = {
    "done": "answered",
    "refused": "refused",
    "unreadable": "unreadable",
    "failed": "failed",
    "unknown": "unknown",
    "in_flight": "in flight",
    "planned": "planned",
}


@cache
def _style(name: str) -> Markup:
    return Markup(files("portrayal.reporting").joinpath(f"templates/{name}.css").read_text("utf-8"))


def head_view(title: str) -> dict[str, Any]:
    """Return what the head of a page with figures needs."""
    return {"title": title, "style": _style("style"), "dark": Markup(dark_rules())}


def plain_head_view(title: str) -> dict[str, Any]:
    """Return the head of a page that is one table."""
    return {"title": title, "style": _style("plain"), "dark": ""}


def page_view(
    sections: Sequence[Section], title: str, drawings: Sequence[Sequence[Drawing]], traces: Sequence[Traced]
) -> dict[str, Any]:
    """Return everything the page template needs."""
    looks = report_looks(sections)
    shown = [
        section_view(section, drawn, looks, traced)
        for section, drawn, traced in zip(sections, drawings, traces, strict=True)
    ]
    told = alarms(sections)
    return {
        **head_view(title),
        "sections": shown,
        "alarms": told[:OPEN_ALARMS],
        "further_alarms": told[OPEN_ALARMS:],
        "short": answers_in_short(sections),
        "cards": cards(sections, drawings, looks),
        "several": len({section.audit.stem for section in sections}) < len(sections),
        "recorded": recorded([section.manifest for section in sections]),
    }


def section_view(section: Section, drawings: Sequence[Drawing], looks: Looks, traced: Traced) -> dict[str, Any]:
    """Return everything the template of one section needs."""
    results = section.measured.results
    cited = {finding.row for finding in section.findings if 0 <= finding.row < results.height}
    names = {**NAMES, **section.audit.names}
    behind = [f"rows/{address}" for address in traced.addresses()]
    said = [finding_view(finding, section) for finding in section.findings]
    pictures = [opened(one, section) for one in pictures_view(drawings)]
    figures = [opened(chart_view(one), section) for one in drawings if one.svg]
    return {
        "anchor": section.anchor,
        "audit": section.audit,
        "study": section.study_name,
        "warnings": list(section.measured.warnings),
        "remarks": list(section.measured.remarks),
        "found": [one for one in said if one["decision"] == FOUND],
        "unsaid": [one for one in said if one["decision"] == NOT_MEASURABLE],
        "others": _by_decision([one for one in said if one["decision"] not in (FOUND, NOT_MEASURABLE)]),
        "open": {"found": OPEN_FOUND, "others": OPEN_OTHERS},
        "simulated": said_simulated(section.systems),
        "legend": legend(section, looks),
        "pictures": pictures,
        "examples": None if pictures else examples_view(section),
        "main": next((one for one in figures if one["phone"]), None),
        "charts": [one for one in figures if not one["phone"]],
        "blocks": result_blocks(results, section.anchor, cited, names, behind),
        "rows": results.height,
        "tables": tables_view(section),
        "shown": shown_view(section.stimuli),
        "systems": system_rows(section.systems),
        "states": states_view(section),
        "questions": section.questions(),
        "answered": section.total("done"),
        "answers": section.answers is not None,
        "state_words": STATE_WORDS,
        "family": family(section.manifest, results, names),
        "asked": asked(section.manifest),
        "manifest": manifest_rows(section.manifest),
    }


def legend(section: Section, looks: Looks) -> list[dict[str, Any]]:
    """Return every system of a section with its colour and shape."""
    shown = [section.measured.shown(str(system.get("name"))) for system in section.systems]
    return [
        {"name": name, "color": looks[name].color, "outline": Markup(swatch(looks[name], 5.0))}
        for name in dict.fromkeys(shown)
        if name in looks
    ]


def finding_view(finding: Finding, section: Section) -> dict[str, Any]:
    """Return the sentence, its decision, and the address of the row it speaks of."""
    results = section.measured.results
    claim, figures = parted(finding.sentence)
    return {
        "claim": claim,
        "figures": figures,
        "row": f"{section.anchor}-row-{finding.row + 1}",
        "number": finding.row + 1,
        "decision": results["decision"][finding.row],
        "silent": is_silent(results, finding.row),
    }


def _by_decision(said: Sequence[Mapping[str, Any]]) -> list[tuple[str, list[Mapping[str, Any]]]]:
    """Return the sentences under their decisions, in the order of the report."""
    order = dict.fromkeys(one["decision"] for one in said)
    return [(str(name).capitalize(), [one for one in said if one["decision"] == name]) for name in order]


def chart_view(drawing: Drawing) -> dict[str, Any]:
    """Return a drawing ready to stand in the page."""
    phone = Markup(prefixed(drawing.phone, f"{drawing.name}-phone")) if drawing.phone else ""
    return {
        "chart": drawing.chart,
        "name": drawing.name,
        "svg": Markup(prefixed(drawing.svg, drawing.name)),
        "phone": phone,
    }


def opened(figure: dict[str, Any], section: Section) -> dict[str, Any]:
    """Return a figure with the addresses of its rows or table."""
    measures = set(section.measured.results["measure"].drop_nulls())
    tables = {table.name for table in section.tables} | set(section.measured.tables)
    rows = []
    for name in figure["chart"].of:
        if name in measures:
            rows.append((f"rows/{section.anchor}.html#{block_id(section.anchor, name)}", name))
        elif name in tables:
            rows.append((f"tables/{data_file(section, name)}.csv", name))
    names = {**NAMES, **section.audit.names}
    return {**figure, "rows": [(address, names.get(name) or plain(name)) for address, name in rows]}


def data_file(section: Section, name: str) -> str:
    """Return the file stem of a table a figure is drawn from."""
    own = dict(zip((table.name for table in section.tables), table_files(section), strict=True))
    return own.get(name) or file_name(section.anchor, f"drawn-{name}")


def drawn_tables(section: Section, drawings: Sequence[Drawing]) -> dict[str, pl.DataFrame]:
    """Return the tables behind figures that are no further table of the section."""
    measures = set(section.measured.results["measure"].drop_nulls())
    shown = {table.name for table in section.tables}
    named = [name for one in drawings for name in one.chart.of if name not in measures and name not in shown]
    there = section.measured.tables
    return {data_file(section, name): there[name] for name in dict.fromkeys(named) if name in there}


def tables_view(section: Section) -> list[dict[str, Any]]:
    """Return the further tables, capped, each with the name of its file."""
    names = {**NAMES, **section.audit.names}
    return [
        {
            "title": table.title,
            "text": table.text,
            "file": f"tables/{name}.csv",
            "columns": [(plain(column.name), column_kind(column)) for column in table.table.get_columns()],
            "rows": list(
                zip(*(cells(_named(one, names)) for one in table.table.head(SHOWN_ROWS).get_columns()), strict=True)
            ),
            "height": table.table.height,
        }
        for table, name in zip(section.tables, table_files(section), strict=True)
    ]


def _named(column: pl.Series, names: Mapping[str, str]) -> pl.Series:
    """Put measures into words where a column names them."""
    return column.replace(names) if column.name == "measure" and column.dtype == pl.String else column


def column_kind(column: pl.Series) -> str:
    """Return the class of a column's cells: figures to the right, long texts wide."""
    if column.dtype.is_numeric():
        return "figure"
    texts = column.head(SHOWN_ROWS).str.len_chars().max() if column.dtype == pl.String else None
    return "long" if isinstance(texts, int) and texts > 40 else ""


def cells(column: pl.Series) -> list[str]:
    """Format the cells of a column alike: p-values, decimals."""
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
