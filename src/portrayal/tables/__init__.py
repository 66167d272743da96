"""Column contracts of Stimuli, Responses, Reviews and Results, and their checks.

Tables may carry more columns: controlled factors, or those of a system's kind. Checks happen where a table enters the package.
"""

from __future__ import annotations

import csv
import json
import math
import struct
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce, wraps
from operator import or_
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
import polars as pl

from portrayal.edges.sizes import LARGEST_TABLE, check_parquet, check_size, open_unpacked, parse_json, read_unpacked
from portrayal.errors import PortrayalError, nearest

Contract = Mapping[str, Any]

STIMULI: Contract = {
    "stimulus": pl.String,  # the id, once per table
    "kind": pl.String,  # text, image, query or prompt
    "content": pl.String,  # the text itself, or the path of the image
    "hash": pl.String,  # SHA-256 of what the system is shown
    "source": pl.String,
    "license": pl.String,
    "consent": pl.String,  # how the people shown agreed, "generated", or "none shown"
}

RESPONSES: Contract = {
    "system": pl.String,
    "stimulus": pl.String,
    "repeat": pl.Int64,
    "status": pl.String,  # answered, or why there is no usable answer: see STATUSES
}

REVIEWS: Contract = {
    "item": pl.String,  # what was judged: a case, a tag, a picture
    "question": pl.String,
    "reviewer": pl.String,
    "judgment": pl.String,  # null until somebody judged
    "note": pl.String,
}

RESULTS: Contract = {
    "audit": pl.String,
    "system": pl.String,
    "measure": pl.String,
    "group": pl.String,  # whom the row is about; of a contrast, the first side
    "versus": pl.String,  # the second side of a contrast
    "value": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "null": pl.Float64,  # the value that would show no difference or harm; 0 where it is left out
    "p": pl.Float64,
    "p_floor": pl.Float64,  # the smallest p this design could give, where that is not 0
    "p_adjusted": pl.Float64,
    "n": pl.Int64,
    "counted": pl.String,  # what n counts: people, images, queries ...
    "n_answered": pl.Int64,  # questions
    "n_missing": pl.Int64,
    "n_refused": pl.Int64,  # questions
    "unit": pl.String,
    "family": pl.String,  # confirmatory, exploratory, or null where nothing was tested
    "decision": pl.String,  # see stats/decision.py
    "reason": pl.String,  # why something was not tested or cannot be measured
    "value_if_all": pl.Float64,  # a difference, had all who are missing done so
    "value_if_none": pl.Float64,  # or none of them
    "tested_by": pl.String,  # the name of the test, where its power is known (stats/power)
    "n_first": pl.Int64,  # units of the first side of such a test
    "n_second": pl.Int64,
    "base_share": pl.Float64,  # the smaller of the two shares it compares
    "detectable": pl.Float64,  # the effect that 80 of 100 such audits would have found
    "note": pl.String,
}
# Without these there is no result; the other columns are null where a table does not have them.
NEEDED = ("audit", "system", "measure", "value", "low", "high", "p", "n", "unit")

# What a question came to. "empty" is an answer that holds nothing, an outcome of its own: from a tagger or a generator it is
# an answer, in which every label is absent; an empty caption says nothing. Every status but these two is missing.
# "refused" is also what declines in words, "unparsable" what cannot be read.
STATUSES = ("answered", "empty", "refused", "filtered", "failed", "unknown", "planned", "unparsable")
ANSWERED = ("answered", "empty")  # a system that lists what it sees has answered, be the list empty

# The columns a response of each kind of system adds to RESPONSES. One row per tag, caption, result ...
ROWS: Mapping[str, Contract] = {
    "tagger": {"tag": pl.String, "confidence": pl.Float64},
    "captioner": {"caption": pl.String},
    "encoder": {"embedding": pl.List(pl.Float64)},
    "ranker": {"doc": pl.String, "rank": pl.Int64, "score": pl.Float64},
    "generator": {"label": pl.String, "score": pl.Float64},
}
# Kinds whose answers are sets: an empty one is an answer, and what repeats counts once.
SETS = ("tagger", "generator")
# A row of each kind in one word.
NOUNS = {"tagger": "tag", "captioner": "caption", "encoder": "embedding", "ranker": "result", "generator": "label"}


