"""Running a job: shards that are finished are read, the others handed to the workers, each result kept as it comes."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable, Iterator, Sequence, Sized
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import ExitStack, closing
from typing import Any

from portrayal.edges.progress import track
from portrayal.engine.choice import chosen
from portrayal.engine.crew import Crew
from portrayal.engine.kept import NOT_THERE, Finished, Kept
from portrayal.engine.local import Here
from portrayal.engine.outcome import Done, Failed, result_of
from portrayal.engine.shards import Shard
from portrayal.engine.worker import Make, is_inside

WORTH_KEEPING = 0.1  # seconds of a shard in this process: one that takes less is as soon done again as kept


def run(
    make: Make,
    shards: Iterable[Shard],
    workers: int | None = None,
    kept: Kept | None = None,
    label: str = "",
    gpus: float = 0.0,
) -> Iterator[tuple[Shard, Any]]:
    """Do every shard and yield it with its result, in any order."""
    results = _results(make, shards, workers, kept, gpus)
    with closing(results):
        if not label:
            yield from results
            return
        counted = _Counted(results, len(shards)) if isinstance(shards, Sized) else results
        yield from track(counted, label, chosen().quiet)


def in_order(
    make: Make,
    contents: Sequence[Any],
    what: str,
    workers: int | None = None,
    label: str = "",
    kept: Kept | None = None,
) -> list[Any]:
    """Return the results of contents in the contents' order; `what` names one of them in errors."""
    found: list[Any] = [None] * len(contents)
    for shard, result in run(make, _one_by_one(contents, what), workers, kept, label):
        found[shard.place] = result
    return found


def shared_out(make: Make, contents: Sequence[Any], what: str, keeps: Sequence[type] | None = None) -> Iterable[Any]:
    """Return the results of contents in order: by the workers of an engine that somebody named, else here, one by one.

    For work that is quick enough in this process, and worth sending only where somebody has machines for it.
    """
    choice = chosen()
    if keeps is not None and choice.folder is not None and not is_inside():
        return _resumed(make, contents, what, Finished(choice.folder, make, what, keeps))
    return in_order(make, contents, what, label=f"{what}s") if choice.named else map(make(), contents)


def _resumed(make: Make, contents: Sequence[Any], what: str, finished: Finished) -> Iterator[Any]:
    """Yield results of contents in order, those that an interrupted job has finished read back."""
    with finished:
        if chosen().named:
            yield from in_order(make, contents, what, label=f"{what}s", kept=finished.kept())
            return
        do = make()
        for shard in _one_by_one(contents, what):
            found = finished.kept().read(shard) if finished.begun() else NOT_THERE
            if found is NOT_THERE:
                start = time.monotonic()
                found = do(shard.content)
                if time.monotonic() - start >= WORTH_KEEPING:
                    finished.kept().write(shard, found)
            yield found


def _one_by_one(contents: Sequence[Any], what: str) -> list[Shard]:
    total = len(contents)
    return [Shard(f"{what} {place + 1:,} of {total:,}", content, place) for place, content in enumerate(contents)]


def _results(
    make: Make, shards: Iterable[Shard], workers: int | None, kept: Kept | None, gpus: float
) -> Generator[tuple[Shard, Any], None, None]:
    crew: Crew | Here | None = None
    waiting: dict[Future[Done | Failed], Shard] = {}
    with ExitStack() as held:
        for shard in shards:
            found = NOT_THERE if kept is None else kept.read(shard)
            if found is not NOT_THERE:
                yield shard, found
                continue
            if crew is None:  # not before something is left to do
                crew = chosen().crew(make, workers, gpus)
                held.enter_context(crew)
            waiting[crew.submit(shard)] = shard
            while len(waiting) >= crew.window:
                yield from _finished(waiting, kept)
        while waiting:
            yield from _finished(waiting, kept)


def _finished(waiting: dict[Future[Done | Failed], Shard], kept: Kept | None) -> Iterator[tuple[Shard, Any]]:
    """Wait for the next shards; good ones are kept before a bad one ends the job."""
    ends = [(waiting.pop(future), future.result()) for future in wait(waiting, None, FIRST_COMPLETED).done]
    good = [(shard, outcome.result) for shard, outcome in ends if isinstance(outcome, Done)]
    if kept is not None:
        for shard, result in good:
            kept.write(shard, result)
    yield from good
    for shard, outcome in ends:
        result_of(shard, outcome)


class _Counted:
    """An iterator that knows how many there will be."""

    def __init__(self, items: Iterator[Any], total: int) -> None:
        self._items, self._total = items, total

    def __iter__(self) -> Iterator[Any]:
        return self._items

    def __len__(self) -> int:
        return self._total
