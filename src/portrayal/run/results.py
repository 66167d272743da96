"""Results of a run, written into its folder and read back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl

from portrayal.edges.folders import belongings, replace_belongings
from portrayal.edges.writing import make_inside, replacing, write_bytes, write_parquet, write_text
from portrayal.errors import PortrayalError
from portrayal.run.folder import Run, existing_run, kept_bytes, kept_json, kept_table
from portrayal.run.reviews import merge_reviews, reviews_of, write_reviews
from portrayal.study.audit import Measured
from portrayal.tables import check_results

MEASURED = "measured"  # the group of files noted in the run's mark
MEND = "Measure again: portrayal measure RUN"
REMARK = "remark"


def write_measured(run: Run, measured: Measured) -> None:
    """Write results, tables, warnings and cases to review into the run.

    Results come last and the earlier ones go first, so that a kill never leaves results beside tables of others.
    """
    run.results.unlink(missing_ok=True)
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

    Parameters
    ----------
    folder
        The run.

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
