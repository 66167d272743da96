"""Packs, which others can check, and redaction, without pictures and free text.

Texts are left out of a new folder, not crossed out in the old one: none can lie in a page of the ledger or a forgotten column.
"""

import hashlib
import json
import re
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl

import portrayal
from portrayal.edges.sizes import LARGEST_PICTURE, is_picture
from portrayal.edges.writing import make_inside, refuse_foreign_file, replacing, write_bytes, write_parquet, write_text
from portrayal.errors import PortrayalError
from portrayal.handover.archive import fingerprint, write_archive
from portrayal.recorder.ledger import Ledger
from portrayal.recorder.responses import put_right
from portrayal.run.contents import MEND, PLAIN, RECORD, measured_files, read_measured, study_of, write_measured
from portrayal.run.folder import FILE, STUDY_FILE, Run, existing_run, kept_json, kept_table, reading, refuse_redacted
from portrayal.study.questions import is_picture_of
from portrayal.tables import RESPONSES

# Pictures that show nobody who lives; all others are people's, whatever they agreed to for the study.
NOBODY = ("generated", "none shown")
# Licences that let anybody pass a picture on unchanged.
OPEN = re.compile(r"(?i)^(cc0|cc[ -]by|creative commons|public domain|mit\b|bsd|apache|odc|pddl)")


def sort_pictures(stimuli: pl.DataFrame) -> tuple[dict[str, Path], list[dict[str, str]]]:
    """Return pictures that may be passed on, by name, and the others with the reason."""
    packed: dict[str, Path] = {}
    withheld: list[dict[str, str]] = []
    for row in stimuli.filter(pl.col("kind") == "image").iter_rows(named=True):
        path = Path(row["content"])
        own, reason = _looked_at(row, path)
        if reason:
            withheld.append({"stimulus": row["stimulus"], "hash": row["hash"], "reason": reason})
        else:
            packed[f"pictures/{own}{path.suffix.lower()}"] = path
    return packed, withheld


def _looked_at(row: Mapping[str, Any], path: Path) -> tuple[str, str]:
    """Return the hash of a picture's file, and why it is left out, if so."""
    consent, licence = (row["consent"] or "").strip().lower(), (row["license"] or "").strip()
    if consent not in NOBODY:
        return "", f"it may show a real person (consent: {row['consent'] or 'none recorded'})"
    if not OPEN.match(licence):
        return "", f"its licence does not say that it may be passed on (license: {licence or 'none recorded'})"
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > LARGEST_PICTURE:
            return "", "its file is not there, or is no plain file of a picture's size"
        data = path.read_bytes()
    except (OSError, ValueError):
        return "", "its file cannot be read"
    if not is_picture_of(data, row["stimulus"], row["hash"]) or not is_picture(data):
        return "", "its file is no picture, or changed since it was shown"
    return hashlib.sha256(data).hexdigest(), ""


FORM = 1  # raise it when packs of before can no longer be read
LIST, SEAL = "pack.json", "seal.json"
NEEDED = ("study.toml", "manifest.json", "stimuli.parquet", "responses.parquet", "results.parquet", "warnings.json")  # fmt: skip
PERHAPS = ("reviews.csv", "redacted.json")


def pack(folder: Path | str, out: Path | str) -> list[str]:
    """Write a measured run into one file that `verify` can check anywhere.

    Parameters
    ----------
    folder
        The run.
    out
        The file; one that is there is replaced if it is an archive.

    Returns
    -------
    list of str
        What was packed, and which pictures were left out and why, a line each.

    Examples
    --------
    >>> import tempfile
    >>> from portrayal import audit, example_study, pack
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = audit(example_study(), f"{folder}/run", quiet=True)
    ...     lines = pack(f"{folder}/run", f"{folder}/run.zip")
    >>> lines[0].endswith("run.zip: 12 files, every one of them hashed")
    True
    """
    run, path = existing_run(folder), Path(out)
    refuse_foreign_file(path, (b"PK\x03\x04",), "an archive")
    with reading(run), tempfile.TemporaryDirectory() as temporary:
        files = _files(run, Path(temporary))
        pictures, withheld = sort_pictures(kept_table(run.stimuli, RECORD))
        files |= pictures
        study = study_of(run)
        about = {
            "form": FORM,
            "portrayal": portrayal.__version__,
            "study": study.name,
            "audit": study.audit,
            "study_sha256": kept_json(run.manifest, dict, RECORD).get("study_sha256"),
            "files": {name: fingerprint(path) for name, path in files.items()},
            "withheld": withheld,
        }
        files |= {name: Path(temporary) / name for name in (LIST, SEAL)}
        files[LIST].write_text(as_json(about), encoding="utf-8")
        files[SEAL].write_bytes(seal_of(files[LIST]))
        with replacing(path) as part:
            write_archive(part, files)
    lines = [f"{path}: {len(files):,} files, every one of them hashed"]
    for reason, count in Counter(one["reason"] for one in withheld).items():
        lines.append(f"left out, their hashes kept: {count:,} picture{'' if count == 1 else 's'}: {reason}")
    return lines


def seal_of(path: Path) -> bytes:
    """Return what seals the list of files: its own fingerprint."""
    return as_json({LIST: fingerprint(path)}).encode()


def as_json(value: Mapping[str, Any]) -> str:
    """Return JSON text that is the same for the same value."""
    return json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _files(run: Run, temporary: Path) -> dict[str, Path]:
    """Return the run's files by their names in the pack, the ledger as a copy."""
    for name in NEEDED:
        if not (run.folder / name).is_file():
            raise PortrayalError(f"{run.folder} has no {name}. Measure it first: portrayal measure {run.folder}")
    inside = [path for path in sorted(run.inputs.iterdir()) if not path.name.endswith(".part")]
    paths = [run.folder / name for name in (*NEEDED, *PERHAPS)] + inside + measured_files(run)
    files = {str(path.relative_to(run.folder)): path for path in paths if path.is_file()}
    with Ledger.reading(run.ledger) as ledger:
        ledger.copy(temporary / "ledger.sqlite")
    return {**files, "ledger.sqlite": temporary / "ledger.sqlite"}


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
    with Ledger.reading(run.ledger) as recorded:
        recorded.copy(whole)
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
