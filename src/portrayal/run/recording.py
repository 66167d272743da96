"""Recording a study into its run: what is asked, of whom, and under which conditions."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

import portrayal
from portrayal.edges.secrets import read_secrets_file
from portrayal.edges.tables import write_parquet
from portrayal.edges.writing import write_text
from portrayal.errors import PortrayalError, check_name
from portrayal.recorder.ledger import Ledger
from portrayal.recorder.outcomes import find_unreadable, put_right
from portrayal.recorder.progress import RecordingProgress
from portrayal.recorder.recorder import Recorder
from portrayal.run.asking import ask, ask_repeatable_again, write_questions
from portrayal.run.changed import CHANGED, hold_sources, refuse_mixed
from portrayal.run.files import kept_table
from portrayal.run.folder import Run
from portrayal.run.hypotheses import note_hypotheses
from portrayal.run.inputs import write_inputs
from portrayal.run.manifest import write_manifest
from portrayal.run.redacted import refuse_redacted
from portrayal.run.same_study import STUDY_FILE
from portrayal.run.unanswered import AGAIN, left_open, unanswered, with_unanswered
from portrayal.study.questions import Work, make_stimuli, plan_work, refuse_without_consent
from portrayal.study.registry import get_audit
from portrayal.study.study import Study
from portrayal.study.trust import code_lines, refuse_untrusted

Say = Callable[[Sequence[str]], None]


@dataclass(frozen=True)
class Asked:
    """How a study is to be recorded."""

    quiet: bool = False
    again: Sequence[str] = ()  # states whose questions are asked once more
    untrusted: bool = False  # refuse code of the study's choice
    say: Say = lambda lines: None  # told what will run, before it does
    file: str = ""  # where the study was read from


@dataclass(frozen=True)
class Recorded:
    """What a recording came to."""

    run: Run
    messages: Sequence[str]  # why a system was stopped early, or answered nothing
    interrupted: bool = False  # Ctrl-C: what was in flight came to an end, the rest stays planned
    signal: int = 0  # the signal that interrupted it


def record_study(study: Study, text: str, run: Run, how: Asked) -> Recorded:
    """Ask the systems everything the study has not asked yet; the run, held by the caller, keeps the study's text."""
    refuse_redacted(run)
    for state in how.again:
        check_name(state, (*AGAIN, CHANGED), "state that is asked again")
    if how.untrusted:
        refuse_untrusted(study)
    if study.secrets_file:
        read_secrets_file(study.folder / study.secrets_file)
    stimuli = make_stimuli(study)
    work = plan_work(study, stimuli)
    refuse_without_consent(work, stimuli)
    inputs = get_audit(study.audit).inputs(study)
    refuse_mixed(run, study, work, _wanted(study, how.again))
    # From here on the study is known to be sound: a faulty one leaves an earlier run as it was.
    _keep(run, text, stimuli)
    write_inputs(run, inputs)
    with Ledger(run.ledger) as ledger:
        if how.file:
            ledger.put_fact(STUDY_FILE, how.file)
        changed = _prepare(ledger, study, work, how.again)
        write_manifest(run, study, stimuli)  # before anything is asked, so that a killed run has one too
        waves = ledger.waves()
        recorder = _ask(ledger, study, work, how)
        asked = ledger.waves() != waves
    if asked:
        write_manifest(run, study, stimuli)
    interrupted = recorder.stopping.is_set()
    messages = recorder.messages
    if not interrupted:
        messages = [*with_unanswered(messages, unanswered(run.folder)), *left_open(run)]
    return Recorded(run, [*changed, *messages], interrupted, recorder.signal)


def _prepare(ledger: Ledger, study: Study, work: Work, again: Sequence[str]) -> list[str]:
    """Write the intents, and decide what of earlier waves is asked again; return what is to be said of it."""
    ledger.recover()
    ledger.put_fact("study_folder", str(study.folder.resolve()))
    write_questions(ledger, work)
    note_hypotheses(ledger, study)
    put_right(ledger)
    wanted = _wanted(study, again)
    if "unreadable" in wanted:
        find_unreadable(ledger)
    lines = hold_sources(ledger, study, work, wanted)
    for state in wanted:
        ledger.ask_again(state)
    ask_repeatable_again(ledger, work)
    return lines


def _wanted(study: Study, again: Sequence[str]) -> list[str]:
    """Return the states that are asked again, as the study or the command says."""
    asked = [state for state in AGAIN if state in again or getattr(study, f"ask_{state}_again")]
    return [*asked, *(state for state in again if state == CHANGED)]


def _ask(ledger: Ledger, study: Study, work: Work, how: Asked) -> Recorder:
    """Ask what is still planned, behind a progress bar; the recorder tells how it went."""
    waiting = {system.name: len(ledger.open_keys(system.name)) for system, _ in work}
    if not any(waiting.values()):
        return Recorder(ledger)
    for system, _ in work:
        if waiting[system.name]:  # before anything is paid for
            getattr(system, "check_ready", lambda: None)()  # a plug-in may know nothing of it
    how.say(code_lines(study, [name for name, count in waiting.items() if count]))
    wave = ledger.begin_wave(time.time(), portrayal.__version__)
    with RecordingProgress(waiting, how.quiet) as progress:
        recorder = ask(ledger, work, progress.listen, progress.tell)
    ledger.end_wave(wave, time.time())
    return recorder


def _keep(run: Run, text: str, stimuli: pl.DataFrame) -> None:
    """Keep the study as it was asked, and what is shown."""
    write_text(run.study, text)
    if not _is_kept(stimuli, run.stimuli):
        write_parquet(stimuli, run.stimuli)


def _is_kept(table: pl.DataFrame, path: Path) -> bool:
    """Whether a file holds just this table: to write it again takes longer than to look."""
    try:
        kept = kept_table(path, "")
    except PortrayalError:
        return False
    return kept.schema == table.schema and kept.equals(table)
