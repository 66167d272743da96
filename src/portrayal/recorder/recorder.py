"""The recorder: the only caller of systems.

What proves that no answer was produced is asked again with a growing, jittered pause; what proves nothing becomes unknown; what cannot
be mended by waiting stops the system and leaves the rest planned. A commit waits for the disk: answers that arrive meanwhile are
written by the next one together, and where a group cannot be written its parts are tried one by one.
"""

import asyncio
import contextlib
import random
import signal
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from portrayal.edges.secrets import hidden
from portrayal.errors import PortrayalError
from portrayal.recorder.ledger import Ledger, storable
from portrayal.recorder.responses import read_outcome
from portrayal.safety.guard import guard_answer, guard_system
from portrayal.systems.core.base import (
    Answer,
    CallFailed,
    OutcomeUnknown,
    Question,
    QuotaSpent,
    System,
    Throttled,
    Unreachable,
)


class _Entry(NamedTuple):
    write: Callable[[], None]
    done: asyncio.Future[None]
    needless_when_cancelled: bool


@dataclass
class Journal:
    """Writes into a ledger for workers of one event loop."""

    ledger: Ledger
    _waiting: list[_Entry] = field(default_factory=list)

    async def write(self, write: Callable[[], None], needless_when_cancelled: bool = False) -> None:
        """Run `write` in a transaction, perhaps with others, and return when it is on disk."""
        loop = asyncio.get_running_loop()
        entry = _Entry(write, loop.create_future(), needless_when_cancelled)
        if not self._waiting:
            loop.call_soon(self.flush)
        self._waiting.append(entry)
        await entry.done

    def flush(self) -> None:
        """Write all that waits."""
        entries = [one for one in self._waiting if not (one.needless_when_cancelled and one.done.cancelled())]
        self._waiting = []
        error = self._try(entries)
        for entry in entries:
            own = error if error is None or len(entries) == 1 else self._try([entry])
            if not entry.done.done():
                entry.done.set_result(None) if own is None else entry.done.set_exception(own)

    def _try(self, entries: list[_Entry]) -> Exception | None:
        try:
            with self.ledger.together():
                for entry in entries:
                    entry.write()
        except Exception as error:
            return error
        return None


DRAINING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


@contextlib.contextmanager
def draining(stop: Callable[[int], None]) -> Iterator[None]:
    """Call `stop` with the first signal's number; later signals act by themselves."""
    loop = asyncio.get_running_loop()
    taken: list[int] = []

    def release() -> None:
        while taken:
            loop.remove_signal_handler(taken.pop())

    def first(number: int) -> None:
        release()
        stop(number)

    # Not in the main thread: whoever owns it handles signals.
    with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
        for number in DRAINING:
            if number != signal.SIGINT and signal.getsignal(number) != signal.SIG_DFL:
                continue  # somebody else handles or ignores it
            loop.add_signal_handler(number, first, number)
            taken.append(number)
    try:
        yield
    finally:
        release()


LONGEST_PAUSE = 60.0  # seconds between two tries where the service names none
LONGEST_WAIT = 300.0  # seconds that a service may make us wait, whatever it says
LONG_WAIT = 10.0  # seconds; a shorter pause is nobody's concern


@dataclass
class Pace:
    """A pace of one call every `1 / per_second` seconds, by a monotonic clock."""

    per_second: float | None
    monotonic: Callable[[], float]
    sleep: Callable[[float], Awaitable[None]]
    _next: float = float("-inf")

    async def wait(self) -> None:
        """Wait for this call's place."""
        if self.per_second is None:
            return
        now = self.monotonic()
        place = max(now, self._next)
        self._next = place + 1 / self.per_second
        if place > now:
            await self.sleep(place - now)


def pause(attempt: int, errors: Sequence[Throttled], key: str) -> float:
    """Return seconds to wait: what the service asked for, or a growing pause, jittered."""
    wish = asked_for(errors)
    jitter = random.Random(f"{key}{attempt}").uniform(0.5, 1.0)
    return min(wish, LONGEST_WAIT) + jitter if wish else min(LONGEST_PAUSE, 2.0**attempt) * jitter


def asked_for(errors: Sequence[Throttled]) -> float:
    """Return the longest wait that the service asked for, in seconds, or 0."""
    return max((error.retry_after or 0.0 for error in errors), default=0.0)


GIVE_UP_AFTER = 3  # batches in a row still throttled after all retries: the service is down

Outcome: TypeAlias = Answer | Exception
Listener = Callable[[str, str, int, float], None]  # system, state, how many questions, dollars


