"""HTTP calls, whose outcome is told by what it proves.

All systems behind HTTP share this. The rule: ask again only where it is proven that no answer was
produced. No connection, 429 and 503 prove it; a timeout or a reset after sending proves nothing. What a status proves is
in `portrayal.systems.core.status`, what a closed connection proves in `portrayal.systems.http.connection`.
"""

from __future__ import annotations

import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies

import httpx2

from portrayal.edges.secrets import hidden_bytes, take
from portrayal.errors import PortrayalError
from portrayal.systems.core.base import (
    Answer,
    BaseSystem,
    CallFailed,
    Limits,
    OutcomeUnknown,
    Unreachable,
    broken_answer,
    largest,
)
from portrayal.systems.core.status import error_for
from portrayal.systems.http.connection import NeverRead, causes, why_unreachable
from portrayal.systems.http.transport import Transport
from portrayal.systems.http.wire import UNDERSTOOD, Body, gather, unpacked

TRIES_TO_CONNECT = 3  # connections opened for one question that nobody read

_VARIABLE = re.compile(r"\$([A-Za-z_]\w*)")
SECRET_PARAMETER = re.compile(r"(?i)(^|[_-])(key|token|secret|password|apikey)$")
SECRET_HEADERS = ("auth", "key", "token", "secret", "cookie", "passw", "credential")


@dataclass
class WebSystem(BaseSystem):
    """A system behind HTTP; subclasses write `ask` and `read`.

    It keeps one client, with one connection, for each question on its way.
    """

    remote: bool = True
    _idle: list[httpx2.AsyncClient] = field(default_factory=list)
    _security: ssl.SSLContext | None = None

    async def send(self, method: str, url: str, **request: Any) -> Body:
        """Send one request, as `send` does."""
        client = self._idle.pop() if self._idle else self._open()
        try:
            return await send(client, method, url, largest(self.kind), self.limits.errors_billed, **request)
        finally:
            self._idle.append(client)

    def _open(self) -> httpx2.AsyncClient:
        if self._security is None:
            self._security = httpx2.create_ssl_context()
        return open_client(self.limits, self._security)

    def broken(self, body: Body) -> Answer:
        """Return an incomplete body as an answer that cannot be read."""
        return broken_answer(body.content, body.broken, self.limits.price)

    async def close(self) -> None:
        """Close the connections."""
        while self._idle:
            await self._idle.pop().aclose()


def open_client(limits: Limits, security: ssl.SSLContext) -> httpx2.AsyncClient:
    """Open a client that gives connecting less time than the question.

    Through a proxy of the environment every question gets a connection of its own: the client's own way of keeping
    them takes what a server says unasked for the next answer.
    """
    timeout = httpx2.Timeout(limits.timeout, connect=connecting_time(limits.timeout), pool=None)
    headers = {"accept-encoding": UNDERSTOOD}
    security.set_alpn_protocols(["http/1.1"])
    if getproxies().keys() & {"http", "https", "all"}:
        sockets = httpx2.Limits(max_connections=None, max_keepalive_connections=0)
        return httpx2.AsyncClient(verify=security, timeout=timeout, limits=sockets, headers=headers)
    return httpx2.AsyncClient(transport=Transport(security), timeout=timeout, headers=headers)


def connecting_time(timeout: float) -> float:
    """Return the seconds that a connection, and then its encryption, may take."""
    return min(10.0, 0.4 * timeout)


async def send(
    client: httpx2.AsyncClient, method: str, url: str, most: int, errors_billed: bool = True, **request: Any
) -> Body:
    """Send one request and return the body of its answer if the service accepted it.

    A connection that was closed before the request was read is opened again at once.
    """
    auth = request.pop("auth", None)
    prepared = _prepared(client, method, url, request)
    for attempt in range(TRIES_TO_CONNECT):
        try:
            return await _exchange(client, prepared, most, errors_billed, auth)
        except httpx2.ConnectError as error:
            again = any(isinstance(cause, NeverRead) for cause in causes(error))
            if not again or attempt + 1 == TRIES_TO_CONNECT:
                raise _unreachable(client, prepared, error) from None
        except (httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.ProxyError) as error:
            raise _unreachable(client, prepared, error) from None
    raise AssertionError("the loop returns or raises")


