"""Services that speak their vendors' protocols over a simulated network, bill, and fail as they are told."""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import httpx2

Body = Callable[[str], Any]

SERVICES: Mapping[str, tuple[dict[str, Any], Body]] = {
    "openai": (
        {"use": "openai", "parameters": {"model": "m", "endpoint": "http://openai.test"}},
        lambda name: {"model": "m-1", "choices": [{"message": {"content": json.dumps([name])}, "finish_reason": "stop"}]},
    ),
    "anthropic": (
        {"use": "anthropic", "parameters": {"model": "m", "endpoint": "http://anthropic.test"}},
        lambda name: {"model": "m-1", "content": [{"type": "text", "text": json.dumps([name])}], "stop_reason": "end_turn"},
    ),
    "google": (
        {"use": "google", "parameters": {"endpoint": "http://google.test"}},
        lambda name: {"responses": [{"labelAnnotations": [{"description": name, "score": 0.9}]}]},
    ),
    "clarifai": (
        {"use": "clarifai", "parameters": {"endpoint": "http://clarifai.test"}},
        lambda name: {
            "status": {"code": 10000},
            "outputs": [
                {"status": {"code": 10000}, "model": {"id": "m"}, "data": {"concepts": [{"name": name, "value": 0.9}]}}
            ],
        },
    ),
    "imagga": (
        {"use": "imagga", "parameters": {"endpoint": "http://imagga.test"}},
        lambda name: {"status": {"type": "success"}, "result": {"tags": [{"confidence": 90, "tag": {"en": name}}]}},
    ),
    "azure": (
        {"use": "azure", "parameters": {"endpoint": "http://azure.test"}},
        lambda name: {"modelVersion": "m", "tagsResult": {"values": [{"name": name, "confidence": 0.9}]}},
    ),
    "http": ({"use": "http://plain.test/tags", "parameters": {"body": {"image": "{base64}"}}}, lambda name: [name]),
}  # fmt: skip
KEYS = (
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "GOOGLE_API_KEY",
    "CLARIFAI_PAT",
    "IMAGGA_KEY",
    "IMAGGA_SECRET",
    "AZURE_VISION_KEY",
)

# By name: status, headers and body of an answer that is none, and whether the question may be billed all the same.
STATUSES: Mapping[str, tuple[int, dict[str, str], bytes]] = {
    "429": (429, {}, b"rate limit: too many requests"),
    "429, wait an hour": (429, {"retry-after": "3600"}, b"rate limit per minute"),
    "503": (503, {"retry-after": "2"}, b"overloaded"),
    "500": (500, {}, b"internal error"),
    "502": (502, {}, b"<html>bad gateway</html>"),
    "401": (401, {}, b"this key is not known"),
    "402": (402, {}, b"payment required"),
    "400": (400, {}, b"this picture cannot be read"),
}
# Errors that two vendors put inside a 200; with the others it is a plain 429.
INSIDE: Mapping[str, Any] = {
    "google": {"responses": [{"error": {"code": 14, "message": "unavailable"}}]},
    "clarifai": {"status": {"code": 11005, "description": "throttled"}},
}
NEVER_SENT = {
    "no such name": lambda request: httpx2.ConnectError("Name or service not known", request=request),
    "refused": lambda request: httpx2.ConnectError("Connection refused", request=request),
    "no connection in time": lambda request: httpx2.ConnectTimeout("", request=request),
}
FAULTS = (*STATUSES, *NEVER_SENT, "reset before it was billed", "reset after it was billed", "silence", "late answer",
          "throttled inside a 200", "cut answer", "cut gzip", "no JSON", "slow answer")  # fmt: skip


class _Cut(httpx2.AsyncByteStream):
    """A body that breaks off."""

    def __init__(self, begun: bytes) -> None:
        self.begun = begun

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self.begun
        raise httpx2.RemoteProtocolError("peer closed connection without sending complete message body")


@dataclass
class Network(httpx2.AsyncBaseTransport):
    """The way to one service; asks the world which fault is next."""

    world: Any
    name: str
    system: str

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Carry a request there and its answer back, unless a fault is due."""
        sent = await request.aread()
        stimulus = self.world.stimulus_in(sent)
        fault = self.world.next_fault(self.system, stimulus, FAULTS)
        if fault in NEVER_SENT:
            await asyncio.sleep(10.0 if "time" in fault else 0.01)
            raise NEVER_SENT[fault](request)
        self.world.bills.sent.add((self.system, stimulus))
        await asyncio.sleep(self.world.random.uniform(0.01, 0.5))
        if fault == "throttled inside a 200":
            if self.name in INSIDE:
                return httpx2.Response(200, stream=httpx2.ByteStream(json.dumps(INSIDE[self.name]).encode()))
            fault = "429"
        if fault in STATUSES:
            return self._status(fault, stimulus)
        return await self._answer(fault, stimulus, request)

    def _status(self, fault: str, stimulus: str) -> httpx2.Response:
        status, headers, body = STATUSES[fault]
        if fault in ("500", "502") and self.world.bills_errors(self.name):
            self._bill(stimulus)
        return httpx2.Response(status, headers=headers, stream=httpx2.ByteStream(body))

    async def _answer(self, fault: str | None, stimulus: str, request: httpx2.Request) -> httpx2.Response:
        if fault == "reset before it was billed":
            raise httpx2.ReadError("connection reset", request=request)
        self._bill(stimulus)
        if fault == "reset after it was billed":
            raise httpx2.ReadError("connection reset", request=request)
        if fault in ("silence", "late answer"):
            await asyncio.sleep(1e6 if fault == "silence" else self.world.limit + 1)
        if fault == "slow answer":
            await asyncio.sleep(self.world.limit * 0.6)
        return self._written(fault, json.dumps(SERVICES[self.name][1](stimulus)).encode())

    def _written(self, fault: str | None, body: bytes) -> httpx2.Response:
        if fault == "cut answer":
            return httpx2.Response(200, stream=_Cut(body[: len(body) // 2]))
        if fault == "cut gzip":
            packed = gzip.compress(body)[:-6]
            return httpx2.Response(200, headers={"content-encoding": "gzip"}, stream=httpx2.ByteStream(packed))
        if fault == "no JSON":
            body = b"<html>welcome to the hotel's network</html>"
        return httpx2.Response(200, stream=httpx2.ByteStream(body))

    def _bill(self, stimulus: str) -> None:
        self.world.bills.billed[self.system, stimulus] += 1


def names_in(sent: bytes, pictures: Mapping[str, bytes]) -> str:
    """Return the stimulus whose picture a request holds, as bytes or as base64."""
    for name, picture in pictures.items():
        if picture in sent or base64.b64encode(picture) in sent:
            return name
    raise AssertionError("a request holds no picture of this world")
