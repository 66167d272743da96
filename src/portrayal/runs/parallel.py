"""One function over many seeds, in as many processes as there are cores: the same answers in the same order as in one."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from typing import TypeVar

Found = TypeVar("Found")
WORTH_IT = 20  # below this, starting processes costs more than it saves
# The processes share the work; threads of their own would only get in each other's way.
ONE_THREAD = {"POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def over_seeds(
    function: Callable[[int], Found],
    seeds: Sequence[int],
    prepare: Callable[[], object] | None = None,
    processes: int | None = None,
) -> list[Found]:
    """Return the function of each seed, in order.

    Parameters
    ----------
    function
        Of a module (not a lambda): it is sent to the other processes by name. What it returns must hang on the
        seed alone.
    seeds
        One for each run.
    prepare
        Called once in each process, to load what all runs read; of a module as well.
    processes
        All the cores this process may use by default.
    """
    processes = processes or _cores()
    if processes < 2 or len(seeds) < WORTH_IT:
        return [function(seed) for seed in seeds]
    pool = ProcessPoolExecutor(
        processes, mp_context=get_context("spawn"), initializer=_settle, initargs=(prepare,)
    )
    with _environment(ONE_THREAD), pool:
        return list(pool.map(function, seeds, chunksize=max(1, len(seeds) // (20 * processes))))


def _cores() -> int:
    """How many cores this process may use; not every system can tell, and then all it has."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def _settle(prepare: Callable[[], object] | None) -> None:
    """Load, and take what was loaded out of the garbage collector's rounds, which otherwise take a good part of the time."""
    if prepare is not None:
        prepare()
    gc.collect()
    gc.freeze()


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
