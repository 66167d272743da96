"""Evidence of a run, read back for measuring: study, stimuli, answers, inputs and reviews."""

from __future__ import annotations

import json
import shutil
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl

from portrayal.edges.json_text import parse_json
from portrayal.edges.sizes import LARGEST_TABLE, check_size, read_toml
from portrayal.edges.writing import make_inside, write_bytes, write_parquet, write_text
from portrayal.errors import PortrayalError
from portrayal.recorder.ledger import Ledger
from portrayal.recorder.responses import read_responses
from portrayal.run.folder import Run, kept_bytes, kept_table
from portrayal.run.measurement import FACT, are_late
from portrayal.run.reviews import reviews_of
from portrayal.study.audit import Evidence
from portrayal.study.registry import get_audit
from portrayal.study.study import Study
from portrayal.study.study_file import make_study

# A table, a picture's PNG bytes, or plain data. Nothing an audit reads is None: it is left out instead.
Input: TypeAlias = "pl.DataFrame | bytes | dict[str, Any] | list[Any] | str | int | float | bool"

PLAIN = "inputs.json"


def write_inputs(run: Run, inputs: Mapping[str, Any]) -> None:
    """Write an audit's inputs into the run, in place of those of an earlier recording."""
    part = run.inputs.with_name("inputs.part")
    _remove(part)
    _refuse_others(run.inputs)
    make_inside(part)
    files, plain = [], {}
    for name, value in inputs.items():
        if isinstance(value, pl.DataFrame):
            files.append(f"{name}.parquet")
            write_parquet(value, part / files[-1])
        elif isinstance(value, bytes):
            files.append(f"{name}.png")
            write_bytes(part / files[-1], value)
        elif value is not None:
            plain[name] = value
    write_text(part / PLAIN, json.dumps({"files": files, "plain": plain}, ensure_ascii=False, indent=1))
    _remove(run.inputs)
    part.rename(run.inputs)


def _remove(folder: Path) -> None:
    """Remove one of our folders; of a link the link alone."""
    if folder.is_symlink():
        folder.unlink()
    shutil.rmtree(folder, ignore_errors=True)


def _refuse_others(folder: Path) -> None:
    """Refuse to replace a folder that holds files we did not put there."""
    if not (folder / PLAIN).is_file():
        return
    try:
        named = {PLAIN, *parse_json((folder / PLAIN).read_text(encoding="utf-8"))["files"]}
    except (OSError, ValueError, KeyError, TypeError):
        return  # damaged: it is made anew
    for path in folder.iterdir():
        if path.name.removesuffix(".part") not in named:
            raise PortrayalError(f"{path} was not put there by Portrayal. Move it away: the folder is written anew.")


def read_inputs(run: Run) -> dict[str, Any]:
    """Read the inputs a run keeps."""
    if not run.inputs.is_dir():
        raise PortrayalError(
            f"{run.folder} keeps nothing of what its audit read from outside: an earlier version recorded it. Complete it once,"
            f" where its study's files are: portrayal record {run.folder}. Answers are kept and nothing is asked twice."
        )
    try:
        check_size(run.inputs / PLAIN, LARGEST_TABLE)
        listed = parse_json((run.inputs / PLAIN).read_text(encoding="utf-8"))
        return {Path(name).stem: _read(run.inputs, str(name)) for name in listed["files"]} | listed["plain"]
    except (OSError, ValueError, KeyError, TypeError, pl.exceptions.PolarsError) as error:
        raise PortrayalError(
            f"{run.inputs} is damaged ({str(error).splitlines()[0]}). Complete it where the study's files are: portrayal record"
            f" {run.folder}. Answers are kept and nothing is asked twice."
        ) from None


def _read(folder: Path, name: str) -> pl.DataFrame | bytes:
    """Read one file of the folder; a name that leads out of it is refused."""
    if Path(name).name != name:
        raise ValueError(f"it names {name!r}, which is no file of its own")
    try:
        return kept_table(folder / name, "") if name.endswith(".parquet") else kept_bytes(folder / name, "")
    except PortrayalError as error:
        raise ValueError(str(error)) from None


RECORD = "Make it anew: portrayal record RUN; answers are kept and nothing is asked twice."


def study_of(run: Run, folder: Path | None = None) -> Study:
    """Read the study a run keeps; its relative paths start in `folder`, if given."""
    with Ledger.reading(run.ledger) as ledger:
        usual, noted = ledger.fact("study_folder"), ledger.fact(FACT)
    try:
        study = make_study(read_toml(run.study), str(folder or usual or run.folder))
        return study.model_copy(update={"hypotheses_late": are_late(study, noted)})
    except FileNotFoundError:
        raise PortrayalError(f"{run.folder} has no study.toml. Record it again: portrayal audit STUDY.toml") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PortrayalError(
            f"{run.study} is damaged ({error}). Record it again: portrayal audit STUDY.toml --out {run.folder}"
        ) from None


def evidence_of(study: Study, run: Run) -> Evidence:
    """Read what the run keeps: stimuli, answers, inputs and reviews."""
    stimuli = kept_table(run.stimuli, RECORD)
    with Ledger.reading(run.ledger) as ledger:
        responses = read_responses(ledger.entries(), stimuli, get_audit(study.audit).kind)
    return Evidence(stimuli, responses, read_inputs(run), reviews_of(run), study.seed)
