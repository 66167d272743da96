"""A program that speaks JSON lines as a system: `use = "command:./my_model --fast"`.

The program is started once. For each question it reads one line, a JSON object with `stimulus`, `kind`,
`content`, `hash`, `repeat` and the study's `parameters`, and writes one line: a plain answer or an envelope, see
`portrayal.systems.plain`. What it writes to standard error is left alone. A program that ends, or stays silent
past the time limit, after it was asked leaves an unknown: nobody can tell whether it did the work.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import shlex
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from portrayal.errors import PortrayalError
from portrayal.systems.base import Answer, BaseSystem, CallFailed, OutcomeUnknown, Question
from portrayal.systems.plain import answer_in, pack_reply
from portrayal.systems.settings import SystemSettings

LONGEST_LINE = 64 * 1024 * 1024


@dataclass
class Command(BaseSystem):
    """Keeps one process and asks it one question at a time."""

    folder: Path = field(default_factory=Path)
    _process: Process | None = None
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def ask(self, questions: Sequence[Question]) -> list[Answer]:
        """Write one line and read one line per question."""
        async with self._turn:
            return [self._answer(await self._exchange(question)) for question in questions]

    async def close(self) -> None:
        """Close the program's input and give it a moment to end."""
        process, self._process = self._process, None
        if process is None or process.returncode is not None:
            return
        if process.stdin:
            process.stdin.close()
        try:
            await asyncio.wait_for(process.wait(), timeout=5)
        except TimeoutError:
            process.kill()
            await process.wait()

    def _answer(self, line: bytes) -> Answer:
        """Keep the line as it was written; of a generator only the image, which the gates look at."""
        reply = _decode(line)
        answer = pack_reply(reply, self.limits.price, line.rstrip(b"\r\n"))
        if self.kind == "generator":
            return replace(answer, raw=json.dumps(answer_in(reply)).encode())
        return answer

    async def _exchange(self, question: Question) -> bytes:
        process = await self._running()
        try:
            return await self._converse(process, _line(question, self.parameters))
        except (
            asyncio.CancelledError
        ):  # the recorder's time limit: the late answer must not meet the next question
            await self._abandon()
            raise

    async def _converse(self, process: Process, line: bytes) -> bytes:
        if process.stdin is None or process.stdout is None:
            raise PortrayalError(f"{self.identity!r} was started without pipes.")
        try:
            process.stdin.write(line)
            await process.stdin.drain()
            reply = await process.stdout.readline()
        except (BrokenPipeError, ConnectionResetError, ValueError) as error:
            await self._abandon()
            raise OutcomeUnknown(f"the program broke off: {error}") from None
        if not reply.endswith(b"\n"):
            await self._abandon()
            raise OutcomeUnknown("the program ended before it answered")
        return reply

    async def _running(self) -> Process:
        if self._process is None or self._process.returncode is not None:
            self._process = await self._start()
        return self._process

    async def _start(self) -> Process:
        words = shlex.split(self.identity.removeprefix("command:"))
        try:
            return await asyncio.create_subprocess_exec(
                *words, stdin=PIPE, stdout=PIPE, cwd=self.folder or None, limit=LONGEST_LINE
            )
        except (OSError, ValueError) as error:
            raise PortrayalError(f"cannot start {self.identity!r}: {error}.") from None

    async def _abandon(self) -> None:
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()


def open_system(settings: SystemSettings, folder: Path) -> Command:
    """Open the program a study names; it is started when first asked."""
    try:
        words = shlex.split(settings.use.removeprefix("command:"))
    except ValueError as error:
        raise PortrayalError(f"{settings.use!r} cannot be split into words: {error}.") from None
    if not words:
        raise PortrayalError("'command:' names no program. Expected command:program arguments.")
    system = Command(**settings.fields(settings.use), folder=folder)
    # One process answers one question at a time; waiting for one's turn must not count against the time limit.
    system.limits = replace(system.limits, concurrency=1)
    return system


def _line(question: Question, parameters: Mapping[str, Any]) -> bytes:
    shown = {name: getattr(question, name) for name in ("stimulus", "kind", "content", "hash", "repeat")}
    return json.dumps({**shown, "parameters": parameters}, ensure_ascii=False, default=str).encode() + b"\n"


def _decode(reply: bytes) -> Any:
    try:
        return json.loads(reply)
    except ValueError:
        raise CallFailed(f"the program wrote a line that is not JSON: {reply[:60]!r}", reply) from None
