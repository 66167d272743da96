"""An event loop whose time passes only when nobody has anything to do: hours of waiting take milliseconds."""

from __future__ import annotations

import asyncio
import selectors
from typing import Any


class StandsStill(Exception):
    """Nothing is ready and nothing is scheduled: whoever waits would wait for ever."""


class _Selector(selectors.SelectSelector):
    """Instead of waiting for a timer it moves the clock on to it."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> Any:
        ready = super().select(0)
        if ready or timeout == 0:
            return ready
        if timeout is None:
            raise StandsStill
        self.now += max(timeout, 0.0)
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """A loop with a clock of its own; `time` is the monotonic clock of the world."""

    def __init__(self) -> None:
        self.virtual = _Selector()
        super().__init__(self.virtual)

    def time(self) -> float:
        return self.virtual.now
