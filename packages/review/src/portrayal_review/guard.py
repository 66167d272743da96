"""Guard of every request: host, origin of forms, strict policy."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any
from urllib.parse import urlsplit

from starlette.responses import PlainTextResponse

LARGEST_FORM = 64 * 1024  # bytes
POLICY = (
    "default-src 'none'; img-src 'self'; style-src 'self'; script-src 'self'; form-action 'self'; base-uri 'none';"
    " frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",  # with "no-referrer" browsers send our own forms with "Origin: null"
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cache-control": "no-store",
}
SAFE = ("GET", "HEAD")
Headers = dict[str, list[str]]


def refusal(method: str, headers: Headers, hosts: Collection[str]) -> tuple[int, str] | None:
    """Return why a request is refused, with its status; None where it may pass."""
    named = headers.get("host", [])
    if len(named) != 1 or named[0].lower() not in hosts:
        return 421, "This server is not known under the name the browser asked for."
    if method in SAFE:
        return None
    if method != "POST":
        return 405, "Only GET and POST are answered."
    if not _is_ours(headers, named[0].lower()):
        return 403, "A form of another site was sent here. Nothing was kept."
    return _too_large(headers)


def _is_ours(headers: Headers, host: str) -> bool:
    """Tell whether the browser says that a form comes from our pages."""
    sites = headers.get("sec-fetch-site", [])
    origins = headers.get("origin", [])
    return all(site == "same-origin" for site in sites) and all(_host_of(one) == host for one in origins)


def _host_of(origin: str) -> str:
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""


def _too_large(headers: Headers) -> tuple[int, str] | None:
    lengths = headers.get("content-length", [])
    if len(lengths) != 1 or not lengths[0].isascii() or not lengths[0].isdigit():
        return 411, "A form must say how long it is."
    if int(lengths[0]) > LARGEST_FORM:
        return 413, f"A form has at most {LARGEST_FORM:,} bytes."
    return None


class Guard:
    """The application behind its guard."""

    def __init__(self, app: Any, hosts: Collection[str]) -> None:
        self.app, self.hosts = app, frozenset(host.lower() for host in hosts)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Refuse a request, or hand it on; the answer gets our headers either way."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] != "http":  # no web sockets here
            await send({"type": "websocket.close", "code": 1008})
        elif refused := refusal(scope["method"], _by_name(scope["headers"]), self.hosts):
            status, text = refused
            await PlainTextResponse(text, status)(scope, receive, _with_headers(send))
        else:
            await self.app(scope, receive, _with_headers(send))


def _by_name(pairs: Any) -> Headers:
    headers: Headers = {}
    for name, value in pairs:
        headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    return headers


def _with_headers(send: Any) -> Any:
    ours = [(name.encode(), value.encode()) for name, value in HEADERS.items()]

    async def sending(message: Any) -> None:
        if message["type"] == "http.response.start":
            names = {name.lower() for name, _ in message["headers"]}
            further = [pair for pair in ours if pair[0] not in names]
            message = {**message, "headers": [*message["headers"], *further]}
        await send(message)

    return sending
