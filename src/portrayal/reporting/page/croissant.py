"""Croissant metadata of the report's tables (MLCommons, version 1.0)."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import polars as pl

import portrayal
from portrayal.text.formatting import unique

DESCRIPTION = (
    "Results of an audit of how AI systems portray people, made with Portrayal: one row an estimate with its interval, its tests and"
    " its decision (results.csv), and the tables its figures are drawn from. report.html is for people, docs/tables.md of"
    " Portrayal says what each column is."
)
LICENSE = (
    "Not stated: whoever publishes this folder states one; each stimulus carries its own (stimuli.parquet of the run)."
)


def croissant(folder: Path, title: str, tables: Mapping[str, pl.DataFrame], published: str = "") -> dict[str, Any]:
    """Return the metadata of the report's CSV tables once they are written."""
    # The context as the specification prints it, in whole: readers compare it.
    context = files("portrayal.reporting").joinpath("templates/croissant_context.json").read_text("utf-8")
    return {
        "@context": json.loads(context),
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": title,
        "description": DESCRIPTION,
        "license": LICENSE,
        "url": "report.html",
        "citeAs": f"{title}. Made with Portrayal {portrayal.__version__}.",
        "version": portrayal.__version__,
        "creator": {"@type": "sc:Organization", "name": "the authors of the study"},
        **({"datePublished": published} if published else {}),
        "distribution": [_file(folder, name) for name in tables],
        "recordSet": [_records(name, table) for name, table in tables.items()],
    }


def _file(folder: Path, name: str) -> dict[str, Any]:
    with (folder / name).open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    about = {"@type": "cr:FileObject", "@id": name, "name": name, "contentUrl": name}
    return {**about, "encodingFormat": "text/csv", "sha256": digest}


def _records(name: str, table: pl.DataFrame) -> dict[str, Any]:
    """Return the columns of a file as a record set."""
    stem, fields = name.removesuffix(".csv"), []
    ids = unique([re.sub(r"[^A-Za-z0-9_.-]+", "_", column) for column in table.columns])  # an id holds no space
    for own, (column, kind) in zip(ids, table.schema.items(), strict=True):
        about = {"@type": "cr:Field", "@id": f"{stem}/{own}", "name": column, "description": column.replace("_", " ")}
        source = {"fileObject": {"@id": name}, "extract": {"column": column}}
        fields.append({**about, "dataType": _type(kind), "source": source})
    return {"@type": "cr:RecordSet", "@id": stem, "name": stem, "field": fields}


def _type(kind: Any) -> str:
    """Return schema.org's word for a column's type; lists are written as text."""
    if kind.is_integer():
        return "sc:Integer"
    return "sc:Float" if kind.is_float() else "sc:Boolean" if kind == pl.Boolean else "sc:Text"
