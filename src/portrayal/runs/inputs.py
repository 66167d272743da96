"""What an audit reads from outside, kept in the run: tables as Parquet, pictures as PNG, the rest as JSON.

With these a run is measured again, to the last byte, where the study's folder, its data and its models are gone.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl

from portrayal.errors import PortrayalError
from portrayal.runs.run import Run

# A table, a picture's PNG bytes, or plain data. Nothing an audit reads is None: it is left out instead.
Input: TypeAlias = "pl.DataFrame | bytes | dict[str, Any] | list[Any] | str | int | float | bool"

PLAIN = "inputs.json"


def write_inputs(run: Run, inputs: Mapping[str, Any]) -> None:
    """Write an audit's inputs into the run, in place of those of an earlier recording."""
    part = run.inputs.with_name("inputs.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    files, plain = [], {}
    for name, value in inputs.items():
        if isinstance(value, pl.DataFrame):
            files.append(f"{name}.parquet")
            value.write_parquet(part / files[-1])
        elif isinstance(value, bytes):
            files.append(f"{name}.png")
            (part / files[-1]).write_bytes(value)
        elif value is not None:
            plain[name] = value
    (part / PLAIN).write_text(json.dumps({"files": files, "plain": plain}, ensure_ascii=False, indent=1))
    shutil.rmtree(run.inputs, ignore_errors=True)
    part.rename(run.inputs)


def read_inputs(run: Run) -> dict[str, Any]:
    """Read the inputs a run keeps.

    Raises
    ------
    PortrayalError
        When there are none, because an earlier version recorded the run, or when they are damaged.
    """
    if not run.inputs.is_dir():
        raise PortrayalError(
            f"{run.folder} keeps nothing of what its audit read from outside: an earlier version recorded it. Complete it once,"
            f" where its study's files are: portrayal record {run.folder}. Answers are kept and nothing is asked twice."
        )
    try:
        listed = json.loads((run.inputs / PLAIN).read_text())
        return {Path(name).stem: _read(run.inputs / name) for name in listed["files"]} | listed["plain"]
    except (OSError, ValueError, KeyError, TypeError, pl.exceptions.PolarsError) as error:
        raise PortrayalError(
            f"{run.inputs} is damaged ({str(error).splitlines()[0]}). Complete it where the study's files are: portrayal record"
            f" {run.folder}. Answers are kept and nothing is asked twice."
        ) from None


def _read(path: Path) -> pl.DataFrame | bytes:
    return pl.read_parquet(path) if path.suffix == ".parquet" else path.read_bytes()
