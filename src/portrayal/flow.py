"""One flow: stimuli -> system -> recorded responses -> measures -> results -> report.

Each step reads what the step before left in the run folder, so each can be done again alone.
"""

from __future__ import annotations

import shutil
import time
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

import portrayal
from portrayal.errors import PortrayalError, check_name
from portrayal.record.ledger import Ledger
from portrayal.record.outcomes import find_unreadable, put_right
from portrayal.record.progress import RecordingProgress
from portrayal.record.recorder import Recorder
from portrayal.record.responses import read_responses
from portrayal.runs import calibration
from portrayal.runs.asking import ask, ask_repeatable_again, write_questions
from portrayal.runs.audit import Audit, Evidence, Finding, Measured
from portrayal.runs.inputs import read_inputs, write_inputs
from portrayal.runs.manifest import write_manifest
from portrayal.runs.measured import read_measured, write_measured
from portrayal.runs.measuring import measure_evidence
from portrayal.runs.registry import get_audit
from portrayal.runs.reviews import read_reviews
from portrayal.runs.run import Run, default_folder, existing_run, locked, replacing
from portrayal.runs.silence import silent_in
from portrayal.runs.study import Study
from portrayal.runs.study_file import make_study, read_study
from portrayal.runs.unanswered import AGAIN, unanswered, with_unanswered
from portrayal.runs.work import Work, make_stimuli, plan_work, refuse_without_consent

if TYPE_CHECKING:
    from portrayal.report.page import Section
    from portrayal.runs.calibration import Calibration


@dataclass(frozen=True)
class Recorded:
    """What a recording came to."""

    run: Run
    messages: Sequence[str]  # why a system was stopped early, or answered nothing
    interrupted: bool = False  # Ctrl-C: what was in flight came to an end, the rest stays planned
    signal: int = 0  # the signal that interrupted it


def audit(
    study_file: Path | str,
    out: Path | str | None = None,
    quiet: bool = False,
    say: Callable[[Sequence[str]], None] = lambda messages: None,
    again: Sequence[str] = (),
) -> Path:
    """Record, measure and report a study; what was recorded before is kept.

    The run is held all the while, so that a second process is turned away until the report is written.

    Parameters
    ----------
    study_file
        A study in TOML.
    out
        The run folder; `runs/NAME` by default.
    quiet
        Show no progress bar.
    say
        Told why a system was stopped early or answered nothing.
    again
        States whose questions are asked once more: 'failed', 'unknown' (which may be billed twice), 'unreadable'.

    Returns
    -------
    pathlib.Path
        The report.

    Examples
    --------
    >>> import tempfile
    >>> from portrayal import audit, example_study
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     audit(example_study(), folder, quiet=True).name
    'report.html'
    """
    study = read_study(study_file)
    run = Run(Path(out) if out else default_folder(study.name))
    with locked(run):
        recorded = _record(study, run, quiet, Path(study_file), again)
        say(recorded.messages)
        if recorded.interrupted:
            raise KeyboardInterrupt(recorded.signal)
        measure(run.folder)
        return report([run.folder])


def record(study_file: Path | str, out: Path | str | None = None, quiet: bool = False) -> Recorded:
    """Ask the systems everything the study has not asked yet; nothing is measured.

    Parameters
    ----------
    study_file
        A study in TOML.
    out
        The run folder; `runs/NAME` by default.
    quiet
        Show no progress bar.

    Returns
    -------
    Recorded
        The `run` (its `folder` holds everything), `messages` about systems that were stopped early, and whether it was
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
    study = read_study(study_file)
    run = Run(Path(out) if out else default_folder(study.name))
    with locked(run):
        return _record(study, run, quiet, Path(study_file))


def record_again(folder: Path | str, quiet: bool = False, again: Sequence[str] = ()) -> Recorded:
    """Go on recording a run from the study it keeps.

    Parameters
    ----------
    folder
        The run.
    quiet
        Show no progress bar.
    again
        States whose questions are asked once more: 'failed', 'unknown' (which may be billed twice), 'unreadable'.

    Returns
    -------
    Recorded
        As `record` gives it.

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
    with locked(run):
        Ledger(run.ledger).close()  # brings the ledger of an earlier version up to date
        return _record(_study_of(run), run, quiet, run.study, again)


