"""Asking: the questions of a study written into a ledger, and those without an answer handed to the recorder."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from portrayal.edges.console import Hiding
from portrayal.edges.secrets import hidden
from portrayal.recorder.ledger import Ledger, Planned
from portrayal.recorder.recorder import Listener, Recorder
from portrayal.study.questions import Work
from portrayal.systems.core.base import Question, System
from portrayal.systems.core.settings import without_secrets


def write_questions(ledger: Ledger, work: Work) -> None:
    """Make these the ledger's questions; answers already there are kept."""
    if ledger.is_plan([(system.name, system.kind, system.reader, table.keys()) for system, table in work]):
        return
    ledger.plan(planned for system, table in work for planned in _planned(system, table))


def ask_repeatable_again(ledger: Ledger, work: Work) -> None:
    """Put back to planned what a killed process left unknown of systems that are here, free, and answer the same each time."""
    for system, _ in work:
        if getattr(system, "repeatable", False):  # a plug-in may know nothing of it
            ledger.ask_again("unknown", system.name)


def ask(
    ledger: Ledger, work: Work, listen: Listener | None = None, tell: Callable[[str], None] = lambda line: None
) -> Recorder:
    """Ask what is still planned; the recorder tells how it went, and of long waits while they last."""
    first = [(system, _open(ledger, system, table)) for system, table in work]
    recorder = Recorder(ledger, listen, tell=tell) if listen else Recorder(ledger, tell=tell)
    stream = Hiding(sys.stderr)
    with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(stream):
        _run(recorder.record(first))  # what a user's function prints is no answer of ours
    for system, _ in work:
        recorder.messages += map(hidden, getattr(system, "notes", ()))  # what of a request a server did not take
    return recorder


def _open(ledger: Ledger, system: System, table: Mapping[str, Sequence[Question]]) -> dict[str, Question]:
    """Return the questions that are still to be asked, in the study's order."""
    planned = ledger.open_keys(system.name)
    return {key: table[key][0] for key in table if key in planned}


def _planned(system: System, table: Mapping[str, Sequence[Question]]) -> Iterator[Planned]:
    # The key is made of the parameters as they are; what is kept to be read holds no credential.
    parameters = without_secrets(system.parameters)
    for key, questions in table.items():
        question = questions[0]
        yield Planned(
            key,
            system.name,
            system.identity,
            system.version,
            parameters,
            question.hash,
            question.repeat,
            system.kind,
            system.reader,
        )


def _run(recording: Coroutine[Any, Any, None]) -> None:
    """Run to the end; a notebook has a loop of its own running, beside which only another thread can run one."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(recording)
    else:
        with ThreadPoolExecutor(1) as thread:
            thread.submit(asyncio.run, recording).result()
