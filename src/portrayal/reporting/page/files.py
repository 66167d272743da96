"""The report's files: the page, the same numbers unrounded, the charts and the further tables."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import polars as pl

from portrayal.edges.folders import replace_belongings
from portrayal.edges.inert import inert_cells
from portrayal.edges.writing import make_inside, replacing, write_bytes, write_parquet, write_text
from portrayal.edges.writing import without_secrets as without_secrets_in
from portrayal.reporting.charts.drawing import Draw, draw_here, drawing, svg_to_png
from portrayal.reporting.page.croissant import croissant
from portrayal.reporting.page.evidence import answers_table, trace
from portrayal.reporting.page.first import summary
from portrayal.reporting.page.page import all_tables, render_drawn, row_pages
from portrayal.reporting.page.provenance import recording_days
from portrayal.reporting.page.section import STATES, Section, draw_all, read_section
from portrayal.run.folder import Run
from portrayal.study.audit import Finding
from portrayal.systems.core.settings import without_secrets
from portrayal.tables import RESULTS

REPORT = "report"  # the group of files noted in the folder's mark


def report_of(runs: Sequence[Run], out: Path, title: str, processes: int = 1) -> Path:
    """Write the report of runs that are held, into a folder that is ours."""
    sections: list[Section] = []
    with drawing(processes) as draw:
        for run in runs:
            sections.append(read_section(run, [section.audit.stem for section in sections]))
        return write_report(out, sections, title or sections[0].study_name, draw)


def write_report(folder: Path, sections: Sequence[Section], title: str, draw: Draw = draw_here) -> Path:
    """Write the page and all files beside it into `folder`; return the page."""
    drawings = draw_all(sections, draw)
    traces = [trace(section) for section in sections]
    charts = [one for drawn in drawings for one in drawn]
    tables = {
        f"tables/{name}": table
        for one in zip(sections, drawings, strict=True)
        for name, table in all_tables(*one).items()
    }
    answers = {f"rows/{one.section.anchor}-answers": one.section for one in traces if one.choices}
    pages = [f"rows/{name}" for traced in traces for name in traced.pages()]
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("charts", "tables", "rows"):
        make_inside(folder / name)
    # Files of an earlier report go.
    images = [f"charts/{one.name}{end}" for one in charts for end in (".svg", ".png")]
    data = [f"{name}{end}" for name in [*tables, *answers] for end in (".csv", ".parquet")]
    replace_belongings(folder, REPORT, [*images, *data, *pages])
    results = all_results(sections)
    for name, table in {"results": results, **tables}.items():
        _write_table(table, folder / name)
    write_text(folder / "results.json", json.dumps(results_json(sections, title), indent=1, allow_nan=False))
    for one in charts:
        png = one.png or (svg_to_png(one.svg) if one.svg else None)
        if one.svg:
            write_text(folder / "charts" / f"{one.name}.svg", one.svg)
        if png:
            write_bytes(folder / "charts" / f"{one.name}.png", png)
    for traced in traces:
        for name, text in row_pages(traced):
            write_text(folder / "rows" / name, text)
    for name, section in answers.items():
        _write_table(answers_table(section), folder / name)
    write_text(folder / "summary.md", summary(sections, title))
    described = {f"{name}.csv": table for name, table in {"results": results, **tables}.items()}
    day = max(recording_days([section.manifest for section in sections]), default="")
    write_text(folder / "croissant.json", json.dumps(croissant(folder, title, described, day), indent=1))
    write_text(folder / "report.html", render_drawn(sections, title, drawings, traces))
    return folder / "report.html"


def _write_table(table: pl.DataFrame, path: Path) -> None:
    write_csv(table, path.with_name(f"{path.name}.csv"))
    write_parquet(table, path.with_name(f"{path.name}.parquet"))


def all_results(sections: Sequence[Section]) -> pl.DataFrame:
    """Return the results of all sections in one table, with the study's name."""
    parts = [one.measured.results.with_columns(study=pl.lit(one.study_name, pl.String)) for one in sections]
    return pl.concat([pl.DataFrame(schema={**RESULTS, "study": pl.String}), *parts], how="diagonal")


def results_json(sections: Sequence[Section], title: str) -> dict[str, Any]:
    """Return what results.json holds; a finding's `row` counts in the whole list of results."""
    audits, findings, answers, start = [], [], list[dict[str, Any]](), 0
    for section in sections:
        audits.append(_audit_json(section, start))
        findings += [finding_json(section, finding, start) for finding in section.findings]
        answers += answers_json(section, start)
        start += section.measured.results.height
    return strict(
        {
            "title": title,
            "findings": findings,
            "answers": answers,
            "results": all_results(sections).to_dicts(),
            "audits": audits,
            "manifest": {section.anchor: section.manifest for section in sections},
        }
    )


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

    def cells(name: str, kind: pl.DataType) -> pl.Expr:
        column = pl.col(name)
        if kind.is_nested() or kind in (pl.Object, pl.Binary):
            dumped = column.map_elements(lambda value: json.dumps(strict(value)), pl.String, skip_nulls=True)
            return dumped.alias(name)
        return inert_cells(column).alias(name) if kind == pl.String else column

    inert = table.with_columns(cells(name, kind) for name, kind in table.schema.items())
    titles = pl.DataFrame({"title": pl.Series(inert.columns, dtype=pl.String)}).select(inert_cells(pl.col("title")))
    inert.columns = titles.to_series().to_list()
    with replacing(path) as part:
        without_secrets_in(inert).write_csv(part)


def finding_json(section: Section, finding: Finding, start: int) -> dict[str, Any]:
    """Return a sentence with its decision and its row, counted from `start`."""
    row = section.row(finding)
    about = {"audit": section.audit.stem, "study": section.study_name, "system": row["system"]}
    about |= {"decision": row["decision"], "kind": section.audit.kind_of(row)}
    return {**about, "sentence": finding.sentence, "row": start + finding.row}


def answers_json(section: Section, start: int = 0) -> list[dict[str, Any]]:
    """Return the answers to the research questions, rows counted from `start`."""
    about = {"audit": section.audit.stem, "study": section.study_name}
    return [
        {**about, **asdict(one), "sentence": one.sentence, "row": None if one.row is None else start + one.row}
        for one in section.conclusions
    ]


def _audit_json(section: Section, start: int) -> dict[str, Any]:
    return {
        "stem": section.audit.stem,
        "anchor": section.anchor,
        "study": section.study_name,
        "title": section.audit.title,
        "question": section.audit.question,
        "systems": without_secrets(section.systems),
        "states": section.states.to_dicts(),
        "questions": section.questions,
        "state_totals": {state: section.total(state) for state in STATES},
        "findings": [{"sentence": one.sentence, "row": start + one.row} for one in section.findings],
        "warnings": list(section.measured.warnings),
        "remarks": list(section.measured.remarks),
        "validity": list(section.audit.validity),
    }
