"""A program that speaks JSON lines as a system: `use = "command:./my_model --fast"`.

A line that is no answer to the question asked ends the program, and the question is unknown: nobody can tell whether the work
was done. An `id` is never used twice, so that no answer can come to lie on another question.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import shlex
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from portrayal.errors import PortrayalError
from portrayal.systems.core.base import (
    Answer,
    BaseSystem,
    NoAnswer,
    OutcomeUnknown,
    Question,
    Unreachable,
    Unreadable,
    broken_answer,
    largest,
)
from portrayal.systems.core.named_code import check_program
from portrayal.systems.core.plain import answer_in, decoded, is_envelope, pack_reply, to_json
from portrayal.systems.core.settings import SystemSettings

LOOK_EVERY = 0.02  # seconds between two looks at whether the program has ended


class LineTooLong(Exception):
    """The program wrote a line beyond the limit, which began with `begun`."""

    def __init__(self, begun: bytes) -> None:
        super().__init__("the line is too long")
        self.begun = begun


@dataclass
class Program:
    """One process with pipes to its standard input and output; standard error is left alone."""

    process: subprocess.Popen[bytes]
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    output: asyncio.ReadTransport

    async def write(self, line: bytes) -> None:
        """Write one line; raises an OSError when nobody reads any more."""
        self.writer.write(line)
        await self.writer.drain()

    async def read_line(self) -> bytes:
        """Return the next line; without a newline at its end when the program has ended."""
        try:
            return await self.reader.readuntil(b"\n")
        except asyncio.IncompleteReadError as end:
            return end.partial
        except asyncio.LimitOverrunError as over:
            raise LineTooLong(await self.reader.read(over.consumed)) from None

    async def stray_bytes(self) -> bytes:
        """Return how what was written without being asked for begins; nothing where all is well."""
        await asyncio.sleep(0)  # lets what lies in the pipe arrive
        return bytes(getattr(self.reader, "_buffer", b"")[:200])

    def has_ended(self) -> bool:
        """Return True once the process itself has ended."""
        return self.process.poll() is not None

    async def close(self, patience: float) -> None:
        """Close its input, give it some seconds to end, then end it."""
        self.writer.close()
        if await self._ends_within(patience):
            self.output.close()
        else:
            await self.kill()

    async def kill(self) -> None:
        """End the whole process group at once and close the pipes."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        if not self.writer.transport.is_closing():  # a pipe that broke by itself must not be told twice that it is lost
            self.writer.transport.abort()
        self.output.close()
        await self._ends_within(1.0)

    async def _ends_within(self, seconds: float) -> bool:
        give_up = asyncio.get_running_loop().time() + seconds
        while not self.has_ended() and asyncio.get_running_loop().time() < give_up:
            await asyncio.sleep(LOOK_EVERY)
        return self.has_ended()


async def start_program(words: Sequence[str], folder: Path, longest_line: int) -> Program:
    """Start a program in `folder`; an OSError or ValueError says why it cannot be started."""
    process = subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder or None, process_group=0
    )
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=longest_line)
    output, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), process.stdout)
    pipe, protocol = await loop.connect_write_pipe(
        lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), process.stdin
    )
    return Program(process, reader, asyncio.StreamWriter(pipe, protocol, None, loop), output)


LONGEST_KEPT = 10_000  # bytes of a line that is no answer
PATIENCE = 5.0  # seconds a program has to end after its input is closed


