"""One HTTP call and what its outcome proves: answered, asked too fast, out of quota, failed, or unknown.

All systems behind HTTP share this. The rule: ask again only where it is proven that no answer was
produced. A refused connection, 429 and 503 prove it; a timeout or a reset after sending proves nothing.
"""

from __future__ import annotations

import email.utils
import os
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx2

from portrayal.errors import PortrayalError
from portrayal.systems.base import BaseSystem, CallFailed, OutcomeUnknown, QuotaSpent, Throttled, Unreachable

# What vendors write when an account is empty rather than busy: waiting will not help.
QUOTA_WORDS = (
    "insufficient_quota",
    "quota exceeded",
    "quotaexceeded",
    "billing",
    "credit balance",
    "payment required",
)
SECRET_PARAMETER = re.compile(r"(?i)(^|[_-])(key|token|secret|password|apikey)$")
SECRET_HEADERS = ("authorization", "key", "token", "secret", "cookie")


@dataclass
class WebSystem(BaseSystem):
    """A system behind HTTP, with one client for all its questions; subclasses write `ask` and `read`."""

    remote: bool = True
    _client: httpx2.AsyncClient | None = None

    async def send(self, method: str, url: str, **request: Any) -> httpx2.Response:
        """Send one request, as `send` does."""
        if self._client is None:
            self._client = httpx2.AsyncClient(timeout=self.limits.timeout)
        return await send(self._client, method, url, **request)

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None


async def send(client: httpx2.AsyncClient, method: str, url: str, **request: Any) -> httpx2.Response:
    """Send one request and return its answer if the service accepted it.

    Raises
    ------
    Throttled, Unreachable
        No answer was produced; ask again, after `retry_after` seconds where the service named them.
    QuotaSpent
        The account is empty.
    CallFailed
        The service said no; its body is kept.
    OutcomeUnknown
        The question went out and no whole answer came back.
    """
    try:
        response = await client.request(method, url, **request)
    except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout) as error:
        raise Unreachable(f"cannot connect: {type(error).__name__}") from None
    except (httpx2.TimeoutException, httpx2.TransportError) as error:
        raise OutcomeUnknown(f"sent, but no whole answer came back: {type(error).__name__}") from None
    except (httpx2.InvalidURL, httpx2.UnsupportedProtocol) as error:
        raise PortrayalError(f"{url!r} is not an address that can be asked: {error}.") from None
    _raise_for(response)
    return response


def _raise_for(response: httpx2.Response) -> None:
    status, body = response.status_code, response.content
    if 200 <= status < 300:
        return
    said = f"HTTP {status}: {body[:200].decode(errors='replace')}"
    if status == 402 or (status in (403, 429) and _speaks_of_quota(body)):
        raise QuotaSpent(said)
    if status in (429, 503, 529):  # 529: overloaded, as Anthropic says it
        raise Throttled(said, retry_after(response.headers))
    raise CallFailed(said, body)


def _speaks_of_quota(body: bytes) -> bool:
    text = body[:2000].decode(errors="replace").lower()
    return any(word in text for word in QUOTA_WORDS)


def retry_after(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """Read `retry-after-ms` and `Retry-After` (seconds or a date) as seconds from now.

    Examples
    --------
    >>> retry_after({"retry-after": "7"})
    7.0
    """
    if headers.get("retry-after-ms", "").isdigit():
        return int(headers["retry-after-ms"]) / 1000
    text = headers.get("retry-after", "").strip()
    if re.fullmatch(r"\d+(\.\d+)?", text):
        return float(text)
    try:
        when = email.utils.parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None
    return max(0.0, when.timestamp() - (time.time() if now is None else now))


def fill_secrets(headers: Mapping[str, str]) -> dict[str, str]:
    """Replace `$NAME` in header values by the environment's value; a study never holds a credential itself."""
    return {name: re.sub(r"\$(\w+)", _from_environment, str(value)) for name, value in headers.items()}


def check_headers(headers: Mapping[str, str]) -> None:
    """Refuse a header that looks like a credential and is not taken from the environment."""
    for name, value in headers.items():
        if any(word in name.lower() for word in SECRET_HEADERS) and "$" not in str(value):
            raise PortrayalError(
                f"header {name!r} seems to hold a credential. Write it as $NAME and set NAME in the environment."
            )


def check_query(query: Mapping[str, str]) -> None:
    """Refuse an address parameter that looks like a credential and is not taken from the environment."""
    for name, value in query.items():
        if SECRET_PARAMETER.search(name) and "$" not in str(value):
            raise PortrayalError(
                f"query {name!r} seems to hold a credential. Write it as $NAME and set NAME in the environment."
            )


def environment(name: str, what: str) -> str:
    """Return an environment variable a service needs, or say which one is missing."""
    value = os.environ.get(name, "")
    if not value:
        raise PortrayalError(f"{what} needs the environment variable {name}, which is not set.")
    return value


def _from_environment(match: re.Match[str]) -> str:
    return environment(match[1], "a header of this study")