@dataclass
class Recorder:
    """Records the planned questions of several systems into one ledger."""

    ledger: Ledger
    listen: Listener = lambda system, state, count, dollars: None
    clock: Callable[[], float] = time.time
    sleep: Callable[[float], Awaitable[None]] | None = None  # None: sleep until `stopping` is set
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    messages: list[str] = field(default_factory=list)  # why a system was stopped early
    monotonic: Callable[[], float] = time.monotonic  # paces; the other clock may be set back
    tell: Callable[[str], None] = lambda line: None  # told of long waits as they begin
    signal: int = 0  # the signal that stopped it, if one did
    journal: Journal = field(init=False)

    def __post_init__(self) -> None:
        self.journal = Journal(self.ledger)

    async def record(self, work: Sequence[tuple[System, Mapping[str, Question]]]) -> None:
        """Ask every planned question of every system; questions are given by ledger key."""
        with draining(self._drain):
            tasks = [asyncio.ensure_future(self._record_system(system, questions)) for system, questions in work]
            try:
                await _wait_for_all(tasks)
            finally:
                self.journal.flush()  # answers whose workers were cancelled
                await asyncio.gather(*(system.close() for system, _ in work))

    def _drain(self, number: int) -> None:
        self.signal = number
        self.stopping.set()

    async def rest(self, seconds: float) -> None:
        """Sleep until the time is over or recording is stopped."""
        if self.sleep is not None:
            await self.sleep(seconds)
            return
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.stopping.wait(), seconds)

    async def _record_system(self, system: System, questions: Mapping[str, Question]) -> None:
        """Run this system's workers until its queue is empty or it is stopped."""
        planned = self.ledger.open_keys(system.name)
        pairs = [(key, question) for key, question in questions.items() if key in planned]
        # One iterator for all workers, which run in one thread.
        queue = iter([pairs[start : start + system.batch] for start in range(0, len(pairs), system.batch)])
        asking = _Asking(self, system, queue, Pace(system.limits.per_second, self.monotonic, self.rest))
        await _wait_for_all([asyncio.ensure_future(asking.work()) for _ in range(system.limits.concurrency)])


Batch = list[tuple[str, Question]]


