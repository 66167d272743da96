"""A program and a function of a simulated world: they bill, too, in hours of work, and fail in their own ways."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

PROGRAM_FAULTS = ("dies before it works", "dies after its work", "hangs", "a stray line before", "a stray line after",
                  "another's id", "half a line", "two answers", "no id")  # fmt: skip
FUNCTION_FAULTS = ("raises", "hangs", "answers nonsense")  # what raises says itself that it has no answer


@dataclass
class SimulatedProgram:
    """Stands in for `portrayal.systems.plugins.command.Program`: lines in, lines out."""

    world: Any
    system: str
    _lines: asyncio.Queue[bytes] = field(default_factory=asyncio.Queue)
    _stray: bytes = b""
    _ended: bool = False

    async def write(self, line: bytes) -> None:
        """Take a question and answer it, or not."""
        if self._ended:
            raise BrokenPipeError("broken pipe")
        question = json.loads(line)
        stimulus = question["hash"]
        fault = self.world.next_fault(self.system, stimulus, PROGRAM_FAULTS)
        self.world.bills.sent.add((self.system, stimulus))
        await asyncio.sleep(0.05)
        if fault == "dies before it works":
            return self._end()
        self.world.bills.billed[self.system, stimulus] += 1
        if fault == "dies after its work":
            return self._end()
        if fault != "hangs":
            self._say(fault, question["id"], stimulus)

    def _say(self, fault: str | None, name: str, stimulus: str) -> None:
        answer = json.dumps({"id": name, "answer": [stimulus]}).encode() + b"\n"
        other = json.dumps({"id": "0-other", "answer": ["another"]}).encode() + b"\n"
        said = {
            "a stray line before": [b"loading model...\n", answer],
            "another's id": [other],
            "half a line": [answer[:20]],
            "two answers": [answer, answer],
            "no id": [json.dumps({"answer": [stimulus]}).encode() + b"\n"],
        }.get(str(fault), [answer])
        self._lines.put_nowait(said[0])
        self._stray = b"".join(said[1:]) + (b"warning: hot\n" if fault == "a stray line after" else b"")
        if fault == "half a line":
            self._end()

    async def read_line(self) -> bytes:
        """Return the next line."""
        if self._ended and self._lines.empty():
            return b""
        return await self._lines.get()

    async def stray_bytes(self) -> bytes:
        """Return what was written without being asked for."""
        return self._stray

    def has_ended(self) -> bool:
        """Return whether it has ended."""
        return self._ended

    async def close(self, patience: float) -> None:
        """End in order."""
        self._end()

    async def kill(self) -> None:
        """End at once."""
        self._end()

    def _end(self) -> None:
        self._ended = True
        self._lines.put_nowait(b"")


def simulated_function(world: Any, system: str) -> Any:
    """Return a coroutine function that answers with the stimulus's name."""

    async def answer(question: Any) -> list[str]:
        stimulus = question.hash
        fault = world.next_fault(system, stimulus, FUNCTION_FAULTS)
        world.bills.sent.add((system, stimulus))
        await asyncio.sleep(0.05)
        if fault == "raises":
            raise ValueError("no such picture")
        world.bills.billed[system, stimulus] += 1
        if fault == "hangs":
            await asyncio.sleep(1e6)
        return {"answers nonsense": float("nan")}.get(str(fault), [stimulus])

    return answer
