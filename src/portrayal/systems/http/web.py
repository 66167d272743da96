"""HTTP calls, classified by what their outcome proves.

A question is asked again only where it is proven that no answer was produced. No connection, 429 and 503 prove it; a timeout or
a reset after sending proves nothing.
"""

from __future__ import annotations

import email.utils
import math
import re
import socket
import ssl
import time
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx2

from portrayal.edges.secrets import hidden_bytes, take
from portrayal.errors import PortrayalError
from portrayal.systems.core.base import (
    AccessDenied,
    Answer,
    BaseSystem,
    CallFailed,
    NothingThere,
    OutcomeUnknown,
    QuotaSpent,
    Throttled,
    Unreachable,
    broken_answer,
    largest,
)

LOOKED_AT = 4000  # bytes of an error's words

# What vendors write when an account is empty rather than busy: waiting will not help.
EMPTY = ("insufficient_quota", "credit balance", "payment required", "billing_hard_limit", "out of call volume quota")
SOON = re.compile(r"per[ _-]?(second|sec\b|minute|min\b)|/ ?(s|sec|min|minute)\b|\b[rt]p[ms]\b")
LATE = re.compile(r"per[ _-]?(day|month|year)|daily|monthly|/ ?(day|month)\b")
BUSY = ("rate limit", "rate_limit", "ratelimit", "too many requests", "slow down", "concurren", "try again in")
QUOTA = ("quota", "usage limit")


def error_for(status: int, headers: Mapping[str, str], body: bytes, errors_billed: bool = True) -> Exception | None:
    """Return the error that an answer's status is, or None where it is an answer."""
    if 200 <= status < 300:
        return None
    message, words = f"HTTP {status}: {body[:200].decode(errors='replace')}", _words(body)
    if status == 402 or (status in (403, 429) and speaks_of_spent_quota(body)):
        return QuotaSpent(message)
    in_haste = bool(SOON.search(words)) or any(word in words for word in BUSY)
    if status in (429, 503, 529) or (status == 403 and in_haste):  # 529: Anthropic, overloaded
        return Throttled(message, retry_after(headers))
    if status in (500, 502, 504):
        return OutcomeUnknown(message, body) if errors_billed else Throttled(message, retry_after(headers))
    kind = {401: AccessDenied, 403: AccessDenied, 404: NothingThere}.get(status, CallFailed)
    return kind(message, body)


def speaks_of_spent_quota(body: bytes) -> bool:
    """Return True where the words say that the quota is spent."""
    text = _words(body)
    if any(word in text for word in EMPTY):
        return True
    if SOON.search(text):
        return False
    if LATE.search(text):
        return True
    return not any(word in text for word in BUSY) and any(word in text for word in QUOTA)


def _words(body: bytes) -> str:
    return body[:LOOKED_AT].decode(errors="replace").lower()


def retry_after(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """Read `retry-after-ms` and `Retry-After` (seconds or a date) as seconds from now."""
    milliseconds = headers.get("retry-after-ms", "").strip()
    if re.fullmatch(r"[0-9]{1,15}", milliseconds):
        return int(milliseconds) / 1000
    text = headers.get("retry-after", "").strip()
    if re.fullmatch(r"[0-9]+(\.[0-9]+)?", text):
        return float(text) if math.isfinite(float(text)) else None
    try:
        when = email.utils.parsedate_to_datetime(text).timestamp()
    except (TypeError, ValueError, OverflowError, OSError):
        return None
    return max(0.0, when - (time.time() if now is None else now))


_VARIABLE = re.compile(r"\$([A-Za-z_]\w*)")
_SECRET = {
    "header": re.compile(r"(?i)auth|key|token|secret|cookie|passw|credential"),
    "query": re.compile(r"(?i)(^|[_-])(key|token|secret|password|apikey)$"),
}
# How zlib names the formats; some servers leave out the two bytes of deflate's header.
_WINDOWS = {"gzip": [31], "x-gzip": [31], "deflate": [15, -15]}
UNDERSTOOD = "gzip, deflate"  # what we tell a server it may send


@dataclass(frozen=True)
class Body:
    """Bytes of an answer; `broken` says why they are incomplete."""

    content: bytes
    broken: str = ""


@dataclass
class WebSystem(BaseSystem):
    """A system behind HTTP; subclasses write `ask`.

    Every question gets a connection of its own: a server may close one that is kept just as a question is written to it,
    or say something unasked, which would be taken for the next answer.
    """

    remote: bool = True
    _client: httpx2.AsyncClient | None = None

    async def send(self, method: str, url: str, **request: Any) -> Body:
        """Send one request and return the body of its answer if the service accepted it."""
        self._client = self._client or self._open()
        auth = request.pop("auth", None)
        prepared = _prepared(self._client, method, url, request)
        try:
            return await _exchange(self._client, prepared, largest(self.kind), self.limits.errors_billed, auth)
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.ProxyError) as error:
            host, seconds = prepared.url.netloc.decode(), self._client.timeout.connect or 0.0
            raise Unreachable(why_unreachable(error, host, seconds)) from None

    def _open(self) -> httpx2.AsyncClient:
        """Open a client that gives connecting, and then its encryption, less time than the question."""
        seconds = self.limits.timeout
        timeout = httpx2.Timeout(seconds, connect=min(10.0, 0.4 * seconds), pool=None)
        sockets = httpx2.Limits(max_connections=None, max_keepalive_connections=0)
        return httpx2.AsyncClient(timeout=timeout, limits=sockets, headers={"accept-encoding": UNDERSTOOD})

    def broken(self, body: Body) -> Answer:
        """Return an incomplete body as an answer that cannot be read."""
        return broken_answer(body.content, body.broken, self.limits.price)

    async def close(self) -> None:
        """Close the client."""
        if self._client is not None:
            client, self._client = self._client, None
            await client.aclose()


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
            async for chunk in response.aiter_raw():
                came += chunk
                if len(came) > most:
                    break
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
    if len(came) > most:
        body = Body(bytes(came), f"it is larger than {most:,} bytes")
    else:
        body = unpacked(bytes(came), response.headers.get("content-encoding", ""), most)
    body = Body(hidden_bytes(body.content), body.broken)  # a service may echo the key it was sent
    refusal = error_for(response.status_code, response.headers, body.content, errors_billed)
    if refusal is not None:
        raise refusal
    return body


