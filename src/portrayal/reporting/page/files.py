"""The report's files: the page, the same numbers unrounded, the charts and the further tables."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from portrayal.edges.folders import replace_belongings
from portrayal.edges.inert import inert_cells
from portrayal.edges.writing import make_inside, replacing, write_bytes, write_parquet, write_text
from portrayal.edges.writing import without_secrets as without_secrets_in
from portrayal.reporting.charts.drawing import Draw, Drawing, draw_here, svg_to_png
from portrayal.reporting.page.croissant import croissant
from portrayal.reporting.page.evidence import Traced, answers_table, trace
from portrayal.reporting.page.page import render_drawn, row_pages
from portrayal.reporting.page.provenance import last_day
from portrayal.reporting.page.section import STATES, Section, draw_all, table_files
from portrayal.reporting.page.summary import summary
from portrayal.reporting.page.views import drawn_tables
from portrayal.study.audit import Finding
from portrayal.systems.core.settings import without_secrets
from portrayal.tables import RESULTS

REPORT = "report"  # the group of files noted in the folder's mark


def write_report(folder: Path, sections: Sequence[Section], title: str, draw: Draw = draw_here) -> Path:
    """Write report.html, summary.md, results in three forms, croissant.json, charts/, tables/ and rows/ into `folder`.

    Returns
    -------
    Path
        The page.
    """
    folder = Path(folder)
    drawings = draw_all(sections, draw)
    traces = [trace(section) for section in sections]
    tables = {name: table for one in zip(sections, drawings, strict=True) for name, table in all_tables(*one).items()}
    results = all_results(sections)
    manifests = [section.manifest for section in sections]
    _make_way(folder, drawings, tables, traces)
    write_parquet(results, folder / "results.parquet")
    write_csv(results, folder / "results.csv")
    write_text(folder / "results.json", json.dumps(results_json(sections, title), indent=1, allow_nan=False))
    for drawing in (one for drawn in drawings for one in drawn):
        write_chart(folder / "charts", drawing)
    for name, table in tables.items():
        write_csv(table, folder / "tables" / f"{name}.csv")
        write_parquet(table, folder / "tables" / f"{name}.parquet")
    for traced in traces:
        write_rows(folder / "rows", traced)
    write_text(folder / "summary.md", summary(sections, title))
    write_text(
        folder / "croissant.json", json.dumps(croissant(folder, title, results, tables, last_day(manifests)), indent=1)
    )
    write_text(folder / "report.html", render_drawn(sections, title, drawings, traces))
    return folder / "report.html"


def all_tables(section: Section, drawings: Sequence[Drawing]) -> dict[str, pl.DataFrame]:
    """Return a section's further tables and those behind its figures, by file."""
    further = zip(table_files(section), (table.table for table in section.tables), strict=True)
    return {**dict(further), **drawn_tables(section, drawings)}


def write_rows(folder: Path, traced: Traced) -> None:
    """Write all rows of a section, and the answers behind each."""
    for name, text in row_pages(traced):
        write_text(folder / name, text)
    if traced.choices:
        answers = answers_table(traced.section)
        write_csv(answers, folder / f"{traced.section.anchor}-answers.csv")
        write_parquet(answers, folder / f"{traced.section.anchor}-answers.parquet")


def row_files(traced: Traced) -> list[str]:
    """Return the names of what `write_rows` writes."""
    anchor = traced.section.anchor
    pages = [traced.file(choice) for choice in range(len(traced.choices))]
    tables = [f"{anchor}-answers.csv", f"{anchor}-answers.parquet"] if pages else []
    return [f"{anchor}.html", *pages, *tables]


def all_results(sections: Sequence[Section]) -> pl.DataFrame:
    """Return the results of all sections in one table, with the study's name."""
    parts = [
        section.measured.results.with_columns(pl.lit(section.study_name, dtype=pl.String).alias("study"))
        for section in sections
    ]
    empty = pl.DataFrame(schema={**RESULTS, "study": pl.String})
    return pl.concat([empty, *parts], how="diagonal")


