"""A world of one seed: some systems, some pictures, faults in a drawn order, and processes that die and are started again."""

from __future__ import annotations

import asyncio
import io
import random
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import httpx2

from faults.simulator.bills import ANSWERED, Bills, Wrong, broken_promises
from faults.simulator.clock import VirtualLoop
from faults.simulator.programs import SimulatedProgram, simulated_function
from faults.simulator.services import KEYS, SERVICES, Network, names_in
from portrayal.recorder.ledger import Ledger
from portrayal.recorder.recorder import Recorder
from portrayal.run.recording import write_questions
from portrayal.systems.core.base import Question, System, question_key
from portrayal.systems.core.registry import open_system
from portrayal.systems.core.settings import SystemSettings

LIMIT = 20.0  # seconds a question may take
MOST_PROCESSES = 12
OTHERS = {"program": {"use": "command:program"}, "function": {"use": "python:made_up:answer"}}
ENDS = ("killed", "killed while writing", "terminated", "disk full", "clock set back")


class Killed(KeyboardInterrupt):
    """The process is gone, between two instructions. An event loop hands on no other exception of its callbacks."""


@dataclass
class World:
    """Everything that happens follows from the seed."""

    seed: int
    folder: Path
    pictures: Mapping[str, bytes]
    limit: float = LIMIT
    bills: Bills = field(default_factory=Bills)
    injected: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.often = self.random.choice([0.0, 0.1, 0.3, 0.6])
        every = [*SERVICES, *OTHERS]
        self.names = self.random.sample(every, self.random.randint(1, 3))
        self.shown = self.random.sample(sorted(self.pictures), self.random.randint(2, len(self.pictures)))
        self.concurrency = self.random.choice([1, 2, 8])
        self.per_second = self.random.choice([None, None, 5.0])
        self.wall = 1e9  # the clock on the wall, which may be set back

    def next_fault(self, system: str, stimulus: str, faults: tuple[str, ...]) -> str | None:
        """Draw what happens to a question."""
        if self.random.random() >= self.often:
            return None
        fault = self.random.choice(faults)
        self.injected[fault] += 1
        self.bills.injected(system, stimulus, fault)
        return fault

    def stimulus_in(self, sent: bytes) -> str:
        """Return the stimulus that a request shows."""
        return names_in(sent, self.pictures)

    def bills_errors(self, vendor: str) -> bool:
        """Return whether this server error is billed; some vendors say that they never do."""
        return vendor not in ("openai", "anthropic") and self.random.random() < 0.5

    def run(self) -> list[Wrong]:
        """Start processes until everything is asked; return what is wrong then."""
        path = self.folder / "ledger.sqlite"
        for process in range(MOST_PROCESSES):
            last = process == MOST_PROCESSES - 1
            if self._process(path, None if last else self._end()):
                break
        with Ledger(path) as ledger:
            ledger.recover()
            return broken_promises(ledger, self.bills)

    def _hear(self, system: str, state: str, count: int, dollars: float) -> None:
        if state in ANSWERED:
            self.bills.told[system] += count

    def _end(self) -> str | None:
        return self.random.choice(ENDS) if self.random.random() < 0.4 else None

    def _process(self, path: Path, end: str | None) -> bool:
        """Record until done, stopped or dead; return whether nothing is left to ask."""
        loop, ledger = VirtualLoop(), Ledger(path)
        loop.set_exception_handler(lambda *_: None)  # what a dying process would print
        try:
            ledger.recover()
            work = self._work()
            write_questions(ledger, [(system, {key: [one] for key, one in table.items()}) for system, table in work])
            recorder = Recorder(ledger, self._hear, clock=lambda: self.wall + loop.time(), monotonic=loop.time)
            if end:
                self.injected[end] += 1
                self._arrange(end, loop, ledger, recorder)
            self._run(loop, recorder, work)
            return not any(counts["planned"] for counts in ledger.counts().values())
        finally:
            ledger._connection.rollback()
            in_flight = [(entry.system, entry.hash) for entry in ledger.entries() if entry.state == "in_flight"]
            self.bills.at_a_kill.update(in_flight)
            ledger.close()  # first: what the dead process would still do reaches no disk
            _bury(loop)

    def _run(self, loop: VirtualLoop, recorder: Recorder, work: Any) -> None:
        asyncio.set_event_loop(loop)
        try:
            loop.run_until_complete(loop.create_task(recorder.record(work)))
        except (Killed, sqlite3.OperationalError):
            pass  # dead, or told that the disk is full: somebody starts it again
        finally:
            asyncio.set_event_loop(None)

    def _arrange(self, end: str, loop: VirtualLoop, ledger: Ledger, recorder: Recorder) -> None:
        """Let the process come to this end at a drawn time."""
        when = self.random.uniform(0.0, 20.0)
        if end == "killed":
            loop.call_later(when, _kill)
        elif end == "killed while writing":
            _die_before_commit(ledger, self.random.randint(1, 20))
        elif end == "terminated":
            loop.call_later(when, lambda: recorder._drain(15))
        elif end == "disk full":
            loop.call_later(when, lambda: ledger._connection.execute("PRAGMA max_page_count = 1"))
        else:
            loop.call_later(when, self._set_back)

    def _set_back(self) -> None:
        self.wall -= 3600.0

    def _work(self) -> list[tuple[System, dict[str, Question]]]:
        """Open the systems, as a new process does, and connect them to this world."""
        work = []
        for name in self.names:
            own = {**(SERVICES[name][0] if name in SERVICES else OTHERS[name]), "name": name}
            own["limits"] = {"concurrency": self.concurrency, "timeout": self.limit, "retries": 2,
                             "per_second": self.per_second}  # fmt: skip
            system = open_system(SystemSettings(**own), self.folder, "tagger")
            self._connect(system, name)
            asked = [
                Question(shown, "image", str(self.folder / f"{shown}.png"), shown, consent="generated")
                for shown in self.shown
            ]
            key = partial(question_key, system)
            work.append((system, {key(question): question for question in asked}))
        return work

    def _connect(self, system: Any, name: str) -> None:
        if name in SERVICES:
            network = Network(self, name, system.name)
            system._open = lambda: httpx2.AsyncClient(transport=network)
        elif name == "program":
            system._start = lambda: _started(SimulatedProgram(self, system.name))
        else:
            system._function = simulated_function(self, system.name)


