"""How fast a system is asked, and how long one waits before asking again."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from portrayal.systems.core.base import Throttled

LONGEST_PAUSE = 60.0  # seconds between two tries where the service names none
LONGEST_WAIT = 300.0  # seconds that a service may make us wait, whatever it says
TOLD_FROM = 10.0  # seconds; a shorter pause is nobody's concern


@dataclass
class Pace:
    """One call every `1 / per_second` seconds, by a clock that nobody can set back; without a limit it never waits."""

    per_second: float | None
    monotonic: Callable[[], float]
    sleep: Callable[[float], Awaitable[None]]
    _next: float = float("-inf")

    async def wait(self) -> None:
        """Wait for this call's place."""
        if self.per_second is None:
            return
        now = self.monotonic()
        place = max(now, self._next)
        self._next = place + 1 / self.per_second
        if place > now:
            await self.sleep(place - now)


def pause(attempt: int, errors: Sequence[Throttled], key: str) -> float:
    """Return how long to wait: what the service asked for, up to a cap, or a growing pause; jitter keeps workers apart."""
    asked = asked_for(errors)
    jitter = random.Random(f"{key}{attempt}").uniform(0.5, 1.0)
    return min(asked, LONGEST_WAIT) + jitter if asked else min(LONGEST_PAUSE, 2.0**attempt) * jitter


def asked_for(errors: Sequence[Throttled]) -> float:
    """Return the longest wait that the service asked for, in seconds; 0 where it named none."""
    return max((error.retry_after or 0.0 for error in errors), default=0.0)


def waiting_line(system: str, errors: Sequence[Throttled], seconds: float) -> str:
    """Say that a system is waited for, why, and how long."""
    asked = asked_for(errors)
    more = f" (it asks for {asked:,.0f} s; {LONGEST_WAIT:.0f} s is the longest wait)" if asked > LONGEST_WAIT else ""
    return f"{system}: waiting {seconds:.0f} s before asking again{more}: {errors[0]}"
