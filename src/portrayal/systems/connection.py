"""The connection under an HTTP call: why there is none, and whether a closed one had taken any of our bytes.

A server may close an idle connection just as a question is written to it. Linux counts the bytes that the other
side acknowledged; where a connection ends in order before one of ours was, nobody has read the question and it can be
asked again. Where that cannot be known (a reset, another system), nothing is claimed.
"""

from __future__ import annotations

import os
import socket
import ssl
import struct
from collections.abc import Iterator
from typing import Any

import httpcore2

# struct tcp_info of Linux: tcpi_bytes_acked, a 64-bit number, after 8 bytes, 24 numbers of 32 bits and two of 64.
_ACKNOWLEDGED = slice(120, 128)


class NeverRead(httpcore2.ConnectError):
    """The connection was closed before the other side took any byte of the request."""


class WatchedStream(httpcore2.AsyncNetworkStream):
    """A connection that knows how many bytes were acknowledged when the present request began."""

    def __init__(self, stream: Any, watch: socket.socket | None) -> None:
        self._stream = stream
        self._watch = watch
        self._before: int | None = None

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Read; an end before anything was taken is told apart."""
        try:
            data = await self._stream.read(max_bytes, timeout)
        except httpcore2.ReadError as error:
            if self._was_closed_before(error):
                raise NeverRead("the connection was closed before the question was read") from None
            raise
        if not data and self._nothing_was_taken():
            raise NeverRead("the connection was closed before the question was read")
        if data:
            self._before = None
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Write, after a look at what was acknowledged before."""
        if self._before is None:
            self._before = _acknowledged(self._watch)
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        """Close the connection and the second handle on it."""
        try:
            await self._stream.aclose()
        finally:
            self._let_go()

    async def start_tls(self, ssl_context: Any, server_hostname: Any = None, timeout: Any = None) -> Any:
        """Encrypt; the connection below is the same."""
        try:
            stream = await self._stream.start_tls(ssl_context, server_hostname, timeout)
        except BaseException:  # the stream below is closed; with our handle open the connection would not be
            self._let_go()
            raise
        return WatchedStream(stream, self._watch)

    def get_extra_info(self, info: str) -> Any:
        """Pass on what is known of the connection."""
        return self._stream.get_extra_info(info)

    def _let_go(self) -> None:
        if self._watch is not None:
            self._watch.close()

    def _was_closed_before(self, error: Exception) -> bool:
        """An end came before the reset: Linux then says broken pipe. A bare reset proves nothing."""
        ends = [cause for cause in causes(error) if isinstance(cause, OSError)]
        return bool(ends) and isinstance(ends[-1], BrokenPipeError) and self._nothing_was_taken()

    def _nothing_was_taken(self) -> bool:
        # A connection that works has one acknowledged byte at least, its own opening; 0 means that nobody counts.
        return bool(self._before) and self._before == _acknowledged(self._watch)


class WatchedBackend(httpcore2.AsyncNetworkBackend):
    """Opens connections that are watched."""

    def __init__(self, backend: Any) -> None:
        self._backend = backend

    async def connect_tcp(self, *arguments: Any, **options: Any) -> Any:
        """Connect, with a second handle to look at after the first is closed."""
        stream = await self._backend.connect_tcp(*arguments, **options)
        return WatchedStream(stream, _second_handle(stream))

    async def connect_unix_socket(self, *arguments: Any, **options: Any) -> Any:
        """Connect to a socket file, where nothing is counted."""
        return await self._backend.connect_unix_socket(*arguments, **options)

    async def sleep(self, seconds: float) -> None:
        """Sleep."""
        await self._backend.sleep(seconds)


def watch(client: Any) -> Any:
    """Watch the connections of an HTTP client, those through a proxy too; return the client."""
    for transport in (client._transport, *client._mounts.values()):
        pool: Any = getattr(transport, "_pool", None)
        if hasattr(pool, "_network_backend"):
            pool._network_backend = WatchedBackend(pool._network_backend)
    return client


def why_unreachable(error: Exception, host: str, seconds: float) -> str:
    """Say in words why there is no connection: the name, the certificate, a refusal, or silence."""
    for cause in causes(error):
        if isinstance(cause, socket.gaierror):
            return f"the name {host!r} is not known (DNS: {cause.strerror})"
        if isinstance(cause, ssl.SSLError):
            return f"no secure connection to {host} (TLS: {getattr(cause, 'verify_message', '') or cause.reason})"
        if isinstance(cause, ConnectionRefusedError):
            return f"{host} refuses connections"
        if isinstance(cause, NeverRead):
            return f"{host} keeps closing connections before it reads a question"
    if "Timeout" in type(error).__name__:
        return f"{host} does not answer: no connection within {seconds:g} s"
    return f"cannot connect to {host}: {error or type(error).__name__}"


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


def _second_handle(stream: Any) -> socket.socket | None:
    try:
        return socket.socket(fileno=os.dup(stream.get_extra_info("socket").fileno()))
    except (AttributeError, OSError):
        return None


def _acknowledged(watched: socket.socket | None) -> int | None:
    """Return how many of our bytes the other side took in all; None where the system does not tell."""
    try:
        told = watched.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)[_ACKNOWLEDGED]  # type: ignore[union-attr]
        return struct.unpack("=Q", told)[0]
    except (AttributeError, OSError, struct.error):
        return None
