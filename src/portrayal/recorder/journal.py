"""Group commit: writes of many workers go into one transaction.

A commit waits for the disk. While it does, answers of other calls arrive; all that is ready by then is written by the
next commit together. Where a group cannot be written its parts are tried one by one, so that only the one at fault fails.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from portrayal.recorder.ledger import Ledger


class _Entry(NamedTuple):
    write: Callable[[], None]
    done: asyncio.Future[None]
    needless_when_cancelled: bool


@dataclass
class Journal:
    """Writes into a ledger for workers of one event loop."""

    ledger: Ledger
    _waiting: list[_Entry] = field(default_factory=list)

    async def write(self, write: Callable[[], None], needless_when_cancelled: bool = False) -> None:
        """Run `write` in a transaction, perhaps with others, and return when it is on disk."""
        loop = asyncio.get_running_loop()
        entry = _Entry(write, loop.create_future(), needless_when_cancelled)
        if not self._waiting:
            loop.call_soon(self.flush)
        self._waiting.append(entry)
        await entry.done

    def flush(self) -> None:
        """Write all that waits."""
        entries = [one for one in self._waiting if not (one.needless_when_cancelled and one.done.cancelled())]
        self._waiting = []
        error = self._try(entries)
        if error is None or len(entries) == 1:
            for entry in entries:
                _settle(entry, error)
            return
        for entry in entries:
            _settle(entry, self._try([entry]))

    def _try(self, entries: list[_Entry]) -> Exception | None:
        try:
            with self.ledger.together():
                for entry in entries:
                    entry.write()
        except Exception as error:
            return error
        return None


def _settle(entry: _Entry, error: Exception | None) -> None:
    if entry.done.done():
        return
    if error is None:
        entry.done.set_result(None)
    else:
        entry.done.set_exception(error)
