"""A crew: workers of one job, each with a thread here that hands it one shard after the other.

A shard whose worker is lost goes back to the queue, for whichever worker is free next; the lost one is started again. So a
machine that is gone costs time and no result, and a shard that kills every worker is named.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from threading import Event, Lock, Thread
from types import TracebackType
from typing import Protocol

from portrayal.engine.outcome import LOST, Done, Failed, attempt
from portrayal.engine.shards import Shard

TRIES = 3  # workers a shard may cost, and starts a worker may take
PATIENCE = 300.0  # seconds without a single worker, after which nobody would believe that one will come


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


class Crew:
    """Workers that take shards; `submit` gives a future of the shard's outcome."""

    def __init__(self, begin: Callable[[], Worker], workers: int) -> None:
        self.window = 2 * workers  # shards in hand: one at work and one to follow, so that memory is bounded
        self._begin = begin
        self._queue: SimpleQueue[_Task | None] = SimpleQueue()
        self._closing = Event()
        self._lock = Lock()
        self._working: set[Worker] = set()
        self._ready: set[Worker] = set()
        self._refusal: Failed | None = None  # why no worker is left
        self._threads = [Thread(target=self._serve, daemon=True) for _ in range(workers)]
        self._living = workers

    def __enter__(self) -> Crew:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.set()
        for _ in self._threads:
            self._queue.put(None)
        with self._lock:
            working = list(self._working)
        for worker in working:  # one that is idle has left already; one at work is no longer wanted
            worker.stop()
        for thread in self._threads:
            thread.join()

    def submit(self, shard: Shard) -> Future[Done | Failed]:
        """Hand in a shard."""
        task = _Task(shard)
        self._queue.put(task)
        if self._refusal is not None:
            self._refuse_waiting()
        return task.future

    def _serve(self) -> None:
        """Keep one worker going until the crew is closed or the worker cannot be started."""
        refusals: list[Failed] = []
        while len(refusals) < TRIES and not self._closing.is_set():
            refused = self._one_worker()
            # What make() itself says it would say again; a worker that was lost may have been unlucky.
            refusals = [] if refused is None else [*refusals, refused] if refused.kind == LOST else [refused] * TRIES
        if not self._closing.is_set():
            self._leave(refusals[-1])

    def _one_worker(self) -> Failed | None:
        """Start a worker and stay with it to its end; return why it could not even start."""
        try:
            worker = self._begin()
        except Exception as error:  # no process left, no connection
            return Failed(LOST, f"no worker could be started: {error}")
        with self._lock:
            self._working.add(worker)
        try:
            return self._work(worker)
        finally:
            with self._lock:
                self._working.discard(worker)
                self._ready.discard(worker)
            worker.stop()

    def _work(self, worker: Worker) -> Failed | None:
        """Do shards until the worker is lost or the crew closed; return why it could not even start."""
        began = time.monotonic()
        ready = attempt(worker.ready, lambda: self._may_wait(time.monotonic() - began))
        if isinstance(ready, Failed):
            return Failed(LOST, f"no worker could be started: {ready.reason}")
        if isinstance(ready.result, Failed):
            return ready.result
        with self._lock:
            self._ready.add(worker)
        while (task := self._queue.get()) is not None:
            outcome = attempt(worker.do, task.shard)
            if isinstance(outcome, Failed) and outcome.kind == LOST:
                self._give_back(task, outcome.reason)
                break
            # A shard that cannot even be sent fails here, the others in their worker.
            task.future.set_result(outcome.result if isinstance(outcome, Done) else outcome)
        return None

    def _may_wait(self, seconds: float) -> bool:
        """Whether a worker that does not come is waited for: while others work, or not for too long."""
        return not self._closing.is_set() and (seconds < PATIENCE or bool(self._ready))

    def _give_back(self, task: _Task, lost: str) -> None:
        task.lost.append(lost)
        if len(task.lost) < TRIES:
            self._queue.put(task)
            return
        reason = (
            f"given to {TRIES} workers, and each ended without an answer ({'; '.join(dict.fromkeys(task.lost))})."
            " A worker that is killed for its memory ends so: use fewer workers (--workers) or a machine with more."
        )
        task.future.set_result(Failed(LOST, reason))

    def _leave(self, reason: Failed) -> None:
        """Note that a worker is gone for good; with the last one nothing can be done any more."""
        with self._lock:
            self._living -= 1
            if self._living:
                return
            self._refusal = reason
        self._refuse_waiting()

    def _refuse_waiting(self) -> None:
        with contextlib.suppress(Empty):
            while True:
                task = self._queue.get_nowait()
                if task is not None and self._refusal is not None:
                    task.future.set_result(self._refusal)


class _Task:
    """A shard on its way, and what became of the workers that had it."""

    def __init__(self, shard: Shard) -> None:
        self.shard = shard
        self.future: Future[Done | Failed] = Future()
        self.future.set_running_or_notify_cancel()  # whoever stops waiting for it does not stop the worker
        self.lost: list[str] = []
