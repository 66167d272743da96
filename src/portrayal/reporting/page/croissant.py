"""Croissant metadata of the report's tables (MLCommons, version 1.0)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

import portrayal
from portrayal.text.formatting import unique

SPECIFICATION = "http://mlcommons.org/croissant/1.0"
# The context as the specification prints it, in whole: readers compare it.
PLAIN = (
    "citeAs", "column", "equivalentProperty", "extract", "field", "fileProperty", "fileObject", "fileSet", "format", "includes",
    "isLiveDataset", "jsonPath", "key", "md5", "parentField", "path", "recordSet", "references", "regex", "repeated", "replace",
    "samplingRate", "separator", "source", "subField", "transform",
)  # fmt: skip
CONTEXT: Mapping[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    **{name: f"cr:{name}" for name in PLAIN},
}
DESCRIPTION = (
    "Results of an audit of how AI systems portray people, made with Portrayal: one row an estimate with its interval, its tests and"
    " its decision (results.csv), and the tables its figures are drawn from. report.html is for people, docs/tables.md of"
    " Portrayal says what each column is."
)
LICENSE = (
    "Not stated: whoever publishes this folder states one; each stimulus carries its own (stimuli.parquet of the run)."
)


def croissant(
    folder: Path, title: str, results: pl.DataFrame, tables: Mapping[str, pl.DataFrame], published: str = ""
) -> dict[str, Any]:
    """Return the metadata of results.csv and tables/*.csv once they are written."""
    files = {"results.csv": results, **{f"tables/{name}.csv": table for name, table in tables.items()}}
    return {
        "@context": dict(CONTEXT),
        "@type": "sc:Dataset",
        "conformsTo": SPECIFICATION,
        "name": title,
        "description": DESCRIPTION,
        "license": LICENSE,
        "url": "report.html",
        "citeAs": f"{title}. Made with Portrayal {portrayal.__version__}.",
        "version": portrayal.__version__,
        "creator": {"@type": "sc:Organization", "name": "the authors of the study"},
        **({"datePublished": published} if published else {}),
        "distribution": [_file(folder, name) for name in files],
        "recordSet": [_records(name, table) for name, table in files.items()],
    }


def _file(folder: Path, name: str) -> dict[str, Any]:
    with (folder / name).open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    about = {"@type": "cr:FileObject", "@id": name, "name": name, "contentUrl": name}
    return {**about, "encodingFormat": "text/csv", "sha256": digest}


def _records(name: str, table: pl.DataFrame) -> dict[str, Any]:
    """Return the columns of a file as a record set."""
    stem = name.removesuffix(".csv")
    ids = unique([re.sub(r"[^A-Za-z0-9_.-]+", "_", column) for column in table.columns])  # an id holds no space
    fields = [_field(name, f"{stem}/{own}", *one) for own, one in zip(ids, table.schema.items(), strict=True)]
    return {"@type": "cr:RecordSet", "@id": stem, "name": stem, "field": fields}


def _field(name: str, own: str, column: str, kind: pl.DataType) -> dict[str, Any]:
    source = {"fileObject": {"@id": name}, "extract": {"column": column}}
    about = {"@type": "cr:Field", "@id": own, "name": column, "description": column.replace("_", " ")}
    return {**about, "dataType": data_type(kind), "source": source}


def data_type(kind: Any) -> str:
    """Return schema.org's word for a column's type; lists are written as text.

    Examples
    --------
    >>> data_type(pl.Float64()), data_type(pl.String())
    ('sc:Float', 'sc:Text')
    """
    if kind.is_integer():
        return "sc:Integer"
    if kind.is_float():
        return "sc:Float"
    return "sc:Boolean" if kind == pl.Boolean else "sc:Text"