def _prepared(client: httpx2.AsyncClient, method: str, url: str, request: Mapping[str, Any]) -> httpx2.Request:
    try:
        return client.build_request(method, url, **request)
    except httpx2.InvalidURL as error:
        raise PortrayalError(f"{url!r} is not an address that can be asked: {error}.") from None
    except (UnicodeError, TypeError, ValueError) as error:  # nothing was sent; the words may hold a key
        raise CallFailed(f"the question cannot be written as a request ({type(error).__name__})") from None


async def _exchange(
    client: httpx2.AsyncClient, request: httpx2.Request, most: int, errors_billed: bool, auth: Any
) -> Body:
    came = bytearray()
    try:
        response = await client.send(request, stream=True, auth=auth)
        try:
            whole = await gather(response.aiter_raw(), most, came)
        finally:
            await response.aclose()
    except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.ProxyError):
        raise
    except httpx2.UnsupportedProtocol as error:
        raise PortrayalError(f"{str(request.url)!r} is not an address that can be asked: {error}.") from None
    except httpx2.LocalProtocolError:  # nothing was sent; the words may hold a key
        raise PortrayalError("a header holds what HTTP does not allow, such as a line break in a key.") from None
    except httpx2.HTTPError as error:
        words = f"sent, but no whole answer came back: {type(error).__name__}"
        raise OutcomeUnknown(words, bytes(came)) from None
    body = Body(bytes(came), f"it is larger than {most:,} bytes")
    if whole:
        body = unpacked(bytes(came), response.headers.get("content-encoding", ""), most)
    body = Body(hidden_bytes(body.content), body.broken)  # a service may echo the key it was sent
    refusal = error_for(response.status_code, response.headers, body.content, errors_billed)
    if refusal is not None:
        raise refusal
    return body


def _unreachable(client: httpx2.AsyncClient, request: httpx2.Request, error: Exception) -> Unreachable:
    return Unreachable(why_unreachable(error, request.url.netloc.decode(), client.timeout.connect or 0.0))


def fill_secrets(headers: Mapping[str, str]) -> dict[str, str]:
    """Replace `$NAME` in header values by the environment's value."""
    return {name: _VARIABLE.sub(_from_environment, str(value)) for name, value in headers.items()}


def fill_secret_leaves(body: Any) -> Any:
    """Replace values of a body that are `$NAME` and nothing else by the environment's value."""
    if isinstance(body, Mapping):
        return {key: fill_secret_leaves(value) for key, value in body.items()}
    if isinstance(body, list):
        return [fill_secret_leaves(value) for value in body]
    if isinstance(body, str) and _VARIABLE.fullmatch(body):
        return environment(body[1:], "the body of this study")
    return body


def check_address(address: str) -> None:
    """Refuse what is no address that can be asked, before anything waits for it.

    Examples
    --------
    >>> check_address("http://localhost:99999/tags")
    Traceback (most recent call last):
    portrayal.errors.PortrayalError: 'http://localhost:99999/tags' is not an address that can be asked: Port out of range 0-65535.
    """
    why = ""
    try:
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            why = "it names no host"
        elif any(letter.isspace() for letter in address):
            why = "it has a space in it"
        _ = parts.port
    except ValueError as error:
        why = str(error)
    if why:
        raise PortrayalError(f"{address!r} is not an address that can be asked: {why}.")


def check_headers(headers: Mapping[str, str]) -> None:
    """Refuse a header that looks like a credential and is not taken from the environment."""
    for name, value in headers.items():
        if any(word in name.lower() for word in SECRET_HEADERS) and "$" not in str(value):
            raise PortrayalError(
                f"header {name!r} seems to hold a credential. Write it as $NAME and set NAME in the environment."
            )


def check_query(query: Mapping[str, str]) -> None:
    """Refuse an address parameter that looks like a credential."""
    for name, value in query.items():
        if SECRET_PARAMETER.search(name) and "$" not in str(value):
            raise PortrayalError(
                f"query {name!r} seems to hold a credential. Write it as $NAME and set NAME in the environment."
            )


def environment(name: str, what: str) -> str:
    """Return an environment variable a service needs, or say which one is missing."""
    value = take(name)
    if not value:
        raise PortrayalError(f"{what} needs the environment variable {name}, which is not set.")
    return value


def _from_environment(match: re.Match[str]) -> str:
    return environment(match[1], "a header of this study")
