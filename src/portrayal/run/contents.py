"""Contents of a run: study, evidence and results, written and read back."""

import json
import shutil
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from portrayal.edges.folders import belongings, replace_belongings
from portrayal.edges.sizes import LARGEST_TABLE, check_size, parse_json, read_toml
from portrayal.edges.writing import make_inside, replacing, write_bytes, write_parquet, write_text
from portrayal.errors import PortrayalError
from portrayal.recorder.ledger import Ledger
from portrayal.recorder.responses import read_responses
from portrayal.run.folder import Run, existing_run, kept_bytes, kept_json, kept_table
from portrayal.run.measurement import FACT, are_late
from portrayal.run.reviews import merge_reviews, reviews_of, write_reviews
from portrayal.study.audit import Evidence, Measured
from portrayal.study.registry import get_audit
from portrayal.study.study import Study
from portrayal.study.study_file import make_study
from portrayal.tables import check_results

PLAIN = "inputs.json"


def write_inputs(run: Run, inputs: Mapping[str, Any]) -> None:
    """Write the tables, PNG bytes and plain data that an audit read."""
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
    check_size(run.inputs / PLAIN, LARGEST_TABLE)
    inputs: dict[str, Any] = {}
    try:
        listed = parse_json((run.inputs / PLAIN).read_text(encoding="utf-8"))
        for name in map(str, listed["files"]):
            if Path(name).name != name:
                raise ValueError(f"it names {name!r}, which is no file of its own")
            inputs[Path(name).stem] = (kept_table if name.endswith(".parquet") else kept_bytes)(run.inputs / name, "")
        return inputs | listed["plain"]
    except (PortrayalError, OSError, ValueError, KeyError, TypeError) as error:
        raise PortrayalError(
            f"{run.inputs} is damaged ({str(error).splitlines()[0]}). Complete it where the study's files are: portrayal record"
            f" {run.folder}. Answers are kept and nothing is asked twice."
        ) from None


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


MEASURED = "measured"  # the group of files noted in the run's mark
MEND = "Measure again: portrayal measure RUN"
REMARK = "remark"


def write_measured(run: Run, measured: Measured) -> None:
    """Write results, tables, warnings and cases to review into the run."""
    run.results.unlink(missing_ok=True)  # first, and written last: a kill never leaves results beside tables of others
    make_inside(run.tables)
    names = [f"{name}.parquet" for name in measured.tables] + [f"{name}.png" for name in measured.pictures]
    replace_belongings(run.folder, MEASURED, [f"tables/{name}" for name in names])
    for name, table in measured.tables.items():
        write_parquet(table, run.tables / f"{name}.parquet")
    for name, picture in measured.pictures.items():
        write_bytes(run.tables / f"{name}.png", picture)
    write_text(run.warnings, json.dumps(kept_warnings(measured)))
    if measured.reviews is not None:
        merged = merge_reviews(reviews_of(run), measured.reviews)
        with replacing(run.reviews) as part:  # people's judgments: half a file would lose some
            write_reviews(merged, part)
    write_parquet(measured.results, run.results)


def kept_warnings(measured: Measured) -> list[Any]:
    """Return what warnings.json holds: a text for each warning, and an object for each remark."""
    return [*measured.warnings, *({REMARK: line} for line in measured.remarks)]


def read_results(folder: Path | str) -> pl.DataFrame:
    """Return the Results table of a measured run.

    Returns
    -------
    polars.DataFrame
        One row an estimate, with the columns of `portrayal.tables.RESULTS`.

    Examples
    --------
    >>> import tempfile
    >>> from portrayal import audit, example_study, read_results
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = audit(example_study(), folder, quiet=True)
    ...     read_results(folder).select("system", "measure", "decision", "n").rows()
    [('simulated', 'eat', 'not found', 16), ('simulated', 'answered', 'not tested', 32)]
    """
    return read_measured(existing_run(folder)).results


def read_measured(run: Run) -> Measured:
    """Read back what `measure` left in a run."""
    if not run.results.exists():
        raise PortrayalError(f"{run.folder} has no results yet. Run: portrayal measure {run.folder}")
    paths = measured_files(run)
    tables = {path.stem: kept_table(path, MEND) for path in paths if path.suffix == ".parquet"}
    pictures = {path.stem: kept_bytes(path, MEND) for path in paths if path.suffix == ".png"}
    lines = kept_json(run.warnings, list, MEND)
    warnings = [str(line) for line in lines if not isinstance(line, dict)]
    remarks = [str(line.get(REMARK)) for line in lines if isinstance(line, dict)]
    try:
        results = check_results(kept_table(run.results, MEND))
    except PortrayalError as error:
        raise PortrayalError(f"{run.results}: {error} {MEND}") from None
    return Measured(results, tables, warnings, pictures=pictures, remarks=remarks)


def measured_files(run: Run) -> list[Path]:
    """Return the tables and pictures that measuring wrote; what else lies there is not ours."""
    noted = belongings(run.folder, MEASURED)
    if noted is None:  # a run of an earlier version
        noted = [f"tables/{path.name}" for path in run.tables.glob("*") if path.suffix in (".parquet", ".png")]
    return [run.folder / name for name in sorted(noted)]
