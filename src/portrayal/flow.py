"""One flow: stimuli -> system -> recorded responses -> measures -> results -> report.

Each step reads what the step before left in the run folder, so each can be done again alone.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from portrayal.edges.folders import claim
from portrayal.edges.sizes import read_toml
from portrayal.edges.tables import write_parquet
from portrayal.errors import PortrayalError
from portrayal.record.ledger import Ledger
from portrayal.record.responses import read_responses
from portrayal.runs import calibration
from portrayal.runs.audit import Audit, Evidence, Finding, Measured
from portrayal.runs.inputs import read_inputs
from portrayal.runs.kept import kept_json, kept_table
from portrayal.runs.lock import MEASURING, REPORTING, locked, reading
from portrayal.runs.measured import read_measured, write_measured
from portrayal.runs.measuring import measure_evidence
from portrayal.runs.recording import Asked, Recorded, record_study
from portrayal.runs.registry import get_audit
from portrayal.runs.reviews import reviews_of
from portrayal.runs.run import Run, claim_run, default_folder, existing_run
from portrayal.runs.silence import silent_in
from portrayal.runs.study import Study
from portrayal.runs.study_file import make_study, read_study

if TYPE_CHECKING:
    from portrayal.report.page import Section
    from portrayal.runs.calibration import Calibration

RECORD = "Make it anew: portrayal record RUN; answers are kept and nothing is asked twice."


def audit(
    study_file: Path | str,
    out: Path | str | None = None,
    quiet: bool = False,
    say: Callable[[Sequence[str]], None] = lambda messages: None,
    again: Sequence[str] = (),
    untrusted: bool = False,
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
        Told which code of the study is about to run, and why a system was stopped early or answered nothing.
    again
        States whose questions are asked once more: 'failed', 'unknown' (which may be billed twice), 'unreadable', and 'changed':
        everything asked of a function or program whose source changed since.
    untrusted
        Refuse a study that would run code or send secrets of its choice.

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
    claim_run(run)
    with locked(run):
        recorded = record_study(study, run, Path(study_file), Asked(quiet, again, untrusted, say))
        say(recorded.messages)
        if recorded.interrupted:
            raise KeyboardInterrupt(recorded.signal)
        _measure(run)
        return _report([run], run.folder, "")


def record(
    study_file: Path | str,
    out: Path | str | None = None,
    quiet: bool = False,
    say: Callable[[Sequence[str]], None] = lambda messages: None,
    untrusted: bool = False,
) -> Recorded:
    """Ask the systems everything the study has not asked yet; nothing is measured.

    Parameters
    ----------
    study_file
        A study in TOML.
    out
        The run folder; `runs/NAME` by default.
    quiet
        Show no progress bar.
    say
        Told which code of the study is about to run.
    untrusted
        Refuse a study that would run code or send secrets of its choice.

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
    claim_run(run)
    with locked(run):
        return record_study(study, run, Path(study_file), Asked(quiet, (), untrusted, say))


def record_again(
    folder: Path | str,
    quiet: bool = False,
    again: Sequence[str] = (),
    say: Callable[[Sequence[str]], None] = lambda messages: None,
    untrusted: bool = False,
) -> Recorded:
    """Go on recording a run from the study it keeps.

    Parameters
    ----------
    folder
        The run.
    quiet
        Show no progress bar.
    again
        States whose questions are asked once more, as `audit` takes them.
    say
        Told which code of the study is about to run.
    untrusted
        Refuse a study that would run code or send secrets of its choice.

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
    claim_run(run)
    with locked(run):
        Ledger(run.ledger).close()  # brings the ledger of an earlier version up to date
        return record_study(study_of(run), run, run.study, Asked(quiet, again, untrusted, say))


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
    claim_run(run)
    with locked(run, doing=MEASURING):
        return _measure(run)


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
    runs = [existing_run(folder) for folder in folders]
    if len(runs) > 1 and (out is None or Path(out).resolve() in {run.folder.resolve() for run in runs}):
        raise PortrayalError(
            "a report over several runs needs a folder of its own, or it would overwrite the results of one. "
            "Add --out DIR."
        )
    target = Run(Path(out) if out else runs[0].folder)
    own = [run for run in runs if run.folder.resolve() == target.folder.resolve()]
    if own:
        claim_run(target)
    else:
        claim(target.folder, "report")
    with ExitStack() as held:
        for run in runs:
            if run not in own:
                held.enter_context(reading(run))
        held.enter_context(locked(target, doing=REPORTING))
        return _report(runs, target.folder, title)


def _measure(run: Run) -> Measured:
    """Measure a run that is held."""
    study = study_of(run)
    measured = measure_evidence(study, _evidence(study, run))
    write_measured(run, measured)
    return measured


def _report(runs: Sequence[Run], out: Path, title: str) -> Path:
    """Write the report of runs that are held, into a folder that is ours."""
    from portrayal.report.files import write_report

    sections: list[Section] = []
    for run in runs:
        sections.append(_section(run, [section.audit.stem for section in sections]))
    return write_report(out, sections, title or sections[0].study_name)


def study_of(run: Run) -> Study:
    """Read the study a run keeps; its relative paths still start where the study file was."""
    with Ledger.reading(run.ledger) as ledger:
        folder = ledger.fact("study_folder")
    try:
        return make_study(read_toml(run.study), str(folder or run.folder))
    except FileNotFoundError:
        raise PortrayalError(
            f"{run.folder} has no study.toml. Record it again: portrayal audit STUDY.toml"
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PortrayalError(
            f"{run.study} is damaged ({error}). Record it again: portrayal audit STUDY.toml --out {run.folder}"
        ) from None


def _evidence(study: Study, run: Run) -> Evidence:
    """Read what the run keeps: stimuli, answers, inputs and reviews. No system is opened."""
    stimuli = kept_table(run.stimuli, RECORD)
    with Ledger.reading(run.ledger) as ledger:
        responses = read_responses(ledger.entries(), stimuli, get_audit(study.audit).kind)
    write_parquet(responses, run.responses)
    return Evidence(stimuli, responses, read_inputs(run), reviews_of(run), study.seed)


def _section(run: Run, earlier: Sequence[str]) -> Section:
    from portrayal.report.page import Section
    from portrayal.report.systems import shown_names
    from portrayal.runs.status import states_table

    study = study_of(run)
    stem: Audit = get_audit(study.audit)
    manifest: dict[str, Any] = kept_json(run.manifest, dict, RECORD)
    systems = [one for one in manifest.get("systems") or [] if isinstance(one, dict)]
    measured = replace(read_measured(run), shown_names=shown_names(systems))
    count = earlier.count(stem.stem)
    return Section(
        audit=stem,
        study_name=study.name,
        measured=measured,
        charts=stem.charts(measured, study.settings),
        findings=find(study, measured),
        tables=stem.tables(measured, study.settings),
        systems=systems,
        states=states_table(run),
        manifest=manifest,
        anchor=stem.stem if not count else f"{stem.stem}-{count + 1}",
        stimuli=kept_table(run.stimuli, RECORD),
    )
