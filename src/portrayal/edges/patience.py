"""Saying on standard error how far long work is that has no bar of its own, also where there is no terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from portrayal.edges.console import shown_line

Item = TypeVar("Item")
EVERY = 10.0  # seconds; what is done sooner needs no word


def told(
    items: Iterable[Item], what: str, total: int, clock: Callable[[], float] = time.monotonic
) -> Iterator[Item]:
    """Yield the items, and say every ten seconds how many are done.

    Parameters
    ----------
    items
        What is worked on, one after the other.
    what
        What is being made, for the line.
    total
        How many items there are.
    clock
        Seconds.
    """
    last = clock()
    for done, item in enumerate(items):
        if clock() - last >= EVERY:
            last = clock()
            sys.stderr.write(f"{shown_line(f'{what}: {done} of {total} done')}\n")
        yield item
