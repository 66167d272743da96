"""The report's files: the page, the same numbers unrounded, the charts and the further tables."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from portrayal.report.drawing import Drawing, svg_to_png
from portrayal.report.page import render_drawn
from portrayal.report.section import STATES, Section, draw, table_files
from portrayal.runs.audit import Finding
from portrayal.systems.settings import without_secrets
from portrayal.tables import RESULTS

# A spreadsheet runs a cell that starts with one of these; a tag or caption may.
FORMULA = r"^[=+\-@\t\r]"
NUMERIC = r"^[+-]?[0-9.]+([eE][+-]?[0-9]+)?%?$"


def write_report(folder: Path, sections: Sequence[Section], title: str) -> Path:
    """Write report.html, results.json, results.csv, results.parquet, charts/ and tables/ into `folder`.

    Returns
    -------
    Path
        The page.
    """
    folder = Path(folder)
    drawings = [draw(section) for section in sections]
    results = all_results(sections)
    folder.mkdir(parents=True, exist_ok=True)
    _clear(folder)
    write_parquet(results, folder / "results.parquet")
    write_csv(results, folder / "results.csv")
    _write(folder / "results.json", json.dumps(results_json(sections, title), indent=1, allow_nan=False))
    for drawing in (one for drawn in drawings for one in drawn):
        write_chart(folder / "charts", drawing)
    for section in sections:
        for table, name in zip(section.tables, table_files(section), strict=True):
            write_csv(table.table, folder / "tables" / f"{name}.csv")
    _write(folder / "report.html", render_drawn(sections, title, drawings))
    return folder / "report.html"


def all_results(sections: Sequence[Section]) -> pl.DataFrame:
    """Return the results of all sections under one another, with the study each row belongs to."""
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
        findings += [_finding_json(section, finding, start) for finding in section.findings]
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
    """Return the value with only what strict JSON knows: no NaN, no infinity, no foreign types."""
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
    """Write a table as CSV that no spreadsheet runs: text that reads as a formula gets an apostrophe."""
    path.parent.mkdir(parents=True, exist_ok=True)
    table.with_columns(_csv_column(name, kind) for name, kind in table.schema.items()).write_csv(
        part := _part(path)
    )
    part.replace(path)


def write_parquet(table: pl.DataFrame, path: Path) -> None:
    """Write a table as Parquet; the file may be the one the table was read from."""
    table.write_parquet(part := _part(path))
    part.replace(path)


def write_chart(folder: Path, drawing: Drawing) -> None:
    """Write one drawing as SVG and PNG."""
    folder.mkdir(parents=True, exist_ok=True)
    if drawing.svg:
        _write(folder / f"{drawing.name}.svg", drawing.svg)
    png = drawing.png if not drawing.svg else svg_to_png(drawing.svg)
    if png:
        (folder / f"{drawing.name}.png").write_bytes(png)


def _finding_json(section: Section, finding: Finding, start: int) -> dict[str, Any]:
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
    formula = column.str.contains(FORMULA) & ~column.str.contains(NUMERIC)
    return pl.when(formula).then(pl.lit("'") + column).otherwise(column).alias(name)


def _write(path: Path, text: str) -> None:
    part = _part(path)
    part.write_bytes(text.encode("utf-8"))
    part.replace(path)


def _clear(folder: Path) -> None:
    """Take away the charts and tables of an earlier report: what is no longer in the page must not lie beside it."""
    for pattern in ("charts/*.svg", "charts/*.png", "tables/*.csv"):
        for old in folder.glob(pattern):
            old.unlink()


def _part(path: Path) -> Path:
    """Name the file that is written first: a reader never meets half a page."""
    return path.with_name(path.name + ".part")