def as_frame(table: Any, name: str = "table") -> pl.DataFrame:
    """Return a polars, pandas or Arrow table, or a list of dicts, as polars."""
    if isinstance(table, pl.DataFrame):
        return table
    if isinstance(table, pl.LazyFrame):
        return table.collect()
    if isinstance(table, Sequence) and all(isinstance(row, Mapping) for row in table):
        return pl.DataFrame(list(table), infer_schema_length=None)
    try:
        if type(table).__module__.partition(".")[0] == "pandas" and hasattr(table, "columns"):
            return _from_pandas(table)
        if hasattr(table, "column_names") or hasattr(table, "__arrow_c_stream__"):
            return pl.DataFrame(table)
    except (TypeError, ValueError, pl.exceptions.PolarsError) as error:
        raise PortrayalError(f"{name} cannot be read as a table: {_first_line(error)}.") from None
    raise PortrayalError(
        f"{name} is a {type(table).__name__}. Expected a polars, pandas or Arrow table, or a list of dicts."
    )


def _from_pandas(table: Any) -> pl.DataFrame:
    """Read a pandas table; without pyarrow, which polars wants for it, column by column."""
    try:
        return pl.from_pandas(table)
    except ImportError:
        columns = {
            str(name): [None if lost else value for value, lost in zip(values, values.isna(), strict=True)]
            for name, values in table.items()
        }
        return pl.DataFrame(columns, strict=False)


def check(table: Any, contract: Contract, name: str, hint: str = "") -> pl.DataFrame:
    """Return the table with the contract's columns first and of the contract's types."""
    frame = as_frame(table, name)
    for column in contract:
        if column not in frame.columns:
            present = ", ".join(frame.columns) or "none"
            raise PortrayalError(f"{name} lacks column {column!r} (found: {present}). {hint}".strip())
    try:
        typed = frame.with_columns(pl.col(column).cast(kind) for column, kind in contract.items())
    except pl.exceptions.PolarsError as error:
        raise PortrayalError(f"{name} has a column of the wrong type: {_first_line(error)}. {hint}".strip()) from None
    others = [column for column in frame.columns if column not in contract]
    return typed.select(*contract, *others)


def check_stimuli(table: Any) -> pl.DataFrame:
    """Check a Stimuli table: the contract, at least one row, no id twice."""
    frame = check(table, STIMULI, "stimuli")
    if frame.is_empty():
        raise PortrayalError("stimuli is empty. A study needs at least one stimulus; see docs/architecture.md.")
    for column in ("stimulus", "kind", "content", "hash"):
        if frame[column].null_count():
            rows = f"{frame[column].null_count()} row(s)"
            raise PortrayalError(f"stimuli has {rows} without {column!r}. Fill it in for every stimulus.")
    twice = frame.filter(pl.col("stimulus").is_duplicated())["stimulus"]
    if len(twice):
        raise PortrayalError(f"stimulus {twice[0]!r} is listed twice. Give every stimulus its own id.")
    return frame.with_columns(pl.col("source", "license", "consent").fill_null(""))


def check_responses(table: Any, kind: str, hint: str = "") -> pl.DataFrame:
    """Check a Responses table of one kind of system ('tagger', 'captioner', 'encoder', ...).

    Unanswered questions are one bare row each. Answers of taggers and generators are sets: repeats are dropped. A second vector
    of an encoder is refused; a captioner may say the same twice.
    """
    frame = check(table, {**RESPONSES, **ROWS[kind]}, "responses", hint)
    if strange := sorted(map(str, set(frame["status"].unique()) - set(STATUSES))):
        raise PortrayalError(f"responses has status {strange}. Expected one of {', '.join(STATUSES)}.")
    answered = pl.col("status") == "answered"
    bare = frame.with_columns(pl.when(answered).then(column).alias(column) for column in ROWS[kind])
    return _without_repeats(bare, kind)


