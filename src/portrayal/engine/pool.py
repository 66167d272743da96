"""Pools of workers, which take shards and are replaced when they are lost.

A thread for each worker hands it one shard after the other. Because a `ProcessPoolExecutor` breaks as a whole when a process ends, and
does not say which shard ended it, each worker is an executor of one: a lost worker costs time, and a shard that kills all is named.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context, parent_process
from threading import Event, Lock, Thread, local
from typing import Any, TypeAlias

from portrayal.engine.shards import LOST, Done, Failed, Lost, Shard, attempt

Make = Callable[[], Callable[[Any], Any]]
Worker: TypeAlias = Any  # ready(wait), do(shard), stop() from any thread; what ends without an answer raises `Lost`
# The workers share the machine; threads of their own would only get in each other's way.
ONE_THREAD = {"POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
TRIES = 3  # workers a shard may cost, and starts a worker may take
PATIENCE = 300.0  # seconds without a single worker, after which nobody would believe that one will come

_inside = False
_built: Done | Failed | None = None  # what `make()` gave in this worker
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


class Process:
    """A process of this machine, spawned and never forked."""

    def __init__(self, make: bytes) -> None:
        self._executor = ProcessPoolExecutor(1, get_context("spawn"))
        self._ending = Lock()  # an executor cannot be shut down by two threads at once
        with _STARTING, _environment(ONE_THREAD):
            self._ready = self._executor.submit(_begin, make)  # starts the process
            (self._process,) = self._executor._processes.values()

    def ready(self, wait: Callable[[], bool]) -> Done | Failed:
        """Wait until `make()` is done."""
        return self._outcome(lambda: self._ready)

    def do(self, shard: Shard) -> Done | Failed:
        """Do one shard."""
        content = pickle.dumps(shard.content)
        return self._outcome(lambda: self._executor.submit(_do, content))

    def stop(self) -> None:
        """End the process, whatever it is doing."""
        self._process.kill()
        with self._ending:
            self._executor.shutdown()

    def _outcome(self, ask: Callable[[], Future[bytes]]) -> Done | Failed:
        try:
            return pickle.loads(ask().result())
        except RuntimeError:  # the executor is broken, or shut down by `stop`
            self.stop()
            code = self._process.exitcode
            how = f"exit code {code}" if code is None or code >= 0 else f"killed by {signal.Signals(-code).name}"
            raise Lost(how) from None


def _begin(make: bytes) -> bytes:
    """Build once, in a process that ends with its driver, to whom Ctrl-C is left."""
    global _built
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_driver, daemon=True).start()
    _built = build(make)
    return pickle.dumps(_built if isinstance(_built, Failed) else Done(None))


def _end_with_driver() -> None:
    if driver := parent_process():
        driver.join()
        os._exit(1)


def _do(content: bytes) -> bytes:
    """Do a shard; a failure to pickle or unpickle is an outcome too."""
    outcome = attempt(lambda: pickle.dumps(Done(_built.result(pickle.loads(content)))))  # type: ignore[union-attr]
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
            task.losses.append(outcome.reason)
            if len(task.losses) < TRIES:
                with contextlib.suppress(RuntimeError):  # the pool is closed
                    self._threads.submit(self._do, task)
            else:
                ends = "; ".join(dict.fromkeys(task.losses))
                reason = (
                    f"given to {TRIES} workers, and each ended without an answer ({ends}). A worker that is killed for its memory"
                    " ends so: use fewer workers (--workers) or a machine with more."
                )
                task.future.set_result(Failed(LOST, reason))
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
            patient = time.monotonic() - began < PATIENCE
            return not self._over.is_set() and (patient or any(list(self._workers.values())))

        ready = attempt(worker.ready, may_wait)
        if isinstance(ready, Done) and not isinstance(ready.result, Failed):
            self._workers[worker], self._own.worker = True, worker
            return None
        self._drop(worker)
        return ready.result if isinstance(ready, Done) else Failed(LOST, f"no worker could be started: {ready.reason}")

    def _drop(self, worker: Worker) -> None:
        self._workers.pop(worker, None)
        worker.stop()