@dataclass
class _Asking:
    """One system being asked: the queue its workers share and whether it was stopped."""

    recorder: Recorder
    system: System
    queue: Iterator[Batch]
    pace: Pace
    stopped: bool = False
    throttled_batches: int = 0
    answered: bool = False
    in_vain: list[str] = field(default_factory=list)  # keys since the last answer whose errors may stop the system
    quiet_until: float = float("-inf")

    async def work(self) -> None:
        for batch in self.queue:
            if self._is_stopping():
                return
            try:
                await self._ask_until_settled(batch)
            except Exception:  # the other workers finish what is in flight: those answers may be paid for
                self.recorder.stopping.set()
                raise

    def _is_stopping(self) -> bool:
        return self.stopped or self.recorder.stopping.is_set()

    async def _ask_until_settled(self, batch: Batch) -> None:
        """Ask a batch; ask again what was throttled, up to the limit of retries."""
        for attempt in range(self.system.limits.retries + 1):
            later = await self._ask_once(batch)
            if not later:
                self.throttled_batches = 0
                return
            batch = [pair for pair, _ in later]
            if not self._is_stopping() and attempt < self.system.limits.retries:
                await self._wait(attempt, [error for _, error in later], batch[0][0])
            if self._is_stopping():
                return
        self._give_up(batch, later[0][1])

    async def _wait(self, attempt: int, errors: Sequence[Throttled], key: str) -> None:
        """Wait before asking again; of long waits one worker tells."""
        seconds, now = pause(attempt, errors, key), self.recorder.monotonic()
        if seconds >= LONG_WAIT and now >= self.quiet_until:
            self.quiet_until = now + seconds
            wish = asked_for(errors)
            asks = f" (it asks for {wish:,.0f} s; {LONGEST_WAIT:.0f} s is the longest wait)"
            more = asks if wish > LONGEST_WAIT else ""
            self.recorder.tell(f"{self.system.name}: waiting {seconds:.0f} s before asking again{more}: {errors[0]}")
        await self.recorder.rest(seconds)

    async def _ask_once(self, batch: Batch) -> list[tuple[tuple[str, Question], Throttled]]:
        """Ask, settle every outcome, and return the questions that were throttled."""
        keys = [key for key, _ in batch]
        await self.pace.wait()
        if self._is_stopping():  # nothing was asked: these stay planned
            return []
        ledger, now = self.recorder.ledger, self.recorder.clock()
        await self.recorder.journal.write(lambda: ledger.start(keys, now), needless_when_cancelled=True)
        try:
            outcomes = await self._outcomes([question for _, question in batch])
        except PortrayalError:  # nothing was sent: a credential, an extra or a program is missing
            self._settle(keys, "planned", "could not be asked")
            raise
        price, ends = self.system.limits.price, list(zip(batch, outcomes, strict=True))
        await self._finish([(key, storable(end, price)) for (key, _), end in ends if isinstance(end, Answer)])
        for (key, _), end in ends:
            if isinstance(end, Exception):
                self._settle_error(key, end)
        return [(pair, end) for pair, end in ends if isinstance(end, Throttled)]

    async def _outcomes(self, questions: Sequence[Question]) -> Sequence[Outcome]:
        """Return one outcome per question, whatever happens, except what the user must mend first."""
        limit = self.system.limits.timeout * (1 if self.system.remote else len(questions))
        guard_system(self.system, questions)
        try:
            async with asyncio.timeout(limit):
                outcomes = await self.system.ask(questions)
        except PortrayalError:
            raise
        except TimeoutError:
            return [OutcomeUnknown(f"no answer within {limit:g} s")] * len(questions)
        except Exception as error:
            return [error] * len(questions)
        if len(outcomes) != len(questions):
            message = f"{len(questions)} questions were asked, {len(outcomes)} answers came"
            return [CallFailed(message)] * len(questions)
        return [guard_answer(self.system, o) if isinstance(o, Answer) else o for o in outcomes]

    def _settle_error(self, key: str, error: Exception) -> None:
        """Write down what came of a question without an answer; a throttled one stays planned."""
        if isinstance(error, Throttled | QuotaSpent):
            self._settle([key], "planned", str(error), quiet=True)
        if isinstance(error, QuotaSpent):
            self._stop(f"{self.system.name}: the quota is spent ({error}). The rest stays planned; run again later.")
        elif not isinstance(error, Throttled):
            # A generator's words may hold an image: of its errors only the reason is kept.
            raw = None if self.system.kind == "generator" else getattr(error, "raw", None)
            state = "unknown" if isinstance(error, OutcomeUnknown) else "failed"
            is_plain = isinstance(error, CallFailed | OutcomeUnknown)
            self._settle([key], state, str(error) if is_plain else f"{type(error).__name__}: {error}", raw=raw)
            self._stop_if_in_vain(key, error)

    def _stop_if_in_vain(self, key: str, error: Exception) -> None:
        """Stop a system that would say the same to every question."""
        limit = getattr(error, "stops_after", 0)
        if not limit:
            return
        self.in_vain.append(key)
        if len(self.in_vain) < limit:
            return
        if isinstance(error, CallFailed) and not self.answered:
            self._settle(self.in_vain, "planned", str(error), quiet=True)
        self._stop(f"{self.system.name}: stopped, because it would be the same for every question: {error}")

    def _give_up(self, batch: Batch, error: Throttled) -> None:
        """Fail questions that were throttled to the end; stop a service that is down."""
        tries = self.system.limits.retries + 1
        if isinstance(error, Unreachable):  # never sent: these stay planned
            self._stop(f"{self.system.name}: tried {tries} times: {error}. The rest stays planned.")
            return
        self.throttled_batches += 1
        self._settle([key for key, _ in batch], "failed", f"throttled {tries} times: {error}")
        if self.throttled_batches >= GIVE_UP_AFTER:
            self._stop(f"{self.system.name}: the service keeps throttling ({error}). The rest stays planned.")

    async def _finish(self, answers: Sequence[tuple[str, Answer]]) -> None:
        """Store the raw answers, then read them and settle their states."""
        if not answers:
            return
        ledger, now, system = self.recorder.ledger, self.recorder.clock(), self.system
        await self.recorder.journal.write(lambda: ledger.finish(answers, now))
        self.answered = True
        self.in_vain.clear()
        read = [(key, a, read_outcome(system.reader, a, system.kind, system.parameters)) for key, a in answers]
        if states := [(key, outcome.state, outcome.reason) for key, _, outcome in read if outcome.reason]:
            await self.recorder.journal.write(lambda: ledger.restate(states))
        for _, answer, outcome in read:
            self.recorder.listen(system.name, outcome.state, 1, answer.cost)

    def _settle(self, keys: Sequence[str], state: str, why: str, raw: bytes | None = None, quiet: bool = False) -> None:
        self.recorder.ledger.settle(keys, state, why, self.recorder.clock(), raw)
        if not quiet:
            self.recorder.listen(self.system.name, state, len(keys), 0.0)

    def _stop(self, message: str) -> None:
        if not self.stopped:
            self.recorder.messages.append(hidden(message))
        self.stopped = True


async def _wait_for_all(tasks: Sequence[asyncio.Future[None]]) -> None:
    """Wait for all tasks, then raise the first failure; a cancel cancels all."""
    try:
        ends = await asyncio.gather(*tasks, return_exceptions=True)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    for end in ends:
        if isinstance(end, BaseException):
            raise end
