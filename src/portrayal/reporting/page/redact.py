"""Redacted copy of a run: results, charts and hashes, without texts and pictures."""

from __future__ import annotations

from pathlib import Path

from portrayal.edges.folders import claim, first_entry
from portrayal.errors import PortrayalError
from portrayal.handover.pack import redact_run
from portrayal.reporting.page.of_runs import report_of
from portrayal.run.folder import REPORTING, Run, existing_run, locked, reading


def redact(folder: Path | str, out: Path | str) -> Path:
    """Write a measured run without pictures and free text into another folder.

    Parameters
    ----------
    folder
        The run; nothing of it is changed.
    out
        A new or empty folder.

    Returns
    -------
    pathlib.Path
        The report of the redacted run. Its results are those of the whole one; answers, references, judgments, paths and
        pictures are gone, and `redacted.json` has the hashes of what they were in.

    Examples
    --------
    >>> import tempfile
    >>> from portrayal import audit, example_study, read_results, redact
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = audit(example_study(), f"{folder}/run", quiet=True)
    ...     page = redact(f"{folder}/run", f"{folder}/public")
    ...     read_results(f"{folder}/run").equals(read_results(f"{folder}/public"))
    True
    """
    run, target = existing_run(folder), Run(Path(out))
    if target.folder.is_dir() and first_entry(target.folder):
        raise PortrayalError(f"{out} is not empty. Name a new folder: a redacted run is written beside the whole one.")
    claim(target.folder, "run")
    with reading(run), locked(target, doing=REPORTING):
        redact_run(run, target)
        return report_of([target], target.folder, "")
