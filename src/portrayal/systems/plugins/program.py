"""A running program: lines in, lines out, in its own process group.

Its own group keeps a terminal's Ctrl-C away from it, so that the answer it is working on still comes. It is not
waited for through its pipes: a grandchild that holds one open must not hold us.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

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
        """End the whole process group at once and let go of the pipes."""
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