def measure(folder: Path | str) -> Measured:
    """Read the recorded answers of a run and measure them; calls no system.

    Parameters
    ----------
    folder
        The run.

    Returns
    -------
    Measured
        `results` (the Results table), `tables` (what charts are drawn from, by name) and `warnings`. All of it is written
        into the run too.

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
    study = _study_of(run)
    measured = measure_evidence(study, _evidence(study, run))
    write_measured(run, measured)
    return measured


def audit_evidence(study: Study, evidence: Evidence) -> tuple[pl.DataFrame, list[Finding]]:
    """Return results and sentences of answers at hand, by the way that recorded ones take."""
    measured = measure_evidence(study, evidence)
    return measured.results, find(study, measured)


def calibrate(stem: str, runs: int = 1000, seed: int = 0) -> Calibration:
    """Run an instrument against phantoms: simulated systems with a planted effect of known size, and with none.

    Parameters
    ----------
    stem
        An audit, or 'experiments' for those of the associations audit.
    runs
        Simulated runs per condition; of whole audits at most 400 per shape.
    seed
        Random seed; published figures use 0.

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
    return calibration.calibrate(stem, runs, seed, audit_evidence)


def find(study: Study, measured: Measured) -> list[Finding]:
    """Put what was measured into sentences, each with the row it speaks of: found first, then what cannot be said.

    Of a system that answered nothing only that is said.
    """
    from portrayal.report.sentences import in_order
    from portrayal.report.silence import silence_findings

    stem = get_audit(study.audit)
    silence = silence_findings(measured, stem)
    silent = silent_in(measured.results)
    said = stem.findings(measured, study.settings)
    for finding in said:
        if not 0 <= finding.row < measured.results.height:
            raise PortrayalError(
                f"the audit {stem.stem!r} says {finding.sentence!r} of row {finding.row}, and there are"
                f" {measured.results.height}. Expected the number of the row the sentence speaks of."
            )
    kept = [finding for finding in said if measured.results["system"][finding.row] not in silent]
    return in_order([*kept, *silence], measured.results)