def results_json(sections: Sequence[Section], title: str) -> dict[str, Any]:
    """Return what results.json holds; a finding's `row` counts in the whole list of results."""
    audits, findings, start = [], [], 0
    for section in sections:
        audits.append(_audit_json(section, start))
        findings += [finding_json(section, finding, start) for finding in section.findings]
        start += section.measured.results.height
    manifest = {section.anchor: section.manifest for section in sections}
    whole = {
        "title": title,
        "findings": findings,
        "results": all_results(sections).to_dicts(),
        "audits": audits,
        "manifest": manifest,
    }
    return strict(whole)


def strict(value: Any) -> Any:
    """Return the value with only what strict JSON knows."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): strict(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple, set, pl.Series)):
        return [strict(inner) for inner in value]
    return strict(value.item()) if hasattr(value, "item") else str(value)


def write_csv(table: pl.DataFrame, path: Path) -> None:
    """Write a table as CSV whose text no spreadsheet runs as a formula."""
    inert = table.with_columns(_csv_column(name, kind) for name, kind in table.schema.items())
    titles = (
        pl.Series(inert.columns, dtype=pl.String).to_frame("title").select(inert_cells(pl.col("title")).alias("title"))
    )
    inert.columns = titles["title"].to_list()
    with replacing(path) as part:
        without_secrets_in(inert).write_csv(part)


def write_chart(folder: Path, drawing: Drawing) -> None:
    """Write one drawing as SVG and PNG."""
    make_inside(folder)
    if drawing.svg:
        write_text(folder / f"{drawing.name}.svg", drawing.svg)
    png = drawing.png or (svg_to_png(drawing.svg) if drawing.svg else None)
    if png:
        write_bytes(folder / f"{drawing.name}.png", png)


def finding_json(section: Section, finding: Finding, start: int) -> dict[str, Any]:
    """Return a sentence with its decision and its row, counted from `start`."""
    row = section.measured.results.row(finding.row, named=True)
    return {
        "audit": section.audit.stem,
        "study": section.study_name,
        "system": row["system"],
        "sentence": finding.sentence,
        "decision": row["decision"],
        "row": start + finding.row,
    }


def _audit_json(section: Section, start: int) -> dict[str, Any]:
    return {
        "stem": section.audit.stem,
        "anchor": section.anchor,
        "study": section.study_name,
        "title": section.audit.title,
        "question": section.audit.question,
        "systems": without_secrets(section.systems),
        "states": section.states.to_dicts(),
        "questions": section.questions(),
        "state_totals": {state: section.total(state) for state in STATES},
        "findings": [{"sentence": one.sentence, "row": start + one.row} for one in section.findings],
        "warnings": list(section.measured.warnings),
        "remarks": list(section.measured.remarks),
        "validity": list(section.audit.validity),
    }


def _csv_column(name: str, kind: pl.DataType) -> pl.Expr:
    column = pl.col(name)
    if kind.is_nested() or kind == pl.Object or kind == pl.Binary:
        return column.map_elements(
            lambda value: json.dumps(strict(value)), return_dtype=pl.String, skip_nulls=True
        ).alias(name)
    if kind != pl.String:
        return column
    return inert_cells(column).alias(name)


def _make_way(
    folder: Path, drawings: Sequence[Sequence[Drawing]], tables: Iterable[str], traces: Sequence[Traced]
) -> None:
    """Remove the files of an earlier report."""
    charts = [f"charts/{one.name}{end}" for drawn in drawings for one in drawn for end in (".svg", ".png")]
    data = [f"tables/{name}{end}" for name in tables for end in (".csv", ".parquet")]
    rows = [f"rows/{name}" for traced in traces for name in row_files(traced)]
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("charts", "tables", "rows"):
        make_inside(folder / name)
    replace_belongings(folder, REPORT, [*charts, *data, *rows])
