"""Recorded answers as a system: `use = "replay:answers.csv"` (also .jsonl, .parquet, .gz, and COCO's results).

A stimulus without any row is a failed question, never an empty answer: nobody recorded what the system answered.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from portrayal.edges.sizes import open_unpacked, parse_json
from portrayal.errors import PortrayalError, nearest
from portrayal.settings import Settings, validate
from portrayal.systems.core.base import Answer, BaseSystem, CallFailed, Question
from portrayal.systems.core.settings import SystemSettings
from portrayal.tables import ROWS, read_json, read_table

ANSWERED = {"answered", "ok", "done", "success", "empty", ""}
REFUSED = {"refused", "filtered", "blocked"}


class Recording(Settings):
    """Columns of a recording, and the rows that are read."""

    columns: dict[str, str] = {}
    where: dict[str, str] = {}


@dataclass
class Replay(BaseSystem):
    """Answers from a table, as if the system were asked again."""

    batch: int = 256
    repeatable: bool = True
    path: Path = field(default_factory=Path)
    recording: Recording = Recording()
    _answers: dict[tuple[str, int], list[dict[str, Any]]] | None = None

    async def ask(self, questions: Sequence[Question]) -> list[Answer | Exception]:
        """Look the questions up by stimulus and repeat."""
        if self._answers is None:
            table = read_recording(self.path, self.recording, self.kind)
            self._answers = _group_answers(table, self.path.name, one_each=self.kind == "encoder")
        return [self._look_up(question) for question in questions]

    def _look_up(self, question: Question) -> Answer | Exception:
        rows = (self._answers or {}).get((question.stimulus, question.repeat))
        if rows is None:
            return CallFailed("no recorded answer for this stimulus")
        status = str(rows[0].get("status") or "").lower()
        if status not in ANSWERED | REFUSED:
            return CallFailed(f"recorded as {status}")
        version = str(rows[0].get("version") or "")
        return Answer(_raw(rows, self.kind), version=version, refused=status in REFUSED)


def open_system(settings: SystemSettings, folder: Path) -> Replay:
    """Open a recording; the file is read when first asked."""
    path = folder / settings.use.removeprefix("replay:")
    if not path.is_file():
        raise PortrayalError(f"no recording at {path}. Check the path after 'replay:'.")
    parameters = recorded_tags(settings, path)
    return Replay(
        **settings.fields(f"replay:{hashlib.sha256(path.read_bytes()).hexdigest()}", parameters=parameters),
        path=path,
        recording=validate(Recording, parameters, f"system {settings.name!r}: parameters"),
    )


def read_recording(path: Path, recording: Recording, kind: str) -> pl.DataFrame:
    """Read a table of answers with our column names, only the rows that `where` picks."""
    if kind == "captioner" and path.name.removesuffix(".gz").endswith(".json"):
        table = read_coco_results(path).select(pl.col("image").alias("stimulus"), pl.col("text").alias("caption"))
    else:
        table = read_table(path, text=True)
    for column in [*recording.columns.values(), *recording.where]:
        if column not in table.columns:
            raise PortrayalError(f"{path.name} lacks column {column!r} (found: {', '.join(table.columns)}).")
    for column, value in recording.where.items():
        values = table[column].cast(pl.String).unique().sort().drop_nulls().to_list()
        if value not in values:
            raise PortrayalError(
                f"{path.name} has no {column} {value!r} (found: {', '.join(values[:20])}).{nearest(value, values)}"
            )
        table = table.filter(pl.col(column).cast(pl.String) == value)
    table = table.rename({theirs: ours for ours, theirs in recording.columns.items()})
    for column in ("stimulus", next(iter(ROWS[kind]))):
        if column not in table.columns:
            raise PortrayalError(
                f"{path.name} lacks column {column!r} (found: {', '.join(table.columns)})."
                f"{nearest(column, table.columns)} Name it in the system's parameters: columns = {{ {column} = ... }}."
            )
    return table


def read_coco_results(path: Path) -> pl.DataFrame:
    """Read COCO results as image, caption and text, an image's captions numbered."""
    rows = read_json(path, "COCO caption results")
    if not isinstance(rows, list):
        raise PortrayalError(f"{path.name} is not a list. A results file is a list of image_id and caption.")
    seen: Counter[str] = Counter()
    numbered = []
    for row in rows:
        if row.get("image_id") is None:
            raise PortrayalError(f"{path.name} has a caption without image_id. Expected image_id and caption.")
        image = str(row["image_id"])
        numbered.append((image, seen[image], row.get("caption")))
        seen[image] += 1
    schema = {"image": pl.String, "caption": pl.Int64, "text": pl.String}
    return pl.DataFrame(numbered, schema=schema, orient="row")


def recorded_tags(settings: SystemSettings, path: Path) -> dict[str, Any]:
    """Return the parameters, completed for a file of recorded tags."""
    filled = dict(settings.parameters)
    if settings.kind == "tagger" and not filled.get("columns") and {"image_id", "tagger"} <= set(_columns(path)):
        filled = {"columns": {"stimulus": "image_id"}, "where": filled.get("where") or {"tagger": settings.name}}
    return filled


def _columns(path: Path) -> list[str]:
    """Return the column names of a CSV or Parquet file; none for other files."""
    try:
        if path.name.endswith(".parquet"):
            return list(pl.read_parquet_schema(path))
        if ".csv" not in path.name:
            return []
        with open_unpacked(path) as file:
            return file.readline(1024 * 1024).decode("utf-8").strip().split(",")
    except (OSError, EOFError, ValueError, pl.exceptions.PolarsError):
        return []  # reading the file will say what is wrong with it


def _group_answers(table: pl.DataFrame, name: str, one_each: bool) -> dict[tuple[str, int], list[dict[str, Any]]]:
    """Return the rows of each (stimulus, repeat); an empty repeat is the first."""
    if "repeat" not in table.columns:
        table = table.with_columns(pl.lit(0).alias("repeat"))
    try:
        table = table.with_columns(pl.col("repeat").cast(pl.Int64).fill_null(0))
    except pl.exceptions.PolarsError:
        raise PortrayalError(f"{name} has a repeat that is not a whole number.") from None
    groups: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for row in table.with_columns(pl.col("stimulus").cast(pl.String)).iter_rows(named=True):
        groups.setdefault((row["stimulus"], row["repeat"]), []).append(row)
    for (stimulus, repeat), rows in groups.items():
        if one_each and len(rows) > 1:
            raise PortrayalError(
                f"{name} lists stimulus {stimulus!r} (repeat {repeat}) {len(rows)} times. "
                "Keep one embedding of each, or pick one system with `where`."
            )
    return groups


def _raw(rows: list[dict[str, Any]], kind: str) -> bytes:
    """Return the answer of a stimulus as JSON, without null rows."""
    columns = list(ROWS[kind])
    answered = [{name: row.get(name) for name in columns} for row in rows if row.get(columns[0]) is not None]
    if kind == "encoder" and answered:
        return json.dumps(_vector(answered[0]["embedding"]), ensure_ascii=False).encode()
    answer = [{key: value for key, value in row.items() if key != "rank" or value is not None} for row in answered]
    return json.dumps(answer, ensure_ascii=False).encode()


def _vector(value: Any) -> Any:
    """Parse the JSON list of an embedding in a CSV."""
    try:
        return parse_json(value) if isinstance(value, str) else value
    except ValueError:
        return value
