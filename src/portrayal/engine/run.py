"""Jobs: the choice of an engine, and shards done by workers or read back."""

import os
import pickle
import time
from collections.abc import Generator, Iterable, Iterator, Sequence, Sized
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

from portrayal.edges.console import track
from portrayal.engine.pool import Here, Make, Pool, Process, is_inside
from portrayal.engine.ray_pool import ActorWorker, Session, pickled
from portrayal.engine.shards import LEDGER, NOT_THERE, Done, Failed, Shard, Store, result_of
from portrayal.errors import PortrayalError, check_name

ENGINES = ("local", "ray")
WORTH_KEEPING = 0.1  # seconds of a shard in this process: one that takes less is as soon done again as kept


@dataclass(frozen=True)
class Choice:
    """An engine, how many workers it has, and where finished shards are kept."""

    name: str = "local"
    workers: int | None = None  # None: as many as the caller thinks fit, or as there are processors
    quiet: bool = True
    folder: Path | None = None
    named: bool = False  # somebody asked for it: then even little work goes through it
    session: Session = field(default_factory=Session)

    def pool(self, make: Make, workers: int | None, gpus: float) -> Pool | Here:
        """Return workers for a job; `workers` is what the caller thinks fit."""
        if is_inside():
            return Here(make)
        if self.name == "ray":
            return Pool(partial(ActorWorker, self.session.ray(), pickled(make), gpus), self.size())
        count = self.size(workers)
        return Here(make) if count == 1 else Pool(partial(Process, pickle.dumps(make)), count)

    def size(self, workers: int | None = None) -> int:
        """Return how many workers there are; `workers` is what the caller thinks fit."""
        if is_inside():
            return 1
        if self.name == "ray":
            return self.workers or self.session.size()
        return self.workers or workers or cores()


_in_use = Choice()


def current_engine() -> Choice:
    """Return the engine in use; the local one where nobody chose."""
    return _in_use


@contextmanager
def using(
    engine: str | None = None, workers: int | None = None, folder: Path | None = None, quiet: bool = True
) -> Iterator[Choice]:
    """Use an engine for all that is done meanwhile."""
    global _in_use
    before = _in_use
    choice = _in_use = _choice(before, engine, workers, folder, quiet)
    try:
        yield choice
    finally:
        _in_use = before
        if choice.session is not before.session:
            choice.session.close()


def _choice(before: Choice, engine: str | None, workers: int | None, folder: Path | None, quiet: bool) -> Choice:
    if workers is not None and workers < 1:
        raise PortrayalError(f"workers is {workers}. Expected 1 or more.")
    if engine is None:
        named = before.named or workers is not None
        return Choice(before.name, workers or before.workers, quiet, folder or before.folder, named, before.session)
    name, mark, address = engine.partition("://")
    check_name(name, ENGINES, "engine")
    if mark and (name != "ray" or not address):
        raise PortrayalError(f"no engine {engine!r}. Expected local, ray, or ray://HOST:PORT.")
    return Choice(name, workers, quiet, folder, True, Session(address, workers))


def cores() -> int:
    """Return how many processors this process may use, or all where the system cannot tell."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def run(
    make: Make,
    shards: Iterable[Shard],
    workers: int | None = None,
    store: Store | None = None,
    label: str = "",
    gpus: float = 0.0,
) -> Iterator[tuple[Shard, Any]]:
    """Do every shard and yield it with its result, in any order."""
    with closing(_results(make, shards, workers, store, gpus)) as results:
        total = len(shards) if isinstance(shards, Sized) else None
        yield from track(results, label, not label or current_engine().quiet, total)


def in_order(
    make: Make,
    contents: Sequence[Any],
    what: str,
    workers: int | None = None,
    label: str = "",
    store: Store | None = None,
) -> list[Any]:
    """Return the results of contents in their order; `what` names one of them in errors."""
    results: list[Any] = [None] * len(contents)
    for shard, result in run(make, _one_by_one(contents, what), workers, store, label):
        results[shard.place] = result
    return results


def engine_map(make: Make, contents: Sequence[Any], what: str, keeps: Sequence[type] | None = None) -> Iterable[Any]:
    """Return results in order: by workers where somebody named an engine, else here."""
    engine = current_engine()
    if keeps is not None and engine.folder is not None and not is_inside():
        return _resumed(make, contents, what, engine.folder, keeps)
    return in_order(make, contents, what, label=f"{what}s") if engine.named else map(make(), contents)


def _resumed(make: Make, contents: Sequence[Any], what: str, folder: Path, keeps: Sequence[type]) -> Iterator[Any]:
    """Yield results of contents in order; those that an interrupted job finished are read back."""
    with ExitStack() as stack:

        @cache
        def store() -> Store:  # opened when first needed; only results of the same data, code and versions are in it
            from portrayal.engine.plain import code, codec, fingerprint

            opened = Store(folder, f"{what}: {code()} {fingerprint(make)}", *codec(keeps))
            stack.callback(opened.close)
            return opened

        if current_engine().named:
            yield from in_order(make, contents, what, label=f"{what}s", store=store())
            return
        do = make()
        for shard in _one_by_one(contents, what):
            result = store().read(shard) if (folder / LEDGER).is_file() else NOT_THERE
            if result is NOT_THERE:
                start = time.monotonic()
                result = do(shard.content)
                if time.monotonic() - start >= WORTH_KEEPING:
                    store().write(shard, result)
            yield result


def _one_by_one(contents: Sequence[Any], what: str) -> list[Shard]:
    total = len(contents)
    return [Shard(f"{what} {place + 1:,} of {total:,}", content, place) for place, content in enumerate(contents)]


def _results(
    make: Make, shards: Iterable[Shard], workers: int | None, store: Store | None, gpus: float
) -> Generator[tuple[Shard, Any], None, None]:
    pool: Pool | Here | None = None
    waiting: dict[Future[Done | Failed], Shard] = {}
    with ExitStack() as stack:
        for shard in shards:
            result = NOT_THERE if store is None else store.read(shard)
            if result is not NOT_THERE:
                yield shard, result
                continue
            if pool is None:  # not before something is left to do
                pool = current_engine().pool(make, workers, gpus)
                stack.enter_context(pool)
            waiting[pool.submit(shard)] = shard
            while len(waiting) >= pool.window:
                yield from _finished(waiting, store)
        while waiting:
            yield from _finished(waiting, store)


def _finished(waiting: dict[Future[Done | Failed], Shard], store: Store | None) -> Iterator[tuple[Shard, Any]]:
    """Wait for the next shards; good ones are kept before a bad one raises."""
    ends = [(waiting.pop(future), future.result()) for future in wait(waiting, None, FIRST_COMPLETED).done]
    good = [(shard, outcome.result) for shard, outcome in ends if isinstance(outcome, Done)]
    if store is not None:
        for shard, result in good:
            store.write(shard, result)
    yield from good
    for shard, outcome in ends:
        result_of(shard, outcome)
