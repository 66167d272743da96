"""Pages of a report: sections in, HTML out, without network or script."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import jinja2
import polars as pl
from markupsafe import Markup

from portrayal.reporting.charts.drawing import Drawing, prefixed
from portrayal.reporting.charts.looks import swatch
from portrayal.reporting.charts.theme import dark_rules
from portrayal.reporting.page.evidence import Traced, answers_view, examples_view, trace
from portrayal.reporting.page.first import alarms, answers_in_short, cards
from portrayal.reporting.page.pictures import pictures_view
from portrayal.reporting.page.provenance import (
    family,
    manifest_rows,
    recorded,
    said_simulated,
    shown_view,
    states_view,
    system_rows,
    times_and_cost,
)  # fmt: skip
from portrayal.reporting.page.results import block_id, result_blocks
from portrayal.reporting.page.section import STATES, Section, draw_all, file_name, report_looks
from portrayal.stats.decisions.decision import FOUND, NOT_MEASURABLE
from portrayal.study.audit import Chart
from portrayal.text import formatting
from portrayal.text.formatting import cell, number, p_value, parted, plain

__all__ = ["Section", "render", "render_drawn", "row_pages"]
FILTERS = ("number", "estimate", "interval", "p_value", "count", "share", "plural", "plain", "cell", "tied")
SHOWN_ROWS = 60  # of a further table; its file has them all
OPEN_FOUND, OPEN_OTHERS = 3, 1  # sentences seen at once; further ones are folded
OPEN_ALARMS = 3
STATE_WORDS = {state: "answered" if state == "done" else plain(state) for state in STATES}


def render(sections: Sequence[Section], title: str) -> str:
    """Return the whole report as HTML."""
    return render_drawn(sections, title, draw_all(sections), [trace(section) for section in sections])


def render_drawn(
    sections: Sequence[Section], title: str, drawings: Sequence[Sequence[Drawing]], traces: Sequence[Traced]
) -> str:
    """Return the report from drawn charts and traced rows, one of each per section."""
    looks, lines = report_looks(sections), alarms(sections)
    return fill(
        "page.html",
        title,
        sections=[(one[0], section_view(*one)) for one in zip(sections, drawings, traces, strict=True)],
        looks=looks,
        alarms=lines[:OPEN_ALARMS],
        further_alarms=lines[OPEN_ALARMS:],
        short=answers_in_short(sections),
        cards=cards(sections, drawings, looks),
        recorded=recorded([section.manifest for section in sections]),
        open={"found": OPEN_FOUND, "others": OPEN_OTHERS},
        state_words=STATE_WORDS,
    )


def row_pages(traced: Traced) -> Iterator[tuple[str, str]]:
    """Yield the pages beside the report, each with its name."""
    section = traced.section
    title = f"{section.audit.title}: {section.study_name}"
    blocks = result_blocks(section.measured.results, section.anchor, section.named, None, traced.addresses())
    rows, *answers = traced.pages()
    yield rows, fill("rows.html", title, anchor=section.anchor, blocks=blocks)
    for choice, name in enumerate(answers):
        yield name, fill("answers.html", title, "plain", anchor=section.anchor, **answers_view(traced, choice))


def fill(template: str, title: str, style: str = "style", **view: Any) -> str:
    """Return a page from its template, in style 'plain' where it is one table."""
    dark = "" if style == "plain" else Markup(dark_rules())
    return environment().get_template(template).render(view, title=title, style=_style(style), dark=dark)


@cache
def _style(name: str) -> Markup:
    return Markup(files("portrayal.reporting").joinpath(f"templates/{name}.css").read_text("utf-8"))


@cache
def environment() -> jinja2.Environment:
    """Return the template environment: everything escaped, control characters made visible."""
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("portrayal.reporting"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        # Autoescaping follows, except for markup.
        finalize=lambda it: formatting.visible(it) if isinstance(it, str) and not isinstance(it, Markup) else it,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {name: getattr(formatting, name) for name in FILTERS} | {"swatch": swatch}
    return made


def section_view(section: Section, drawings: Sequence[Drawing], traced: Traced) -> dict[str, Any]:
    """Return everything the template of one section needs beside the section."""
    results = section.measured.results
    cited = [finding.row for finding in section.findings]
    behind = [f"rows/{address}" for address in traced.addresses()]
    pictures = [{**one, "rows": _sources(section, one["chart"])} for one in pictures_view(drawings)]
    figures = [_figure(one, section) for one in drawings if one.svg]
    by_decision: dict[str, list[dict[str, Any]]] = {}  # in the order of the report
    for finding in section.findings:
        claim, numbers = parted(finding.sentence)
        line = {"claim": claim, "figures": numbers, "number": finding.row + 1}
        by_decision.setdefault(results["decision"][finding.row], []).append(line)
    return {
        "conclusions": section.conclusions,
        "found": by_decision.pop(FOUND, []),
        "unsaid": by_decision.pop(NOT_MEASURABLE, []),
        "others": [(str(name).capitalize(), lines) for name, lines in by_decision.items()],
        "simulated": said_simulated(section.systems),
        "pictures": pictures,
        "examples": None if pictures else examples_view(section),
        "main": next((one for one in figures if one["phone"]), None),
        "charts": [one for one in figures if not one["phone"]],
        "blocks": result_blocks(results, section.anchor, section.named, cited, behind),
        "tables": _tables(section),
        "shown": shown_view(section.stimuli),
        "systems": system_rows(section.systems),
        "states": states_view(section),
        "family": family(section),
        "asked": times_and_cost(section.manifest),
        "manifest": manifest_rows(section.manifest),
    }


def _figure(drawing: Drawing, section: Section) -> dict[str, Any]:
    """Return a drawing ready to stand in the page."""
    name, phone = drawing.name, f"{drawing.name}-phone"
    return {
        "chart": drawing.chart,
        "name": name,
        "svg": Markup(prefixed(drawing.svg, name)),
        "phone": Markup(prefixed(drawing.phone, phone)) if drawing.phone else "",
        "rows": _sources(section, drawing.chart),
    }


def _sources(section: Section, chart: Chart) -> list[tuple[str, str]]:
    """Return the addresses and names of the rows and tables behind a chart."""
    measures, tables = _measures(section), {table.name for table in section.tables} | set(section.measured.tables)
    rows = {
        name: f"rows/{section.anchor}.html#{block_id(section.anchor, name)}" for name in chart.of if name in measures
    }
    data = {name: f"tables/{_file(section, name)}.csv" for name in chart.of if name in tables}
    addresses = {**data, **rows}
    return [(addresses[name], section.named(name)) for name in chart.of if name in addresses]


def _measures(section: Section) -> set[str]:
    return set(section.measured.results["measure"].drop_nulls())


def _file(section: Section, name: str) -> str:
    """Return the file stem of a table a figure is drawn from."""
    own = {table.name: stem for stem, table in section.table_files.items()}
    return own.get(name) or file_name(section.anchor, f"drawn-{name}")


def all_tables(section: Section, drawings: Sequence[Drawing]) -> dict[str, pl.DataFrame]:
    """Return a section's further tables and those behind its figures, by file."""
    further = {stem: table.table for stem, table in section.table_files.items()}
    own = _measures(section) | {table.name for table in section.tables}
    named = dict.fromkeys(name for one in drawings for name in one.chart.of if name not in own)
    there = section.measured.tables
    return further | {_file(section, name): there[name] for name in named if name in there}


