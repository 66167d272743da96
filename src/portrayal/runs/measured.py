"""What was measured, written into a run and read back from it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import polars as pl

from portrayal.errors import PortrayalError
from portrayal.runs.audit import Measured
from portrayal.runs.reviews import merge_reviews, write_reviews
from portrayal.runs.run import Run, existing_run, replacing


def write_measured(run: Run, measured: Measured) -> None:
    """Write results, tables, warnings and cases to review into the run."""
    shutil.rmtree(run.tables, ignore_errors=True)
    run.tables.mkdir()
    for name, table in measured.tables.items():
        table.write_parquet(run.tables / f"{name}.parquet")
    for name, picture in measured.pictures.items():
        (run.tables / f"{name}.png").write_bytes(picture)
    (run.folder / "warnings.json").write_text(json.dumps(list(measured.warnings)))
    if measured.reviews is not None:
        with replacing(run.reviews) as part:  # people's judgments: half a file would lose some
            write_reviews(merge_reviews(run.reviews, measured.reviews), part)
    with replacing(run.results) as part:  # last, so that results never stand without their tables
        measured.results.write_parquet(part)


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
    tables = {path.stem: pl.read_parquet(path) for path in sorted(run.tables.glob("*.parquet"))}
    warnings = json.loads((run.folder / "warnings.json").read_text())
    pictures = {path.stem: path.read_bytes() for path in sorted(run.tables.glob("*.png"))}
    return Measured(pl.read_parquet(run.results), tables, warnings, pictures=pictures)
