"""Ctrl-C, SIGTERM and SIGHUP: the first lets what is in flight come to its end, the second ends at once."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable, Iterator

DRAINING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


@contextlib.contextmanager
def draining(stop: Callable[[int], None]) -> Iterator[None]:
    """Call `stop` with the number of the first signal; every later one does what it does by itself."""
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
        for number in filter(_is_ours, DRAINING):
            loop.add_signal_handler(number, first, number)
            taken.append(number)
    try:
        yield
    finally:
        release()


def _is_ours(number: int) -> bool:
    """Leave alone what somebody else handles or ignores, as `nohup` does SIGHUP; Ctrl-C is always ours."""
    return number == signal.SIGINT or signal.getsignal(number) == signal.SIG_DFL