def _tables(section: Section) -> list[dict[str, Any]]:
    """Return the further tables, capped, each with the name of its file."""
    view = []
    for stem, table in section.table_files.items():
        columns = table.table.get_columns()
        words = [one.replace(section.names) if one.name == "measure" and one.dtype == pl.String else one
                 for one in table.table.head(SHOWN_ROWS).get_columns()]  # fmt: skip
        view.append({"title": table.title, "text": table.text, "file": f"tables/{stem}.csv", "height": table.table.height,
                     "columns": [(plain(one.name), _kind(one)) for one in columns],
                     "rows": list(zip(*map(_cells, words), strict=True))})  # fmt: skip
    return view


def _kind(column: pl.Series) -> str:
    """Return the class of a column's cells: figures to the right, long texts wide."""
    if column.dtype.is_numeric():
        return "figure"
    longest = column.head(SHOWN_ROWS).str.len_chars().max() if column.dtype == pl.String else None
    return "long" if isinstance(longest, int) and longest > 40 else ""


def _cells(column: pl.Series) -> list[str]:
    """Format the cells of a column alike: p-values, decimals."""
    if column.name in ("p", "p_value", "p_adjusted") and column.dtype.is_numeric():
        return [p_value(value) for value in column]
    known = column.drop_nulls() if column.dtype.is_float() else column.head(0)
    even = bool(len(known)) and bool(((known % 1 == 0) | (known.abs() >= 0.01) & (known.abs() < 100)).all())
    places = even and bool((known % 1 != 0).any())
    return [number(value, 2) if places else cell(value) for value in column]