def _without_repeats(frame: pl.DataFrame, kind: str) -> pl.DataFrame:
    """Return questions without an answer once, and repeats of sets once."""
    answered = frame["status"] == "answered"
    if not answered.all():
        silent = frame.select(*RESPONSES).with_row_index().filter(~answered)
        first = silent.unique([*RESPONSES], keep="first")["index"]
        frame = frame.filter(answered | pl.Series(np.isin(np.arange(frame.height), first.to_numpy())))
    if kind == "encoder":
        twice = frame.filter(pl.struct("system", "stimulus", "repeat").is_duplicated())
        if not twice.is_empty():
            what = f"two vectors of {twice['system'][0]!r} for {twice['stimulus'][0]!r}"
            raise PortrayalError(f"responses has {what} under one repeat. Expected one.")
    if kind not in SETS:
        return frame
    # Rows whose hashes differ are different, which takes a tenth of comparing them.
    hashes = frame.select(*RESPONSES, next(iter(ROWS[kind]))).hash_rows()
    return frame if hashes.n_unique() == frame.height else frame.unique(maintain_order=True)


def starts(frame: pl.DataFrame, columns: Sequence[str]) -> pl.Series:
    """Return for each row whether it differs in these columns from the one before."""
    first = pl.Series("starts", [True] * min(1, frame.height), dtype=pl.Boolean)
    return first.append(changes(frame, columns)) if frame.height > 1 else first


def changes(frame: pl.DataFrame, columns: Sequence[str]) -> pl.Series:
    """Return for each row but the first whether it differs from the one before."""
    return reduce(or_, (_changes(frame[name]) for name in columns))


def _changes(column: pl.Series) -> pl.Series:
    """Return where a column differs from the row before, by slices instead of copies."""
    now, before = column[1:], column[:-1]
    return now.ne_missing(before) if column.null_count() else now != before


def check_results(table: Any) -> pl.DataFrame:
    """Check a Results table: the contract, and no estimate without `n`."""
    frame = as_frame(table, "results")
    left_out = RESULTS.keys() - frame.columns - set(NEEDED)
    frame = check(frame.with_columns(pl.lit(None, RESULTS[name]).alias(name) for name in left_out), RESULTS, "results")
    bare = frame.filter(pl.col("value").is_not_null() & pl.col("n").is_null())
    if not bare.is_empty():
        why = "has a value but no n. An estimate without n does not exist here."
        raise PortrayalError(f"result {bare['measure'][0]!r} {why}")
    return frame


def facets(results: pl.DataFrame) -> list[str]:
    """Return the columns beside the contract, which say what rows are about."""
    return [name for name in results.columns if name not in RESULTS]


def results(rows: Iterable[Mapping[str, Any]], facets: Sequence[str] = (), **columns: Any) -> pl.DataFrame:
    """Build a Results table from dicts; columns left out are null, unknown columns are refused.

    `facets` are further columns of text: a place, a stage, an axis. `columns` hold for every row that does not say
    otherwise.

    Examples
    --------
    >>> results([{"measure": "gsr", "value": 0.1, "n": 83}], audit="search").select("audit", "n").row(0)
    ('search', 83)
    """
    schema = {**RESULTS, **dict.fromkeys(facets, pl.String)}
    rows = [{**columns, **row} for row in rows]
    if unknown := sorted({key for row in rows for key in row} - set(schema)):
        raise PortrayalError(f"results has no column {unknown[0]!r}.{nearest(unknown[0], schema)}")
    filled = [{column: row.get(column) for column in schema} for row in rows]
    return check_results(pl.DataFrame(filled, schema=schema))


def finite(value: Any) -> Any:
    """Return the value, or None for a float that is not finite."""
    if not isinstance(value, (float, np.floating)):
        return value
    return float(value) if math.isfinite(value) else None


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0]