@dataclass
class Command(BaseSystem):
    """Keeps one process and asks it one question at a time."""

    folder: Path = field(default_factory=Path)
    _program: Program | None = None
    _count: int = 0
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    def check_ready(self) -> None:
        """Look for the program."""
        check_program(self.identity, self.folder)

    async def ask(self, questions: Sequence[Question]) -> list[Answer]:
        """Write one line and read one line per question."""
        async with self._turn:
            return [await self._ask_one(question) for question in questions]

    async def close(self) -> None:
        """Close the program's input and give it a moment to end."""
        program, self._program = self._program, None
        if program is not None:
            await program.close(PATIENCE)

    async def _ask_one(self, question: Question) -> Answer:
        """Exchange two lines; any failure between them ends the program."""
        question.refuse_other_file()
        program = self._program
        if program is None or program.has_ended():
            program = self._program = await self._start()
        if stray := await program.stray_bytes():
            await self._end()
            raise Unreachable(
                f"the program wrote what nobody asked for: {stray[:60]!r}. It was ended before the next question"
            )
        self._count += 1
        name = f"{self._count}-{re.sub('[^0-9A-Za-z]', '', question.hash)[:12]}"
        try:
            line = await self._converse(program, _line(name, question, self.parameters))
            reply = reply_to(name, line)
        except LineTooLong as error:
            await self._end()
            return self._unreadable(name, error.begun, f"it is larger than {largest(self.kind):,} bytes")
        except Unreadable as error:
            await self._end()
            return self._unreadable(name, line, str(error))
        except BaseException:  # the recorder's time limit too, which cancels
            await self._end()
            raise
        return self._answer(reply, line)

    async def _converse(self, program: Program, line: bytes) -> bytes:
        try:
            await program.write(line)
            reply = await program.read_line()
        except OSError as error:
            raise OutcomeUnknown(f"the program broke off: {error}") from None
        if not reply.endswith(b"\n"):
            raise OutcomeUnknown("the program ended before it answered", reply)
        return reply

    def _unreadable(self, name: str, line: bytes, reason: str) -> Answer:
        """Keep an unreadable line if it begins as an answer to this question."""
        if line.lstrip()[:1] == b"{" and f'"{name}"'.encode() in line[:1000]:
            return broken_answer(line.rstrip(b"\r\n"), reason, self.limits.price)
        raise no_answer(name, line, "it is no JSON object")

    def _answer(self, reply: Mapping[str, Any], line: bytes) -> Answer:
        """Keep the line as written; of a generator only the image."""
        answer = pack_reply(reply, self.limits.price, line.rstrip(b"\r\n"))
        if self.kind == "generator":
            return replace(answer, raw=json.dumps(answer_in(reply)).encode())
        return answer

    async def _end(self) -> None:
        program, self._program = self._program, None
        if program is not None:
            await program.kill()

    async def _start(self) -> Program:
        words = shlex.split(self.identity.removeprefix("command:"))
        try:
            return await start_program(words, self.folder, largest(self.kind))
        except (OSError, ValueError) as error:
            raise PortrayalError(f"cannot start {self.identity!r}: {error}.") from None


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


def reply_to(name: str, line: bytes) -> Mapping[str, Any]:
    """Return the reply to the question `name` in a program's line."""
    reply = decoded(line)
    if not isinstance(reply, Mapping):
        raise no_answer(name, line, "it is no JSON object")
    if reply.get("id") != name:
        raise no_answer(name, line, f"its id is {str(reply['id'])[:40]!r}" if "id" in reply else "it has no id")
    if not is_envelope(reply):
        raise no_answer(name, line, "beside id it may have answer, version, cost, refused and error")
    return reply


def no_answer(name: str, line: bytes, fault: str) -> NoAnswer:
    """Return the error of a line that is no answer, with what was expected."""
    return NoAnswer(
        f"the program wrote a line that is no answer to question {name!r}: {line[:60]!r} ({fault}). It was ended. Expected"
        f' {{"id": "{name}", "answer": ...}} and nothing else on standard output; see docs/systems.md',
        line[:LONGEST_KEPT],
    )


def _line(name: str, question: Question, parameters: Mapping[str, Any]) -> bytes:
    parts = {part: getattr(question, part) for part in ("stimulus", "kind", "content", "hash", "repeat")}
    return to_json({"id": name, **parts, "parameters": parameters}) + b"\n"
