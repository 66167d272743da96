"""HTTP/1.1 over a connection that is kept from one request to the next.

The words of HTTP are written and read by h11. A connection is kept only where its answer was whole and nothing came
after it: what a server says unasked is never the answer to the next question.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass

import h11
import httpx2

from portrayal.systems.http.connection import Connection, NeverRead, connect

KEPT_FOR = 5.0  # seconds that an unused connection is trusted
LARGEST_HEAD = 100 * 1024  # bytes of a status line and its headers
_PORTS = {"http": 80, "https": 443}

Origin = tuple[bytes, bytes, int | None]


class Transport(httpx2.AsyncBaseTransport):
    """Carries requests, one after the other, and keeps one connection between them."""

    def __init__(self, security: ssl.SSLContext) -> None:
        self._security = security
        self._kept: tuple[Origin, Connection, float] | None = None

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request and return its answer, of which the body is still to be read."""
        limits = request.extensions["timeout"]
        origin = (request.url.raw_scheme, request.url.raw_host, request.url.port)
        connection = self._take(origin) or await self._open(request.url, limits["connect"])
        talk = h11.Connection(h11.CLIENT, max_incomplete_event_size=LARGEST_HEAD)
        exchange = _Exchange(self, origin, connection, talk, limits["read"])
        try:
            connection.write(_written(talk, request, await request.aread()))
            head = await exchange.head()
        except BaseException:
            connection.close()
            raise
        return httpx2.Response(head.status_code, headers=head.headers.raw_items(), stream=exchange)

    async def aclose(self) -> None:
        """Close the connection."""
        if self._kept is not None:
            self._kept[1].close()
            self._kept = None

    def keep(self, origin: Origin, connection: Connection) -> None:
        """Take a connection back for the next request."""
        if self._kept is None:
            self._kept = (origin, connection, time.monotonic())
        else:
            connection.close()

    def _take(self, wanted: Origin) -> Connection | None:
        """Return the kept connection where it still serves."""
        if self._kept is None:
            return None
        (origin, connection, since), self._kept = self._kept, None
        if origin == wanted and time.monotonic() - since < KEPT_FOR and connection.is_quiet():
            return connection
        connection.close()
        return None

    async def _open(self, url: httpx2.URL, seconds: float | None) -> Connection:
        if url.scheme not in _PORTS:
            raise httpx2.UnsupportedProtocol("only http:// and https:// are understood")
        security = self._security if url.scheme == "https" else None
        try:
            return await connect(url.raw_host.decode(), url.port or _PORTS[url.scheme], security, seconds)
        except TimeoutError as error:
            raise httpx2.ConnectTimeout(str(error)) from error
        except (OSError, UnicodeError) as error:
            raise httpx2.ConnectError(str(error)) from error


@dataclass
class _Exchange(httpx2.AsyncByteStream):
    """One request and its answer; what is read of it is the body."""

    transport: Transport
    origin: Origin
    connection: Connection
    talk: h11.Connection
    seconds: float | None

    async def head(self) -> h11.Response:
        """Return the answer's status and headers; what a server says before them (100, 103) is passed over."""
        while not isinstance(event := await self._event(), h11.Response):
            if not isinstance(event, h11.InformationalResponse):
                raise httpx2.RemoteProtocolError("no answer")
        return event

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while isinstance(event := await self._event(), h11.Data):
            yield bytes(event.data)

    async def aclose(self) -> None:
        """Keep the connection where the answer is whole, or close it."""
        whole = self.talk.our_state is self.talk.their_state is h11.DONE
        if whole and not self.talk.trailing_data[0]:
            self.transport.keep(self.origin, self.connection)
        else:
            self.connection.close()

    async def _event(self) -> object:
        try:
            while (event := self.talk.next_event()) is h11.NEED_DATA:
                self.talk.receive_data(await self.connection.read(self.seconds))
        except h11.RemoteProtocolError as error:
            raise httpx2.RemoteProtocolError(str(error)) from error
        except NeverRead as error:
            raise httpx2.ConnectError(str(error)) from error
        except TimeoutError as error:
            raise httpx2.ReadTimeout(str(error)) from error
        except OSError as error:
            raise httpx2.ReadError(str(error)) from error
        return event


def _written(talk: h11.Connection, request: httpx2.Request, body: bytes) -> bytes:
    """Return a request as it goes over the wire, in one piece."""
    try:
        head = h11.Request(method=request.method, target=request.url.raw_path, headers=request.headers.raw)
        parts = [talk.send(head), talk.send(h11.Data(body)) if body else b"", talk.send(h11.EndOfMessage())]
    except h11.LocalProtocolError as error:
        raise httpx2.LocalProtocolError(str(error)) from error
    return b"".join(part for part in parts if part)