def read_table(path: Path, text: bool = False) -> pl.DataFrame:
    """Read a CSV, JSON-lines or Parquet file; with `text` 007 stays text."""
    ending = path.name.removesuffix(".gz").rpartition(".")[2].lower()
    if ending not in _READERS:
        raise PortrayalError(f"{path.name} ends in .{ending}. Expected .csv, .tsv, .jsonl or .parquet.")
    try:
        check_unpacked(path)
        return _READERS[ending](path, text)
    except (pl.exceptions.PolarsError, OSError, EOFError, ValueError) as error:
        raise PortrayalError(f"{path.name} cannot be read: {str(error).splitlines()[0]}.") from None


def check_unpacked(path: Path) -> None:
    """Refuse a table larger than is read: on disk, unpacked, or by its footer."""
    check_size(path, LARGEST_TABLE)
    if path.suffix == ".parquet" and path.is_file():
        check_parquet(path)
    if path.suffix == ".gz":
        with open_unpacked(path, LARGEST_TABLE) as file:
            while file.read(1024 * 1024):  # polars unpacks without a limit: it is counted before
                pass


# What code stumbles over in a file that is not what it seems; zipfile and deep JSON give runtime errors.
_STRANGE = (
    LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RuntimeError, EOFError, OSError, struct.error, zlib.error,
    csv.Error, pl.exceptions.PolarsError,
)  # fmt: skip
Reader = TypeVar("Reader", bound=Callable[..., Any])


def reads(what: str) -> Callable[[Reader], Reader]:
    """Let a reader say in one line that its file is not `what`."""

    def wrapped(read: Reader) -> Reader:
        @wraps(read)
        def reading(path: Path | str, *more: Any, **named: Any) -> Any:
            try:
                return read(path, *more, **named)
            except PortrayalError:
                raise
            except _STRANGE as error:
                name, why = Path(path).name, f"{type(error).__name__} {str(error)[:200]}"
                raise PortrayalError(f"{name} cannot be read as {what}: {why}.") from None

        return cast(Reader, reading)

    return wrapped


@reads("JSON")
def read_json(path: Path, what: str) -> Any:
    """Read a JSON file, gzipped or not."""
    try:
        text = read_unpacked(path)
        value = parse_json(text)
        # Half of a surrogate pair is no character, and no table takes it.
        if b"\xed" in text or b"\\ud" in text.lower():
            json.dumps(value, ensure_ascii=False).encode()
        return value
    except (OSError, EOFError, ValueError) as error:
        raise PortrayalError(f"{path} cannot be read as {what}: {str(error).splitlines()[0]}.") from None


def read_csv(path: Path, what: str = "a CSV", hint: str = "") -> pl.DataFrame:
    """Read a CSV whose columns all stay text; errors name `what` and `hint`."""
    try:
        check_unpacked(path)
        return pl.read_csv(path, infer_schema=False)
    except (pl.exceptions.PolarsError, OSError, EOFError, ValueError) as error:
        message = f"{path} cannot be read as {what}: {str(error).splitlines()[0]}. {hint}"
        raise PortrayalError(message.strip()) from None


def _read_jsonl(path: Path) -> pl.DataFrame:
    """Read JSON lines, gzipped or not; an error names the damaged line."""
    text = read_unpacked(path)
    try:
        return pl.read_ndjson(text, infer_schema_length=None)
    except (pl.exceptions.PolarsError, ValueError):
        for number, line in enumerate(text.split(b"\n"), start=1):
            try:
                row = parse_json(line) if line.strip() else {}
            except ValueError as error:
                raise ValueError(f"line {number} is no JSON ({str(error).splitlines()[0]})") from None
            if not isinstance(row, dict):
                raise ValueError(f"line {number} is no JSON object, but {line[:40]!r}") from None
        raise


_READERS: dict[str, Callable[[Path, bool], pl.DataFrame]] = {
    "csv": lambda path, text: pl.read_csv(path, infer_schema=not text, infer_schema_length=10_000),
    "tsv": lambda path, text: pl.read_csv(path, separator="\t", infer_schema=not text, infer_schema_length=10_000),
    "jsonl": lambda path, text: _read_jsonl(path),
    "parquet": lambda path, text: pl.read_parquet(path),
}
