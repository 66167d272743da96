"""Timing that ours and the peers share. Peers run it in their own environments, so it needs the standard library alone."""

from __future__ import annotations

import resource
import statistics
import time
from collections.abc import Callable
from typing import Any, NamedTuple

LEAST = 0.02  # seconds a timing lasts at least: quicker work is repeated within it


class Times(NamedTuple):
    """Return each run's clock and processor time, children included, and the first answer."""

    seconds: list[float]
    processor: list[float]
    answer: Any

    @property
    def median(self) -> float:
        """The median by the clock."""
        return statistics.median(self.seconds)

    @property
    def median_processor(self) -> float:
        """The median of processor time."""
        return statistics.median(self.processor)


def nothing() -> None:
    """Do nothing before a run."""


def timed(call: Callable[[], Any], runs: int, fresh: Callable[[], object] = nothing) -> Times:
    """Call once to warm up and keep the answer, then time so many runs; `fresh` comes before each and is not timed."""
    fresh()
    start = time.perf_counter()
    answer = call()
    first = time.perf_counter() - start
    repeats = 1 if fresh is not nothing else max(1, round(LEAST / max(first, 1e-7)))
    taken = [_once(call, repeats, fresh) for _ in range(runs)]
    return Times([clock for clock, _ in taken], [processor for _, processor in taken], answer)


def _once(call: Callable[[], Any], repeats: int, fresh: Callable[[], object]) -> tuple[float, float]:
    fresh()
    clock, processor = time.perf_counter(), processor_time()
    for _ in range(repeats):
        call()
    return (time.perf_counter() - clock) / repeats, (processor_time() - processor) / repeats


def processor_time() -> float:
    """Return the processor time of this process and of its children that ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)
