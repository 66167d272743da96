"""Redaction: a run without pictures and free text, its results and hashes kept.

Texts are left out of a new folder, not crossed out in the old one: none can lie in a page of the ledger or a forgotten column.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from contextlib import closing
from typing import Any

import polars as pl

from portrayal.edges.writing import make_inside, write_bytes, write_parquet, write_text
from portrayal.handover.pack import copy_ledger
from portrayal.recorder.ledger import Ledger
from portrayal.recorder.responses import put_right
from portrayal.run.contents import MEND, PLAIN, RECORD, measured_files, read_measured, write_measured
from portrayal.run.folder import FILE, STUDY_FILE, Run, kept_json, kept_table, refuse_redacted
from portrayal.tables import RESPONSES

REDACTED = "(redacted)"
# Columns of tables that hold somebody's words whatever they are; other cells go where they quote an answer or a reference.
WORDS = ("caption", "text", "example", "answer", "content", "reference")
REASON = (
    "its pictures and free text were taken out (answers, references, judgments, where pictures lie); results and hashes are those of the"
    " whole run"
)


def redact_run(run: Run, target: Run) -> None:
    """Write a measured run without pictures and free text into a locked folder."""
    refuse_redacted(run)
    measured = read_measured(run)
    removed = {}  # files of which only the hash is kept
    paths = [run.ledger, run.stimuli, run.responses, run.reviews, *sorted(run.inputs.glob("*"))]
    for path in (*paths, *(path for path in measured_files(run) if path.suffix == ".png")):
        if path.is_file():
            with path.open("rb") as file:
                removed[str(path.relative_to(run.folder))] = hashlib.file_digest(file, "sha256").hexdigest()
    responses = kept_table(run.responses, MEND)
    # Systems' own words: captions, and reasons for not answering. People's: texts among the inputs.
    answers = _texts(responses[name] for name in ("caption", "reason") if name in responses.columns)
    inputs = [kept_table(path, RECORD) for path in sorted(run.inputs.glob("*.parquet"))]
    references = _texts(table[name] for table in inputs for name in WORDS if name in table.columns)
    _redact_ledger(run, target)
    write_bytes(target.study, run.study.read_bytes())
    stimuli = kept_table(run.stimuli, RECORD)
    write_parquet(stimuli.with_columns(content=pl.lit(REDACTED)), target.stimuli)
    write_parquet(responses.select(*RESPONSES), target.responses)
    write_text(make_inside(target.inputs) / PLAIN, json.dumps({"files": [], "plain": {}}))
    manifest = {**kept_json(run.manifest, dict, RECORD), "redacted": REASON}
    write_text(target.manifest, json.dumps(manifest, indent=1))
    write_text(target.folder / FILE, json.dumps({"said": REASON, "removed": removed}, indent=1))
    tables = {name: _without(table, [*answers, *references], WORDS) for name, table in measured.tables.items()}
    lines = (pl.DataFrame({"line": list(each)}, {"line": pl.String}) for each in (measured.warnings, measured.remarks))
    warnings, remarks = (_without(each, answers)["line"].to_list() for each in lines)
    warnings = [f"This run was redacted: {REASON}.", *warnings]
    write_measured(target, type(measured)(_without(measured.results, answers), tables, warnings, remarks=remarks))


def _redact_ledger(run: Run, target: Run) -> None:
    """Copy the ledger without words, twice: deleted text stays in a file's free pages."""
    whole = target.folder / "ledger.part"
    copy_ledger(run, whole)
    with Ledger(whole) as ledger:
        put_right(ledger)  # states follow from the answers, which nobody can read afterwards
        ledger.put_fact("study_folder", "")
        ledger.put_fact(STUDY_FILE, "")
        ledger.put_fact("redacted", REASON)
    with closing(sqlite3.connect(whole, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute(
            "UPDATE questions SET raw = NULL, media = '', error = CASE WHEN error IS NULL THEN NULL ELSE ? END",
            (REDACTED,),
        )
        target.ledger.unlink(missing_ok=True)
        connection.execute("VACUUM INTO ?", (str(target.ledger),))
    whole.unlink()


def _texts(columns: Any) -> list[str]:
    """Return the texts of more than one word; a single one is a label."""
    texts = {text for column in columns if column.dtype == pl.String for text in column.drop_nulls().unique()}
    return sorted(text.strip() for text in texts if len(text.split()) > 1)


def _without(table: pl.DataFrame, texts: list[str], words: tuple[str, ...] = ()) -> pl.DataFrame:
    """Return a table whose cells hold none of the texts, nor columns of words any."""
    clean = []
    for name, kind in table.schema.items() if texts else [one for one in table.schema.items() if one[0] in words]:
        column = pl.col(name)
        if kind == pl.List(pl.String):
            clean.append(pl.lit(None, kind).alias(name))
        elif kind == pl.String:
            quotes = column.str.contains_any(texts, ascii_case_insensitive=True)
            hidden = column.is_not_null() if name in words else quotes
            clean.append(pl.when(hidden).then(pl.lit(REDACTED)).otherwise(column).alias(name))
    return table.with_columns(clean)
