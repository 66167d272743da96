"""How fast a system may be asked: at most so many calls a second, evenly spaced."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass
class Pace:
    """Gives out places in time, one every `1 / per_second` seconds; without a limit it never waits."""

    per_second: float | None
    clock: Callable[[], float]
    sleep: Callable[[float], Any]
    _next: float = 0.0

    async def wait(self) -> None:
        """Wait for this call's place."""
        if self.per_second is None:
            return
        now = self.clock()
        place = max(now, self._next)
        self._next = place + 1 / self.per_second
        if place > now:
            await self.sleep(place - now)
