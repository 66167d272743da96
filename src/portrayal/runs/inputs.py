"""What an audit reads from outside, kept in the run: tables as Parquet, pictures as PNG, the rest as JSON.

With these a run is measured again, to the last byte, where the study's folder, its data and its models are gone.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
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
    plain: dict[str, Any] = {}
    for name, value in inputs.items():
        if isinstance(value, pl.DataFrame):
            value.write_parquet(part / f"{name}.parquet")
        elif isinstance(value, bytes):
            (part / f"{name}.png").write_bytes(value)
        elif value is not None:
            plain[name] = value
    (part / PLAIN).write_text(json.dumps(plain, ensure_ascii=False, indent=1))
    shutil.rmtree(run.inputs, ignore_errors=True)
    part.rename(run.inputs)


def read_inputs(run: Run) -> dict[str, Any]:
    """Read the inputs a run keeps.

    Raises
    ------
    PortrayalError
        When there are none: the run was recorded by an earlier version.
    """
    if not (run.inputs / PLAIN).exists():
        raise PortrayalError(
            f"{run.folder} keeps nothing of what its audit read from outside: an earlier version recorded it. Complete it once,"
            f" where its study's files are: portrayal record {run.folder}. Answers are kept and nothing is asked twice."
        )
    tables = {path.stem: pl.read_parquet(path) for path in sorted(run.inputs.glob("*.parquet"))}
    pictures = {path.stem: path.read_bytes() for path in sorted(run.inputs.glob("*.png"))}
    plain: dict[str, Any] = json.loads((run.inputs / PLAIN).read_text())
    return {**tables, **pictures, **plain}