def unpacked(content: bytes, encoding: str, most: int) -> Body:
    """Return a body without its packing, or the reason why it cannot be unpacked.

    The client's own unpacking takes a cut stream for a whole one, and knows no limit.
    """
    packing, damage = encoding.strip().lower(), zlib.error()
    if packing in ("", "identity") or not content:
        return Body(content)
    if packing not in _WINDOWS:
        return Body(content, f"it is packed as {packing[:40]!r}, and only {UNDERSTOOD} was offered")
    for window in _WINDOWS[packing]:
        try:
            return _members(content, packing, window, most)
        except zlib.error as error:
            damage = error
    return Body(content, f"its {packing} packing is damaged: {damage}")


def _members(content: bytes, packing: str, window: int, most: int) -> Body:
    """Unpack one stream after the other, as gzip allows."""
    whole, rest = bytearray(), content
    while rest:
        stream = zlib.decompressobj(window)
        whole += stream.decompress(rest, most + 1 - len(whole))
        if len(whole) > most:
            return Body(content, f"it is larger than {most:,} bytes when unpacked")
        if not stream.eof:
            return Body(content, f"its {packing} packing is cut off")
        rest = stream.unused_data if window > 0 else b""
    return Body(bytes(whole))


def why_unreachable(error: Exception, host: str, seconds: float) -> str:
    """Return in words why there is no connection: name, certificate, refusal or silence."""
    if "Timeout" in type(error).__name__:
        return f"{host} does not answer: no connection within {seconds:g} s"
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, socket.gaierror):
            return f"the name {host!r} is not known (DNS: {cause.strerror})"
        if isinstance(cause, ssl.SSLError):
            return f"no secure connection to {host} (TLS: {getattr(cause, 'verify_message', '') or cause.reason})"
        addresses = getattr(cause, "exceptions", (cause,))  # a host may have several, which all refuse
        if all(isinstance(one, ConnectionRefusedError) for one in addresses):
            return f"{host} refuses connections"
        cause = cause.__cause__ or cause.__context__
    return f"cannot connect to {host}: {error or type(error).__name__}"


def fill_secrets(headers: Mapping[str, str]) -> dict[str, str]:
    """Replace `$NAME` in header values by the environment's value."""

    def value_of(match: re.Match[str]) -> str:
        return environment(match[1], "a header of this study")

    return {name: _VARIABLE.sub(value_of, str(value)) for name, value in headers.items()}


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
    """Refuse text that is no address, before anything waits for it."""
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


def check_secrets(part: str, values: Mapping[str, str]) -> None:
    """Refuse a header or query that seems to be a credential of the study's own."""
    for name, value in values.items():
        if _SECRET[part].search(name) and "$" not in str(value):
            raise PortrayalError(
                f"{part} {name!r} seems to hold a credential. Write it as $NAME and set NAME in the environment."
            )


def environment(name: str, what: str) -> str:
    """Return an environment variable a service needs, or say which one is missing."""
    value = take(name)
    if not value:
        raise PortrayalError(f"{what} needs the environment variable {name}, which is not set.")
    return value
