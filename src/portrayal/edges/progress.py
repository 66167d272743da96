"""Progress of long work on standard error: a bar, or a line now and then."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sized
from typing import TypeVar

from portrayal.edges.console import shown_line

Item = TypeVar("Item")
EVERY = 10.0  # seconds; what is done sooner needs no word


def track(
    items: Iterable[Item],
    description: str,
    quiet: bool = False,
    total: int | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[Item]:
    """Yield `items`, and say how many are done."""
    if total is None and isinstance(items, Sized):
        total = len(items)
    if quiet:
        yield from items
    elif sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import track as rich_track

        yield from rich_track(items, description, total=total, console=Console(file=sys.stderr))
    else:
        last, whole = clock(), "" if total is None else f" of {total}"
        for done, item in enumerate(items):
            if clock() - last >= EVERY:
                last = clock()
                sys.stderr.write(f"{shown_line(f'{description}: {done}{whole} done')}\n")
            yield item
