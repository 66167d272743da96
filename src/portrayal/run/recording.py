"""Recording of a study into its run: questions planned, asked and counted."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import portrayal
from portrayal.edges.console import Hiding
from portrayal.edges.inert import inert_line
from portrayal.edges.secrets import hidden
from portrayal.edges.writing import write_parquet, write_text
from portrayal.errors import PortrayalError, check_name
from portrayal.recorder.ledger import Ledger, Planned
from portrayal.recorder.recorder import Listener, Recorder
from portrayal.recorder.responses import find_unreadable, put_right
from portrayal.run.contents import write_inputs
from portrayal.run.folder import STUDY_FILE, Run, kept_table, refuse_redacted
from portrayal.run.manifest import CHANGED, hold_sources, refuse_mixed, write_manifest
from portrayal.run.measurement import note_hypotheses
from portrayal.run.status import AGAIN, left_open, unanswered
from portrayal.study.questions import Work, make_stimuli, plan_work, refuse_without_consent
from portrayal.study.registry import get_audit
from portrayal.study.study import Study
from portrayal.study.trust import admit, code_lines
from portrayal.systems.core.settings import without_secrets

STATES_SHOWN = ("done", "refused", "unreadable", "failed", "unknown")


def dollars_text(dollars: float) -> str:
    """Return an amount in cents, with two digits where it is below one."""
    return f"{dollars:.2f}" if dollars == 0 or dollars >= 0.01 else f"{dollars:.2g}"


class RecordingProgress:
    """A bar per system. Its `listen` is handed to the recorder."""

    def __init__(self, open_questions: Mapping[str, int], quiet: bool = False) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        self._counts = {system: dict.fromkeys(STATES_SHOWN, 0) for system in open_questions}
        self._dollars = dict.fromkeys(open_questions, 0.0)
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),  # names are the user's, not markup
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[detail]}", markup=False),
            console=Console(file=sys.stderr),
            disable=quiet,
        )
        self._tasks = {
            system: self._progress.add_task(inert_line(system), total=count, detail="")
            for system, count in open_questions.items()
        }

    def __enter__(self) -> RecordingProgress:
        self._progress.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._progress.stop()

    def listen(self, system: str, state: str, count: int, dollars: float) -> None:
        """Take note of questions that came to an end."""
        counts = self._counts[system]
        counts[state] = counts.get(state, 0) + count
        self._dollars[system] += dollars
        parts = [f"{count} {state}" for state, count in counts.items() if count and state != "done"]
        if self._dollars[system]:
            parts.append(f"${dollars_text(self._dollars[system])}")
        self._progress.update(self._tasks[system], advance=count, detail=", ".join(parts))

    def tell(self, line: str) -> None:
        """Print a line above the bars; without bars, a plain line."""
        line = inert_line(hidden(line))
        if self._progress.disable:
            sys.stderr.write(f"{line}\n")
        else:
            self._progress.console.print(line, markup=False, highlight=False)


def write_questions(ledger: Ledger, work: Work) -> None:
    """Make these the ledger's questions; answers already there are kept."""
    if ledger.is_plan([(system.name, system.kind, system.reader, table.keys()) for system, table in work]):
        return
    # The key is made of the parameters as they are; what is kept to be read holds no credential.
    parameters = {system.name: without_secrets(system.parameters) for system, _ in work}
    ledger.plan(
        Planned(key, s.name, s.identity, s.version, parameters[s.name], one.hash, one.repeat, s.kind, s.reader)
        for s, table in work
        for key, (one, *_) in table.items()
    )


def ask(
    ledger: Ledger,
    work: Work,
    listen: Listener = lambda *outcome: None,
    tell: Callable[[str], None] = lambda line: None,
) -> Recorder:
    """Ask what is still planned; the recorder reports outcomes and long waits."""
    planned = {system.name: ledger.open_keys(system.name) for system, _ in work}
    first = [(system, {key: table[key][0] for key in table if key in planned[system.name]}) for system, table in work]
    recorder = Recorder(ledger, listen, tell=tell)
    stream = Hiding(sys.stderr)
    with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(stream):  # what a user's function prints
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            asyncio.run(recorder.record(first))
        else:  # beside a notebook's own running loop only another thread can
            with ThreadPoolExecutor(1) as thread:
                thread.submit(asyncio.run, recorder.record(first)).result()
    for system, _ in work:
        recorder.messages += map(hidden, getattr(system, "notes", ()))  # what of a request a server did not take
    return recorder


