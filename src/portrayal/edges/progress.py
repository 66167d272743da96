"""Saying on standard error how far long work is: a bar on a terminal, a line now and then where there is none."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sized
from typing import Any, TypeVar

from portrayal.edges.console import shown_line

Item = TypeVar("Item")
EVERY = 10.0  # seconds; what is done sooner needs no word


def track(
    items: Iterable[Item], description: str, quiet: bool = False, clock: Callable[[], float] = time.monotonic
) -> Iterator[Item]:
    """Yield `items`, and say how many are done."""
    if quiet:
        yield from items
    elif sys.stderr.isatty():
        yield from _bar(items, description)
    else:
        yield from _lines(items, description, clock)


def _bar(items: Iterable[Item], description: str) -> Any:
    from rich.console import Console
    from rich.progress import track as rich_track

    return rich_track(items, description, total=_total(items), console=Console(file=sys.stderr))


def _lines(items: Iterable[Item], description: str, clock: Callable[[], float]) -> Iterator[Item]:
    last, total = clock(), _total(items)
    whole = "" if total is None else f" of {total}"
    for done, item in enumerate(items):
        if clock() - last >= EVERY:
            last = clock()
            sys.stderr.write(f"{shown_line(f'{description}: {done}{whole} done')}\n")
        yield item


def _total(items: Iterable[Any]) -> int | None:
    return len(items) if isinstance(items, Sized) else None
