"""Which engine does the work: chosen once by whoever starts a job, and found here by everything below."""

from __future__ import annotations

import os
import pickle
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from portrayal.engine.crew import Crew
from portrayal.engine.local import Here, Process
from portrayal.engine.ray_actors import ActorWorker, Session, pickled
from portrayal.engine.worker import Make, is_inside
from portrayal.errors import PortrayalError, check_name

ENGINES = ("local", "ray")
_FORM = re.compile(r"(?P<name>[^:]*)(?:://(?P<address>.*))?", re.DOTALL)


@dataclass(frozen=True)
class Choice:
    """An engine, how many workers it has, and where finished shards are kept."""

    name: str = "local"
    workers: int | None = None  # None: as many as the caller thinks fit, or as there are processors
    quiet: bool = True
    folder: Path | None = None
    named: bool = False  # somebody asked for it: then even little work goes through it
    session: Session = field(default_factory=Session)

    def crew(self, make: Make, workers: int | None, gpus: float) -> Crew | Here:
        """Return workers for a job; `workers` is what the caller thinks fit."""
        if is_inside():
            return Here(make)
        if self.name == "ray":
            ray = self.session.ray()
            return Crew(partial(ActorWorker, ray, pickled(make), gpus), self.size())
        count = self.size(workers)
        return Here(make) if count == 1 else Crew(partial(Process, pickle.dumps(make)), count)

    def size(self, workers: int | None = None) -> int:
        """Return how many workers there are; `workers` is what the caller thinks fit."""
        if is_inside():
            return 1
        if self.name == "ray":
            return self.workers or self.session.size()
        return self.workers or workers or cores()


_CHOSEN: ContextVar[Choice | None] = ContextVar("engine", default=None)


def chosen() -> Choice:
    """Return the engine in use; the local one where nobody chose."""
    return _CHOSEN.get() or Choice()


@contextmanager
def using(
    engine: str | None = None, workers: int | None = None, folder: Path | None = None, quiet: bool = True
) -> Iterator[Choice]:
    """Use an engine for all that is done meanwhile."""
    choice = _choice(engine, workers, folder, quiet)
    token = _CHOSEN.set(choice)
    try:
        yield choice
    finally:
        _CHOSEN.reset(token)
        if choice.session is not chosen().session:
            choice.session.close()


def _choice(engine: str | None, workers: int | None, folder: Path | None, quiet: bool) -> Choice:
    if workers is not None and workers < 1:
        raise PortrayalError(f"workers is {workers}. Expected 1 or more.")
    if engine is None:
        before = chosen()
        named = before.named or workers is not None
        return Choice(before.name, workers or before.workers, quiet, folder or before.folder, named, before.session)
    form = _FORM.fullmatch(engine)
    name, address = (form["name"], form["address"]) if form else (engine, None)
    check_name(name, ENGINES, "engine")
    if address is not None and (name != "ray" or not address):
        raise PortrayalError(f"no engine {engine!r}. Expected local, ray, or ray://HOST:PORT.")
    return Choice(name, workers, quiet, folder, True, Session(address or "", workers))


def cores() -> int:
    """How many processors this process may use; not every system can tell, and then all it has."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1
