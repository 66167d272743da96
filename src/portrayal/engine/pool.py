"""Pools of workers, which take shards and are replaced when they are lost.

A thread of a `ThreadPoolExecutor` for each worker hands it one shard after the other.

A shard whose worker is lost goes back to the queue, and the worker is started again. So a machine that is gone costs time
and no result, and a shard that kills every worker is named. `concurrent.futures.ProcessPoolExecutor` breaks as a whole when
one process ends, does not say which shard ended it, and leaves processes behind when the driver is killed; Ray's own
restarts keep a shard waiting for its own actor even where there is no room left for that one.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection
from threading import Event, Lock, local
from typing import Any, Protocol

from portrayal.engine.shards import LOST, Done, Failed, Lost, Shard, attempt

Make = Callable[[], Callable[[Any], Any]]
# The workers share the machine; threads of their own would only get in each other's way.
ONE_THREAD = {"POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
TRIES = 3  # workers a shard may cost, and starts a worker may take
PATIENCE = 300.0  # seconds without a single worker, after which nobody would believe that one will come
GRACE = 5.0  # seconds a process has to leave by itself

_inside = False
_STARTING = Lock()  # variables of the environment are everybody's


def is_inside() -> bool:
    """Return True inside a worker, whose work is not spread again."""
    return _inside


def build(make: bytes) -> Done | Failed:
    """Call the pickled `make()` in a worker."""
    global _inside
    _inside = True
    return attempt(lambda: pickle.loads(make)())


class Here:
    """The pool that is this process: each shard is done when it is handed in."""

    window = 1

    def __init__(self, make: Make) -> None:
        self._make = make
        self._built: Done | Failed | None = None

    def __enter__(self) -> Here:
        return self

    def __exit__(self, *error: object) -> None:
        self._built = None

    def submit(self, shard: Shard) -> Future[Done | Failed]:
        """Do a shard now."""
        built = self._built = self._built or attempt(self._make)
        done: Future[Done | Failed] = Future()
        done.set_result(attempt(built.result, shard.content) if isinstance(built, Done) else built)
        return done


class Worker(Protocol):
    """A process or an actor; whatever ends without an answer raises `Lost`."""

    def ready(self, wait: Callable[[], bool]) -> Done | Failed:
        """Wait until `make()` is done, for as long as `wait()` is true."""
        ...

    def do(self, shard: Shard) -> Done | Failed:
        """Do one shard."""
        ...

    def stop(self) -> None:
        """End it, also from another thread and in the middle of a shard."""
        ...


class Process:
    """A process of this machine and the pipe to it, spawned and never forked."""

    def __init__(self, make: bytes) -> None:
        context = get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, make), daemon=True)
        with _STARTING, _environment(ONE_THREAD):
            self._process.start()
        theirs.close()  # or its end would never be noticed

    def ready(self, wait: Callable[[], bool]) -> Done | Failed:
        """Wait until `make()` is done."""
        try:
            return pickle.loads(self._pipe.recv_bytes())
        except (EOFError, OSError):
            raise Lost(self._end()) from None

    def do(self, shard: Shard) -> Done | Failed:
        """Do one shard."""
        try:
            self._pipe.send(shard.content)
        except OSError:
            raise Lost(self._end()) from None
        return self.ready(lambda: True)

    def stop(self) -> None:
        """End the process, whatever it is doing."""
        self._process.kill()
        self._process.join(GRACE)

    def _end(self) -> str:
        """Say how the process ended."""
        self._process.join(GRACE)
        code = self._process.exitcode
        return f"exit code {code}" if code is None or code >= 0 else f"killed by {signal.Signals(-code).name}"


def _serve(pipe: Connection, make: bytes) -> None:
    """Build once, then answer until the pipe is closed or the driver dies."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the driver's, which ends this process
    built = build(make)
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        pipe.send_bytes(pickle.dumps(built if isinstance(built, Failed) else Done(None)))
        while isinstance(built, Done):
            content, work = pipe.recv_bytes(), built.result
            # That a shard cannot be unpickled, or a result pickled, is an outcome too.
            outcome = attempt(lambda: pickle.dumps(Done(work(pickle.loads(content)))))  # noqa: B023
            pipe.send_bytes(outcome.result if isinstance(outcome, Done) else pickle.dumps(outcome))


@contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    """Set variables for processes started meanwhile, and put them back."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value


@dataclass(eq=False)
class _Task:
    """A shard on its way, and the ends of the workers that had it."""

    shard: Shard
    future: Future[Done | Failed] = field(default_factory=Future)
    losses: list[str] = field(default_factory=list)


class Pool:
    """Workers that take shards; `submit` gives a future of the shard's outcome."""

    def __init__(self, begin: Callable[[], Worker], workers: int) -> None:
        self.window = 2 * workers  # shards in hand: one at work and one to follow, so that memory is bounded
        self._begin = begin
        self._over = Event()  # nothing more is done: the pool is closed, or no worker is left
        self._lock = Lock()
        self._hopeful = 0  # threads that have a worker or may still get one
        self._refusal = Failed(LOST, "the pool is closed")
        self._workers: dict[Worker, bool] = {}  # and whether each is ready
        self._own = local()  # each thread's worker
        self._threads = ThreadPoolExecutor(workers, initializer=self._enter)

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()
        for wait in (False, True):  # those at work are no longer wanted; one may have been about to start
            self._threads.shutdown(wait, cancel_futures=True)
            for worker in list(self._workers):
                self._drop(worker)

    def submit(self, shard: Shard) -> Future[Done | Failed]:
        """Hand in a shard."""
        task = _Task(shard)
        task.future.set_running_or_notify_cancel()  # whoever stops waiting for it does not stop the worker
        self._threads.submit(self._do, task)
        return task.future

    def _enter(self) -> None:
        with self._lock:
            self._hopeful += 1
        self._get_worker()

    def _do(self, task: _Task) -> None:
        """Do a shard with this thread's worker; a lost one's goes back to the queue."""
        if self._own.worker is None:
            task.future.set_result(self._refusal)
            return
        outcome = attempt(self._own.worker.do, task.shard)
        if isinstance(outcome, Done):
            task.future.set_result(outcome.result)
        elif outcome.kind != LOST:  # a shard that cannot even be sent
            task.future.set_result(outcome)
        else:
            self._drop(self._own.worker)
            self._give_back(task, outcome.reason)
            self._get_worker()

    def _get_worker(self) -> None:
        """Start this thread's worker; where none will start, leave the shards to other threads."""
        self._own.worker = None
        refusals: list[Failed] = []
        while len(refusals) < TRIES and not self._over.is_set():
            refused = self._start()
            if refused is None:
                return
            # What make() itself says it would say again; a worker that was lost may have been unlucky.
            refusals = [*refusals, refused] if refused.kind == LOST else [refused] * TRIES
        with self._lock:
            self._hopeful -= 1
            if not self._hopeful and refusals:
                self._refusal = refusals[-1]
                self._over.set()
        self._over.wait()

    def _start(self) -> Failed | None:
        """Start a worker for this thread; return why it could not start, if so."""
        try:
            worker = self._begin()
        except Exception as error:  # no process left, no connection
            return Failed(LOST, f"no worker could be started: {error}")
        self._workers[worker] = False
        began = time.monotonic()

        def may_wait() -> bool:  # while others work, or not for too long
            return not self._over.is_set() and (
                time.monotonic() - began < PATIENCE or any(list(self._workers.values()))
            )

        ready = attempt(worker.ready, may_wait)
        if isinstance(ready, Done) and not isinstance(ready.result, Failed):
            self._workers[worker], self._own.worker = True, worker
            return None
        self._drop(worker)
        return ready.result if isinstance(ready, Done) else Failed(LOST, f"no worker could be started: {ready.reason}")

    def _drop(self, worker: Worker) -> None:
        self._workers.pop(worker, None)
        worker.stop()

    def _give_back(self, task: _Task, loss: str) -> None:
        task.losses.append(loss)
        if len(task.losses) < TRIES:
            with contextlib.suppress(RuntimeError):  # the pool is closed
                self._threads.submit(self._do, task)
            return
        reason = (
            f"given to {TRIES} workers, and each ended without an answer ({'; '.join(dict.fromkeys(task.losses))})."
            " A worker that is killed for its memory ends so: use fewer workers (--workers) or a machine with more."
        )
        task.future.set_result(Failed(LOST, reason))
