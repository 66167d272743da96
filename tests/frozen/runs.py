"""A run as it is frozen: results, sentences, stimuli, answers and the tables behind the charts."""

from __future__ import annotations

import contextlib
import io
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

import portrayal
from frozen import tables
from frozen.tables import Tables
from portrayal.cli import main

# Where a picture lies and how a source is called may change when files are moved; what is in it (`hash`) may not.
NOT_FROZEN = {"content", "source", "license", "file"}
WHOLE = 300  # a table of the run with more rows is kept as hashes of its rows
WORKERS = "FROZEN_WORKERS"  # of the environment: how many processes do the heavy work


def audited(study: Path | Mapping[str, Any], folder: Path, **further: Any) -> Tables:
    """Audit a study into a folder and return what is frozen of the run."""
    workers = int(os.environ[WORKERS]) if WORKERS in os.environ else None
    portrayal.audit(study, folder, quiet=True, workers=workers, **further)
    return of_run(folder)


def of_run(folder: Path) -> Tables:
    """Return what is frozen of a measured run that has its report."""
    places = places_of(folder)
    told = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    found: Tables = {
        "results": tables.of_frame(pl.read_parquet(folder / "results.parquet"), places),
        "findings": tables.of_rows(told["findings"], ("audit", "study", "system", "sentence", "decision", "row")),
        "stimuli": _stimuli(pl.read_parquet(folder / "stimuli.parquet")),
        "answers": _answers(pl.read_parquet(folder / "responses.parquet"), places),
        "remarks": _remarks(told["audits"], places),
    }
    for path in sorted((folder / "tables").glob("*.parquet")):
        frame = pl.read_parquet(path)
        if frame.height <= WHOLE:
            found[f"tables/{path.stem}"] = tables.of_frame(frame, places)
        else:
            found[f"tables/{path.stem}"] = _hashes(frame, places)
    return found


def places_of(folder: Path) -> dict[str, str]:
    """Return folders of this machine by the name they are frozen under."""
    return {str(folder): "RUN", str(folder.parent): "STUDY", str(Path(portrayal.__file__).parent): "PACKAGE"}


def command(*words: object, folder: Path) -> Tables:
    """Run a command and return its exit code and the lines it printed."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main([str(word) for word in words])
        except SystemExit as ended:
            code = int(ended.code or 0)
    places = places_of(folder)
    lines = [f"exit code {code}"] + [f"{line}" for line in out.getvalue().splitlines()]
    return {"lines": {"line": [tables.masked(line, places) for line in lines]}}


def _stimuli(frame: pl.DataFrame) -> tables.Table:
    kept = [name for name in frame.columns if name not in NOT_FROZEN]
    return {
        "stimulus": frame["stimulus"].to_list(),
        "row": [tables.digest([kept, *row]) for row in frame.select(kept).iter_rows()],
        "columns": [kept] * min(frame.height, 1) + [None] * (frame.height - 1),
    }


def _answers(frame: pl.DataFrame, places: Mapping[str, str]) -> tables.Table:
    """Return how many rows of each status each system gave, and one hash of them; they were asked side by side, so they are sorted."""
    groups = []
    for (system, status), rows in sorted(frame.group_by("system", "status")):
        hashes = sorted(tables.digest(tables.masked(tables.plain(row), places)) for row in rows.iter_rows())
        groups.append({"system": system, "status": status, "rows": rows.height, "hash": tables.digest(hashes)})
    return tables.of_rows(groups, ("system", "status", "rows", "hash"))


def _remarks(audits: list[dict[str, Any]], places: Mapping[str, str]) -> tables.Table:
    said = [
        {"kind": kind, "line": tables.masked(line if isinstance(line, str) else tables.plain(line), places)}
        for audit in audits
        for kind in ("warnings", "remarks", "states")
        for line in audit[kind]
    ]
    return tables.of_rows(said, ("kind", "line"))


def _hashes(frame: pl.DataFrame, places: Mapping[str, str]) -> tables.Table:
    kept = [name for name in frame.columns if name not in NOT_FROZEN]
    rows = frame.select(kept).iter_rows()
    return {"row": [tables.digest(tables.masked(tables.plain(list(row)), places)) for row in rows]}
