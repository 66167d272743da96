"""Flow of a study: stimuli, system, recorded responses, measures, results, report."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from portrayal.edges.folders import claim
from portrayal.edges.writing import write_parquet
from portrayal.engine import using
from portrayal.engine.shards import forget
from portrayal.errors import PortrayalError
from portrayal.recorder.ledger import Ledger
from portrayal.run.contents import evidence_of, study_of, write_measured
from portrayal.run.folder import (
    MEASURING,
    REPORTING,
    Run,
    claim_run,
    default_folder,
    existing_run,
    file_of,
    locked,
    reading,
    refuse_other_study,
    refuse_redacted,
)
from portrayal.run.measurement import measure_evidence
from portrayal.run.recording import Options, Recorded, Say, record_study
from portrayal.study import calibration
from portrayal.study.audit import Evidence, Finding, Measured
from portrayal.study.study import Study
from portrayal.study.study_file import AnyStudy, MoreSystems, read_any_study

if TYPE_CHECKING:
    from portrayal.reporting.page import opened
    from portrayal.study.calibration import Calibration


def audit(
    study: AnyStudy,
    out: Path | str | None = None,
    quiet: bool = False,
    say: Say = lambda messages: None,
    again: Sequence[str] = (),
    untrusted: bool = False,
    systems: MoreSystems | None = None,
    engine: str | None = None,
    workers: int | None = None,
) -> opened.Run:
    """Record, measure and report a study; what was recorded before is kept.

    Parameters
    ----------
    study
        The path of a study in TOML, a dict of the same shape, or a `Study`.
    out
        The run folder; `runs/NAME` by default. The run of another study is refused.
    quiet
        Show no progress bar.
    say
        Told which code of the study is about to run, and why a system was stopped early or answered nothing.
    again
        States whose questions are asked once more: 'failed', 'unknown' (which may be billed twice), 'unreadable', and 'changed':
        everything asked of a function or program whose source changed since.
    untrusted
        Refuse a study that would run code or send secrets of its choice.
    systems
        Further systems by name: functions that take a text or the path of a picture, or dicts as a study file writes them.
    engine, workers
        What does the heavy work, and how many: 'local', 'ray', or 'ray://HOST:PORT'; the results are the same (docs/engine.md).

    Returns
    -------
    Run
        `findings`, `results`, `charts`, `answers` and where the `report` is.

    Examples
    --------
    >>> import tempfile
    >>> from portrayal import audit
    >>> study = {"name": "mine", "audit": "associations", "associations": {"tests": ["weat6"], "variants": []}}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = audit(study, folder, quiet=True, systems={"lengths": lambda word: [len(word), 1.0]})
    ...     run.report.name, run.results["n"].to_list(), run.answers.height
    ('report.html', [16, 32], 32)
    """
    from portrayal.reporting.page import opened

    source = read_any_study(study, systems)
    run = Run(Path(out) if out else default_folder(source.study.name))
    claim_run(run)
    with using(engine, workers, run.shards, quiet), locked(run):
        refuse_other_study(run, source.study, file_of(study), named=out is not None)
        how = Options(quiet, again, untrusted, say, file_of(study))
        _finish(record_study(source.study, source.text, run, how), say)
    return opened.Run(run.folder)


def retry(
    folder: Path | str,
    again: Sequence[str] = ("failed", "unreadable"),
    quiet: bool = False,
    say: Say = lambda messages: None,
    untrusted: bool = False,
) -> opened.Run:
    """Ask again what a run has no answer to, then measure and report it.

    Parameters are those of `audit`; 'unknown' questions may be billed twice, so `again` must name them.

    Examples
    --------
    >>> import tempfile
    >>> from portrayal import audit, example_study, retry
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = audit(example_study(), folder, quiet=True)
    ...     retry(folder, quiet=True).answers["status"].unique().to_list()  # every question has an answer: nobody is asked
    ['answered']
    """
    from portrayal.reporting.page import opened

    run = existing_run(folder)
    claim_run(run)
    with using(folder=run.shards, quiet=quiet), locked(run):
        _finish(_record_again(run, Options(quiet, again, untrusted, say)), say)
    return opened.Run(run.folder)


def record(
    study: AnyStudy,
    out: Path | str | None = None,
    quiet: bool = False,
    say: Say = lambda messages: None,
    untrusted: bool = False,
    systems: MoreSystems | None = None,
) -> Recorded:
    """Ask the systems everything the study has not asked yet; nothing is measured.

    Parameters are those of `audit`. The answer has the `run`, `messages` about systems that were stopped early, and whether it was
    `interrupted`.

    Examples
    --------
    >>> import tempfile
    >>> from portrayal import example_study, record
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     recorded = record(example_study(), folder, quiet=True)
    >>> recorded.interrupted, recorded.messages
    (False, [])
    """
    source = read_any_study(study, systems)
    run = Run(Path(out) if out else default_folder(source.study.name))
    claim_run(run)
    with locked(run):
        refuse_other_study(run, source.study, file_of(study), named=out is not None)
        return record_study(source.study, source.text, run, Options(quiet, (), untrusted, say, file_of(study)))


def record_again(
    folder: Path | str,
    quiet: bool = False,
    again: Sequence[str] = (),
    say: Say = lambda messages: None,
    untrusted: bool = False,
) -> Recorded:
    """Go on recording a run from the study it keeps; parameters are those of `audit`.

    Examples
    --------
    >>> import tempfile
    >>> from portrayal import example_study, record, record_again
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = record(example_study(), folder, quiet=True)
    ...     record_again(folder, quiet=True).messages  # every question has an answer: nobody is asked
    []
    """
    run = existing_run(folder)
    claim_run(run)
    with locked(run):
        return _record_again(run, Options(quiet, again, untrusted, say))


def _record_again(run: Run, options: Options) -> Recorded:
    Ledger(run.ledger).close()  # brings the ledger of an earlier version up to date
    return record_study(study_of(run), run.study.read_text(encoding="utf-8"), run, options)


def measure(folder: Path | str, engine: str | None = None, workers: int | None = None) -> Measured:
    """Read the recorded answers of a run and measure them; calls no system.

    `engine` and `workers` are those of `audit`. The answer has `results` (the Results table), `tables` (what charts are drawn from,
    by name) and `warnings`; all of it is written into the run too.

    Examples
    --------
    >>> import tempfile
    >>> from portrayal import example_study, measure, record
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = record(example_study(), folder, quiet=True)
    ...     measure(folder).results.select("measure", "decision", "n").rows()
    [('eat', 'not found', 16), ('answered', 'not tested', 32)]
    """
    run = existing_run(folder)
    claim_run(run)
    with using(engine, workers, run.shards), locked(run, doing=MEASURING):
        return _measure(run)


def audit_evidence(study: Study, evidence: Evidence) -> tuple[pl.DataFrame, list[Finding]]:
    """Return results and sentences of answers at hand, by the way that recorded ones take."""
    from portrayal.reporting.page.section import find

    measured = measure_evidence(study, evidence)
    return measured.results, find(study, measured)


def calibrate(
    stem: str, runs: int = 1000, seed: int = 0, engine: str | None = None, workers: int | None = None
) -> Calibration:
    """Run an instrument against phantoms: simulated systems with a planted effect, or none.

    Parameters
    ----------
    stem
        An audit, or 'experiments' for those of the associations audit.
    runs
        Simulated runs per condition; of whole audits at most 400 per shape.
    seed
        Random seed; published figures use 0.
    engine, workers
        As `audit` takes them.

    Returns
    -------
    Calibration
        `false_alarm` (share of whole audits without an effect that print a finding), `power` (share of planted effects
        found), `coverage` (share of 95% intervals that hold the planted value), `conditions` and `nulls` behind them.

    Examples
    --------
    >>> from portrayal import calibrate
    >>> found = calibrate("experiments", runs=2)
    >>> found.stem, found.runs, 0 <= found.false_alarm <= 1
    ('experiments', 2, True)
    """
    with using(engine, workers, quiet=engine is None and workers is None):
        return calibration.calibrate(stem, runs, seed, audit_evidence)


def report(folders: Sequence[Path | str], out: Path | str | None = None, title: str = "", processes: int = 1) -> Path:
    """Write one report over one or several measured runs and return the page's path.

    Parameters
    ----------
    folders
        The runs.
    out
        The report's folder; by default the run's own. Needed for several runs.
    title
        The report's title; by default the first study's name.
    processes
        How many charts are drawn side by side, each in a process, which pays where a report has dozens. A script that asks
        for several needs the usual `if __name__ == "__main__":` around it.

    Examples
    --------
    >>> import tempfile
    >>> from portrayal import example_study, measure, record, report
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = record(example_study(), folder, quiet=True), measure(folder)
    ...     page = report([folder], title="Words")
    ...     "<title>Words</title>" in page.read_text()
    True
    """
    from portrayal.reporting.page.files import report_of

    runs = [existing_run(folder) for folder in folders]
    if len(runs) > 1 and (out is None or Path(out).resolve() in {run.folder.resolve() for run in runs}):
        why = "a report over several runs needs a folder of its own, or it would overwrite the results of one."
        raise PortrayalError(f"{why} Add --out DIR.")
    target = Run(Path(out) if out else runs[0].folder)
    own = [run for run in runs if run.folder.resolve() == target.folder.resolve()]
    if own:
        claim_run(target)
    else:
        claim(target.folder, "report")
    with ExitStack() as locks:
        for run in runs:
            if run not in own:
                locks.enter_context(reading(run))
        locks.enter_context(locked(target, doing=REPORTING))
        return report_of(runs, target.folder, title, processes)


def _finish(recorded: Recorded, say: Say) -> None:
    """Say the recording's messages, then measure and report; Ctrl-C ends before that."""
    from portrayal.reporting.page.files import report_of

    say(recorded.messages)
    if recorded.interrupted:
        raise KeyboardInterrupt(recorded.signal)
    _measure(recorded.run)
    report_of([recorded.run], recorded.run.folder, "")


def _measure(run: Run) -> Measured:
    """Measure a run that is held."""
    refuse_redacted(run)
    study = study_of(run)
    evidence = evidence_of(study, run)
    write_parquet(evidence.responses, run.responses)
    measured = measure_evidence(study, evidence)
    write_measured(run, measured)
    forget(run.shards)  # they were kept for the case that this was not reached
    return measured
