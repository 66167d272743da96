"""Export of a study's stimuli for others to record, with a table to fill in."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from portrayal.edges.folders import claim
from portrayal.edges.inert import inert_cells
from portrayal.edges.writing import make_inside, write_text
from portrayal.study.questions import make_stimuli
from portrayal.study.registry import get_audit
from portrayal.study.study_file import AnyStudy, read_any_study
from portrayal.study.trust import refuse_untrusted
from portrayal.tables import ROWS

PICTURES = "pictures"
COLUMNS = ["stimulus", "kind", "content", "hash", "source", "consent"]
NOT_RECORDED = ("", "none", "unknown")


def export_stimuli(study: AnyStudy, out: Path | str, untrusted: bool = False) -> Path:
    """Write what a study would show its systems, for others to record; calls nothing.

    Parameters
    ----------
    study
        The path of a study in TOML, a dict of the same shape, or a `Study`.
    out
        A new or empty folder, or one that was exported into before.
    untrusted
        Refuse a study that would run code or send secrets of its choice.

    Returns
    -------
    pathlib.Path
        The table `stimuli.csv`: `stimulus` (its id), `kind`, `content` (a text, or a picture's path in the folder), `hash`,
        `source` and `consent`. Beside it lie `stimuli.jsonl`, the same to the letter (in a CSV text that a spreadsheet would run
        gets an apostrophe), the pictures, `answers.csv` with the columns to fill in, and a README.

    Examples
    --------
    >>> import tempfile
    >>> from portrayal import example_study, export_stimuli
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table = export_stimuli(example_study(), folder)
    ...     print(table.read_text().splitlines()[1].split(",")[:3])
    ['John', 'text', 'John']
    """
    parsed = read_any_study(study).study
    if untrusted:
        refuse_untrusted(parsed)
    stimuli, kind = make_stimuli(parsed), get_audit(parsed.audit).kind
    folder = Path(out)
    claim(folder, "stimuli")
    rows = stimuli.select(COLUMNS).rows(named=True)
    shown = [{**row, "content": _shown(row, folder, place)} for place, row in enumerate(rows)]
    table = pl.DataFrame(shown, schema=dict.fromkeys(COLUMNS, pl.String))
    write_text(folder / "stimuli.jsonl", table.write_ndjson())
    inert = table.with_columns(inert_cells(pl.col(name)).alias(name) for name in COLUMNS)
    write_text(folder / "stimuli.csv", inert.write_csv())
    columns = ["stimulus", *ROWS[kind], *(["repeat"] if parsed.repeats > 1 else []), "status"]
    if not (folder / "answers.csv").exists():  # which somebody may have filled in
        write_text(folder / "answers.csv", ",".join(columns) + "\n")
    times = f" {parsed.repeats} times, numbered from 0 in `repeat`" if parsed.repeats > 1 else ""
    readme = (Path(__file__).parent / "first" / "README.txt").read_text(encoding="utf-8")
    about = {"name": repr(parsed.name), "kind": kind, "times": times, "columns": ", ".join(columns)}
    write_text(folder / "README.txt", readme.format(**about))
    return folder / "stimuli.csv"


def _shown(row: Mapping[str, Any], folder: Path, place: int) -> str:
    """Return a text, or a picture's copy under a number; pictures without consent stay where they are."""
    if row["kind"] != "image" or not Path(row["content"]).is_file():
        return str(row["content"])
    if str(row["consent"] or "").strip().lower() in NOT_RECORDED:
        return "withheld: no consent or licence is recorded for this picture"
    name = f"{place:06d}{Path(row['content']).suffix.lower()}"
    shutil.copyfile(row["content"], make_inside(folder / PICTURES) / name)
    return f"{PICTURES}/{name}"
