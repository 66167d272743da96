"""The connection under an HTTP call: why there is none, and whether a closed one had taken any of our bytes.

A server may close an idle connection just as a question is written to it. Linux counts the bytes that the other
side acknowledged; where a connection ends in order before one of ours was, nobody has read the question and it can be
asked again. Where that cannot be known (a reset, another system), nothing is claimed.
"""

from __future__ import annotations

import asyncio
import errno
import os
import select
import socket
import ssl
import struct
from collections.abc import Iterator
from typing import Any

# struct tcp_info of Linux: tcpi_bytes_acked, a 64-bit number, after 8 bytes, 24 numbers of 32 bits and two of 64.
_ACKNOWLEDGED = slice(120, 128)
_REFUSED = f"[Errno {errno.ECONNREFUSED}]"
_NEXT_ADDRESS_AFTER = 0.25  # seconds; a host may have an address that nobody answers at


class NeverRead(ConnectionError):
    """The connection was closed before the other side took any byte of the request."""


class Connection(asyncio.Protocol):
    """A connection that knows how many bytes were acknowledged when the present request began."""

    def __init__(self) -> None:
        self._transport: Any = None
        self._watch: socket.socket | None = None
        self._came = bytearray()
        self._ended = False
        self._error: Exception | None = None
        self._waiting: asyncio.Future[None] | None = None
        self._before: int | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin, with a second handle to look at after the first is closed; encryption begins a second time."""
        self._transport = transport
        if self._watch is None:
            self._watch = _second_handle(transport)

    def data_received(self, data: bytes) -> None:
        """Hold what came until somebody reads; whoever reads does so before more is taken from the socket."""
        self._came += data
        self._wake()

    def eof_received(self) -> None:
        """Note the end; the transport then closes itself."""
        self._ended = True
        self._wake()

    def connection_lost(self, error: Exception | None) -> None:
        """Note the end, and what it was where it was none in order."""
        self._ended, self._error = True, error
        self._wake()

    def write(self, data: bytes) -> None:
        """Write a request, after a look at what was acknowledged before."""
        self._before = _acknowledged(self._watch)
        self._transport.write(data)

    async def read(self, seconds: float | None) -> bytes:
        """Return what came, nothing at an end in order."""
        if not self._came and not self._ended:
            self._waiting = asyncio.get_running_loop().create_future()
            async with asyncio.timeout(seconds):
                await self._waiting
        if self._came:
            came, self._came, self._before = bytes(self._came), bytearray(), None
            return came
        # An end before a reset is a broken pipe on Linux. A bare reset proves nothing.
        if isinstance(self._error, BrokenPipeError | None) and self._nothing_was_taken():
            raise NeverRead("the connection was closed before the question was read")
        if self._error is not None:
            raise ConnectionError(f"the connection broke: {type(self._error).__name__}") from self._error
        return b""

    def is_quiet(self) -> bool:
        """Whether the other side has neither closed nor said anything, also nothing that the loop has not seen yet."""
        if self._ended or self._came or self._watch is None:
            return False
        looking = select.poll()
        looking.register(self._watch, select.POLLIN)
        return not looking.poll(0)

    def close(self) -> None:
        """Close the connection and the second handle on it."""
        if self._transport is not None:
            self._transport.abort()
        if self._watch is not None:
            self._watch.close()

    def _wake(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    def _nothing_was_taken(self) -> bool:
        # A connection that works has one acknowledged byte at least, its own opening; 0 means that nobody counts.
        return bool(self._before) and self._before == _acknowledged(self._watch)


async def connect(host: str, port: int, security: ssl.SSLContext | None, seconds: float | None) -> Connection:
    """Open a connection."""
    connection = Connection()
    try:
        return await _opened(connection, host, port, security, seconds)
    except BaseException:  # also where time ran out just as it was made: our second handle would stay open
        connection.close()
        raise


async def _opened(
    connection: Connection, host: str, port: int, security: ssl.SSLContext | None, seconds: float | None
) -> Connection:
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(seconds):
        transport, _ = await loop.create_connection(
            lambda: connection, host, port, happy_eyeballs_delay=_NEXT_ADDRESS_AFTER
        )
    if security is not None:
        async with asyncio.timeout(seconds):
            encrypted = await loop.start_tls(transport, connection, security, server_hostname=host)
        connection.connection_made(encrypted)  # type: ignore[arg-type]
    return connection


def why_unreachable(error: Exception, host: str, seconds: float) -> str:
    """Say in words why there is no connection: the name, the certificate, a refusal, or silence."""
    for cause in causes(error):
        if isinstance(cause, socket.gaierror):
            return f"the name {host!r} is not known (DNS: {cause.strerror})"
        if isinstance(cause, ssl.SSLError):
            return f"no secure connection to {host} (TLS: {getattr(cause, 'verify_message', '') or cause.reason})"
        if isinstance(cause, ConnectionRefusedError) or _all_refused(cause):
            return f"{host} refuses connections"
        if isinstance(cause, NeverRead):
            return f"{host} keeps closing connections before it reads a question"
    if "Timeout" in type(error).__name__:
        return f"{host} does not answer: no connection within {seconds:g} s"
    return f"cannot connect to {host}: {error or type(error).__name__}"


def _all_refused(error: BaseException) -> bool:
    """Whether all addresses of a host refused, which Python tells in words only."""
    words = str(error)
    return isinstance(error, OSError) and words.count(_REFUSED) == words.count("[Errno ") > 0


def causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and what it came from, groups of errors opened."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop(0)
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        waiting += [one.__cause__, one.__context__, *getattr(one, "exceptions", ())]


def _second_handle(transport: Any) -> socket.socket | None:
    try:
        return socket.socket(fileno=os.dup(transport.get_extra_info("socket").fileno()))
    except (AttributeError, OSError):
        return None


def _acknowledged(watched: socket.socket | None) -> int | None:
    """Return how many of our bytes the other side took in all; None where the system does not tell."""
    try:
        told = watched.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)[_ACKNOWLEDGED]  # type: ignore[union-attr]
        return struct.unpack("=Q", told)[0]
    except (AttributeError, OSError, struct.error):
        return None
