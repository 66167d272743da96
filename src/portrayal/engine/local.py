"""The local engine: this process, or processes of this machine. Needs nothing."""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection
from threading import Lock
from types import TracebackType
from typing import Any

from portrayal.engine.outcome import Done, Failed, Lost, attempt
from portrayal.engine.shards import Shard
from portrayal.engine.worker import ONE_THREAD, Make, build

_STARTING = Lock()  # variables of the environment are everybody's
GRACE = 5.0  # seconds a worker has to leave by itself


class Here:
    """The work done in this process, one shard at a time, when it is handed in."""

    window = 1

    def __init__(self, make: Make) -> None:
        self._make = make
        self._built: Done | Failed | None = None

    def __enter__(self) -> Here:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._built = None

    def submit(self, shard: Shard) -> Future[Done | Failed]:
        """Do a shard now."""
        self._built = self._built or attempt(self._make)
        done: Future[Done | Failed] = Future()
        built = self._built
        done.set_result(attempt(built.result, shard.content) if isinstance(built, Done) else built)
        return done


class Process:
    """A process of this machine and the pipe to it. Spawned, not forked: a fork would copy the locks of other threads."""

    def __init__(self, make: bytes) -> None:
        context = get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, make), daemon=True)
        with _STARTING, _environment(ONE_THREAD):
            self._process.start()
        theirs.close()  # or its end would never be noticed

    def ready(self, wait: Callable[[], bool]) -> Done | Failed:
        """Wait until `make()` is done."""
        return self._answer()

    def do(self, shard: Shard) -> Done | Failed:
        """Do one shard."""
        try:
            self._pipe.send(shard.content)
        except OSError:
            raise Lost(self._end()) from None
        return self._answer()

    def stop(self) -> None:
        """End the process; what it is doing is no longer wanted."""
        self._process.kill()
        self._process.join(GRACE)

    def _answer(self) -> Done | Failed:
        try:
            return pickle.loads(self._pipe.recv_bytes())
        except (EOFError, OSError):
            raise Lost(self._end()) from None

    def _end(self) -> str:
        """Say how the process ended."""
        self._process.join(GRACE)
        code = self._process.exitcode
        if code is None or code >= 0:
            return f"exit code {code}"
        return f"killed by {signal.Signals(-code).name}"


def _serve(pipe: Connection, make: bytes) -> None:
    """Be a worker: build once, then answer until the pipe is closed, which it also is when the driver dies."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the driver's, which ends this process
    built = build(make)
    try:
        pipe.send_bytes(pickle.dumps(built if isinstance(built, Failed) else Done(None)))
        while isinstance(built, Done):
            pipe.send_bytes(_answered(built.result, pipe))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return


def _answered(work: Callable[[Any], Any], pipe: Connection) -> bytes:
    """Return the pickled outcome of the next shard; that a shard cannot be unpickled, or a result pickled, is one too."""
    content = pipe.recv_bytes()
    outcome = attempt(lambda: pickle.dumps(Done(work(pickle.loads(content)))))
    return outcome.result if isinstance(outcome, Done) else pickle.dumps(outcome)


@contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    """Set variables for processes started meanwhile, and put them back."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name)
            else:
                os.environ[name] = value
