"""Work that tests hand to engines; in a module of its own, because workers import it by name."""

from __future__ import annotations

import os
import resource
import signal
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from portrayal.errors import PortrayalError


def squares() -> Callable[[int], tuple[int, int]]:
    """Give the square and who made it."""
    return lambda number: (number * number, os.getpid())


def make_noting(folder: Path, seconds: float = 0.02) -> Callable[[int], int]:
    """Leave a file for every call of make, and one for every shard that is done."""
    (folder / f"made-{os.getpid()}-{time.monotonic_ns()}").touch()
    return partial(_note, folder, seconds)


def _note(folder: Path, seconds: float, number: int) -> int:
    time.sleep(seconds)
    (folder / f"shard-{number}-{os.getpid()}-{time.monotonic_ns()}").touch()
    return number + 1


def failing() -> Callable[[Any], Any]:
    """Fail in as many ways as there are words."""
    return _fail


def _fail(how: Any) -> Any:
    if how == "mend":
        raise PortrayalError("expected a picture, got a poem. Give a picture.")
    if how == "fault":
        return 1 / 0
    if how == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if how == "leave":
        os._exit(3)
    if how == "unpicklable":
        return lambda: None
    return how


def hungry(most: int) -> Callable[[int], int]:
    """Allow this process so many bytes more than it has, then allocate what a shard says."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + most
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    return lambda size: len(bytearray(size))


def unbuildable() -> Callable[[Any], Any]:
    """Stand for a model that is not there."""
    raise PortrayalError("no model at weights/. Give a folder.")


def dying_before_it_is_ready() -> Callable[[Any], Any]:
    """Stand for a model that is too large."""
    os._exit(9)


def die_once(folder: Path) -> Callable[[int], int]:
    """Kill the first worker that gets number 3."""
    return partial(_die_once, folder)


def _die_once(folder: Path, number: int) -> int:
    mark = folder / "died"
    if number == 3 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def nested() -> Callable[[int], list[int]]:
    """Run a job inside a job."""
    from portrayal.engine import in_order

    return lambda number: [pair[1] == os.getpid() for pair in in_order(squares, [number, number + 1], "number")]


def threads() -> Callable[[int], str | None]:
    """Say how many threads polars may use."""
    return lambda _: os.environ.get("POLARS_MAX_THREADS")