Say = Callable[[Sequence[str]], None]


@dataclass(frozen=True)
class Options:
    """Options of a recording."""

    quiet: bool = False
    again: Sequence[str] = ()  # states whose questions are asked once more
    untrusted: bool = False  # refuse code of the study's choice
    say: Say = lambda lines: None  # told what will run, before it does
    file: str = ""  # where the study was read from


@dataclass(frozen=True)
class Recorded:
    """Outcome of a recording."""

    run: Run
    messages: Sequence[str]  # why a system was stopped early, or answered nothing
    interrupted: bool = False  # Ctrl-C: what was in flight came to an end, the rest stays planned
    signal: int = 0  # the signal that interrupted it


def record_study(study: Study, text: str, run: Run, how: Options) -> Recorded:
    """Ask the systems everything the study has not asked yet, in a locked run."""
    refuse_redacted(run)
    for state in how.again:
        check_name(state, (*AGAIN, CHANGED), "state that is asked again")
    admit(study, how.untrusted)
    stimuli = make_stimuli(study)
    work = plan_work(study, stimuli)
    refuse_without_consent(work, stimuli)
    inputs = get_audit(study.audit).inputs(study)
    refuse_mixed(run, study, work, wanted_again(study, how.again))
    # From here on the study is known to be sound: a faulty one leaves an earlier run as it was.
    write_text(run.study, text)
    there = None
    with contextlib.suppress(PortrayalError):
        there = kept_table(run.stimuli, "")
    if there is None or there.schema != stimuli.schema or not there.equals(stimuli):  # quicker than writing it
        write_parquet(stimuli, run.stimuli)
    write_inputs(run, inputs)
    with Ledger(run.ledger) as ledger:
        if how.file:
            ledger.put_fact(STUDY_FILE, how.file)
        changed = _prepare(ledger, study, work, how.again)
        write_manifest(run, study, stimuli)  # before anything is asked, so that a killed run has one too
        waves = ledger.waves()
        recorder = _ask(ledger, study, work, how)
        more = ledger.waves() != waves
    if more:
        write_manifest(run, study, stimuli)
    interrupted, messages = recorder.stopping.is_set(), recorder.messages
    if not interrupted:
        silent = unanswered(run.folder)  # each has one line alone
        others = [line for line in messages if not any(line.startswith(f"{system}: ") for system in silent)]
        messages = [*others, *silent.values(), *left_open(run)]
    return Recorded(run, [*changed, *messages], interrupted, recorder.signal)


def _prepare(ledger: Ledger, study: Study, work: Work, again: Sequence[str]) -> list[str]:
    """Write the intents and decide what is asked again; return lines about it."""
    ledger.recover()
    ledger.put_fact("study_folder", str(study.folder.resolve()))
    write_questions(ledger, work)
    note_hypotheses(ledger, study)
    put_right(ledger)
    wanted = wanted_again(study, again)
    if "unreadable" in wanted:
        find_unreadable(ledger)
    lines = hold_sources(ledger, study, work, wanted)
    for state in wanted:
        ledger.ask_again(state)
    for system, _ in work:  # what a killed process left unknown of systems that are here, free, and repeat themselves
        if getattr(system, "repeatable", False):  # a plug-in may know nothing of it
            ledger.ask_again("unknown", system.name)
    return lines


def wanted_again(study: Study, again: Sequence[str] = ()) -> list[str]:
    """Return the states that are asked again, as the study or the command says."""
    more = [state for state in AGAIN if state in again or getattr(study, f"ask_{state}_again")]
    return [*more, *(state for state in again if state == CHANGED)]


def _ask(ledger: Ledger, study: Study, work: Work, how: Options) -> Recorder:
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