def report(folders: Sequence[Path | str], out: Path | str | None = None, title: str = "") -> Path:
    """Write one report over one or several measured runs.

    Parameters
    ----------
    folders
        The runs.
    out
        The report's folder; by default the run's own. Needed for several runs.
    title
        The report's title; by default the first study's name.

    Returns
    -------
    pathlib.Path
        The page. Beside it lie the results as JSON, CSV and Parquet, and the charts as SVG and PNG.

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
    from portrayal.report.files import write_report

    runs = [existing_run(folder) for folder in folders]
    if len(runs) > 1 and (out is None or Path(out).resolve() in {run.folder.resolve() for run in runs}):
        raise PortrayalError(
            "a report over several runs needs a folder of its own, or it would overwrite the results of one. "
            "Add --out DIR."
        )
    sections: list[Section] = []
    for run in runs:
        sections.append(_section(run, [section.audit.stem for section in sections]))
    return write_report(Path(out) if out else runs[0].folder, sections, title or sections[0].study_name)


def _record(study: Study, run: Run, quiet: bool, study_file: Path, again: Sequence[str] = ()) -> Recorded:
    for state in again:
        check_name(state, AGAIN, "state that is asked again")
    stimuli = make_stimuli(study)
    work = plan_work(study, stimuli)
    refuse_without_consent(work)
    inputs = get_audit(study.audit).inputs(study)
    # From here on the study is known to be sound: a faulty one leaves an earlier run as it was.
    _keep_study(study_file, run)
    with replacing(run.stimuli) as part:
        stimuli.write_parquet(part)
    write_inputs(run, inputs)
    with Ledger(run.ledger) as ledger:
        _prepare(ledger, study, work, again)
        write_manifest(run, study, stimuli)  # before anything is asked, so that a killed run has one too
        recorder = _ask(ledger, work, quiet)
    write_manifest(run, study, stimuli)
    interrupted = recorder.stopping.is_set()
    messages = (
        recorder.messages if interrupted else with_unanswered(recorder.messages, unanswered(run.folder))
    )
    return Recorded(run, messages, interrupted, recorder.signal)


def _prepare(ledger: Ledger, study: Study, work: Work, again: Sequence[str]) -> None:
    """Write the intents, and decide what of earlier waves is asked again."""
    ledger.recover()
    ledger.put_fact("study_folder", str(study.folder.resolve()))
    write_questions(ledger, work)
    put_right(ledger)
    wanted = {state for state in AGAIN if state in again or getattr(study, f"ask_{state}_again")}
    if "unreadable" in wanted:
        find_unreadable(ledger)
    for state in wanted:
        ledger.ask_again(state)
    ask_repeatable_again(ledger, work)


def _ask(ledger: Ledger, work: Work, quiet: bool) -> Recorder:
    """Ask what is still planned, behind a progress bar; the recorder tells how it went."""
    waiting = {system.name: len(ledger.open_keys(system.name)) for system, _ in work}
    if not any(waiting.values()):
        return Recorder(ledger)
    wave = ledger.begin_wave(time.time(), portrayal.__version__)
    with RecordingProgress(waiting, quiet) as progress:
        recorder = ask(ledger, work, progress.listen, progress.tell)
    ledger.end_wave(wave, time.time())
    return recorder


def _keep_study(study_file: Path, run: Run) -> None:
    if study_file.resolve() != run.study.resolve():
        with replacing(run.study) as part:
            shutil.copyfile(study_file, part)


def _study_of(run: Run) -> Study:
    """Read the study a run keeps; its relative paths still start where the study file was."""
    with Ledger.reading(run.ledger) as ledger:
        folder = ledger.fact("study_folder")
    try:
        return make_study(tomllib.loads(run.study.read_text(encoding="utf-8")), folder or run.folder)
    except FileNotFoundError:
        raise PortrayalError(
            f"{run.folder} has no study.toml. Record it again: portrayal audit STUDY.toml"
        ) from None


def _evidence(study: Study, run: Run) -> Evidence:
    """Read what the run keeps: stimuli, answers, inputs and reviews. No system is opened."""
    stimuli = pl.read_parquet(run.stimuli)
    with Ledger.reading(run.ledger) as ledger:
        responses = read_responses(ledger.entries(), stimuli, get_audit(study.audit).kind)
    with replacing(run.responses) as part:
        responses.write_parquet(part)
    reviews = read_reviews(run.reviews) if run.reviews.exists() else None
    return Evidence(stimuli, responses, read_inputs(run), reviews, study.seed)


def _section(run: Run, earlier: Sequence[str]) -> Section:
    import json

    from portrayal.report.page import Section
    from portrayal.report.systems import shown_names
    from portrayal.runs.status import states_table

    study = _study_of(run)
    stem: Audit = get_audit(study.audit)
    manifest: dict[str, Any] = json.loads(run.manifest.read_text())
    measured = replace(read_measured(run), shown_names=shown_names(manifest["systems"]))
    count = earlier.count(stem.stem)
    return Section(
        audit=stem,
        study_name=study.name,
        measured=measured,
        charts=stem.charts(measured, study.settings),
        findings=find(study, measured),
        tables=stem.tables(measured, study.settings),
        systems=manifest["systems"],
        states=states_table(run),
        manifest=manifest,
        anchor=stem.stem if not count else f"{stem.stem}-{count + 1}",
        stimuli=pl.read_parquet(run.stimuli),
    )