async def _started(program: SimulatedProgram) -> SimulatedProgram:
    return program


def _kill() -> None:
    raise Killed


def _die_before_commit(ledger: Ledger, writes: int) -> None:
    """Let the process die inside its n-th group of writes, before they are committed."""
    together, left = ledger.together, [writes]

    @contextmanager
    def dying() -> Iterator[None]:
        with together():
            yield
            left[0] -= 1
            if not left[0]:
                raise Killed

    ledger.together = dying  # type: ignore[method-assign]


def _bury(loop: VirtualLoop) -> None:
    """Cancel all that is left of a process that ended or died; nobody is asked any more."""
    left = asyncio.all_tasks(loop)
    for task in left:
        task.cancel()
    if left:
        loop.run_until_complete(asyncio.wait(left))
    for task in left:
        if not task.cancelled():
            task.exception()  # looked at, so that nobody is told of it
    loop.close()


def make_pictures(folder: Path, count: int = 12) -> dict[str, bytes]:
    """Write small pictures, each of another colour; return their bytes by name."""
    from PIL import Image

    made = {}
    for number in range(count):
        held = io.BytesIO()
        Image.new("RGB", (64, 64), (20 * number, 255 - 20 * number, 77)).save(held, "PNG")
        name = f"s{number:02d}"
        (folder / f"{name}.png").write_bytes(held.getvalue())
        made[name] = held.getvalue()
    return made


@contextmanager
def credentials() -> Iterator[None]:
    """Put made-up keys into the environment."""
    import os
    from unittest import mock

    with mock.patch.dict(os.environ, dict.fromkeys(KEYS, "made-up-key-of-a-simulated-world")):
        yield


__all__ = ["World", "credentials", "make_pictures"]
