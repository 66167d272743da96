"""An endpoint, and every way it can fail, spoken over a real socket."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from portrayal.errors import PortrayalError
from portrayal.systems.core.base import (
    CallFailed,
    OutcomeUnknown,
    Question,
    QuotaSpent,
    Throttled,
    Unreachable,
    Unreadable,
)
from portrayal.systems.core.readers import read_answer
from portrayal.systems.core.registry import open_system
from portrayal.systems.core.settings import SystemSettings
from portrayal.systems.http.http import dig
from portrayal.systems.http.web import fill_secrets, retry_after


class Endpoint(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        content = body["input"]
        if content == "reset":
            self.connection.close()
        elif content == "slow":
            threading.Event().wait(2)
        elif content in FAULTS:
            self._send(*FAULTS[content])
        else:
            tags = [{"name": content, "score": 0.75}]
            key = self.headers.get("authorization", "")
            self._send(200, json.dumps({"model": "m-1", "tags": tags, "key": key}).encode())

    def _send(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {**(headers or {}), "content-length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: Any) -> None:
        """Keep the test's output clean."""


FAULTS = {
    "busy": (429, b"slow down", {"retry-after": "3"}),
    "down": (503, b"maintenance"),
    "empty": (429, b'{"error": {"code": "insufficient_quota"}}'),
    "bad": (400, b"bad image"),
    "moved": (302, b"<html>log in</html>", {"location": "/login"}),
    "html": (200, b"<html>proxy</html>"),
    "filtered": (200, b'{"model": "m-1", "blocked": "sexual", "tags": []}'),
}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/tag"
    server.shutdown()
    server.server_close()


def opened(address: str, timeout: float = 5.0, **parameters: Any):
    mapping = {
        "body": {"input": "{content}"},
        "answer": "tags",
        "fields": {"tag": "name", "confidence": "score"},
        "model_version": "model",
        "refused": "blocked",
        **parameters,
    }
    settings = SystemSettings(name="mine", use=address, parameters=mapping, limits={"timeout": timeout})
    return open_system(settings, Path(), "tagger")


def ask(system: Any, content: str) -> Any:
    async def asking() -> Any:
        try:
            return (await system.ask([Question(content, "text", content, content)]))[0]
        finally:
            await system.close()

    return asyncio.run(asking())


def test_the_mapping_finds_the_answer(address: str) -> None:
    system = opened(address)
    answer = ask(system, "woman")
    assert read_answer(system, answer) == [{"tag": "woman", "confidence": 0.75}]
    assert answer.version == "m-1"


def test_braces_in_the_content_are_left_alone(address: str) -> None:
    system = opened(address)
    assert read_answer(system, ask(system, "{stimulus} {base64}"))[0]["tag"] == "{stimulus} {base64}"


def test_a_credential_comes_from_the_environment_only(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "s3cret-w0rd")
    system = opened(address, headers={"Authorization": "Bearer $MY_KEY"})
    assert json.loads(ask(system, "woman").raw)["key"] == "Bearer (withheld)"  # sent, and echoed
    assert "s3cret-w0rd" not in repr(system)
    monkeypatch.delenv("MY_KEY")
    with pytest.raises(PortrayalError, match="MY_KEY, which is not set"):
        ask(opened(address, headers={"Authorization": "Bearer $MY_KEY"}), "woman")


def test_a_credential_written_into_a_study_is_refused(address: str) -> None:
    with pytest.raises(PortrayalError, match=r"seems to hold a credential. Write it as \$NAME"):
        opened(address, headers={"X-Api-Key": "s3cret"})
    with pytest.raises(PortrayalError, match=r"query 'key' seems to hold a credential"):
        opened(address, query={"key": "s3cret"})


def test_a_credential_in_the_address_comes_from_the_environment_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "s3cret-w0rd")
    assert fill_secrets({"key": "$MY_KEY", "keyword": "{content}"}) == {"key": "s3cret-w0rd", "keyword": "{content}"}


def test_a_redirect_is_no_answer(address: str) -> None:
    with pytest.raises(CallFailed, match="HTTP 302"):
        ask(opened(address), "moved")


@pytest.mark.parametrize(
    ("content", "error"),
    [("busy", Throttled), ("down", Throttled), ("empty", QuotaSpent), ("bad", CallFailed), ("reset", OutcomeUnknown)],
)
def test_every_failure_is_told_apart(address: str, content: str, error: type[Exception]) -> None:
    with pytest.raises(error) as caught:
        ask(opened(address), content)
    if content == "busy":
        assert caught.value.retry_after == 3.0
    if content == "bad":
        assert caught.value.raw == b"bad image"


def test_a_timeout_after_sending_is_unknown(address: str) -> None:
    with pytest.raises(OutcomeUnknown):
        ask(opened(address, timeout=0.3), "slow")


def test_a_refused_connection_may_be_asked_again() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(Unreachable):
        ask(opened(f"http://127.0.0.1:{port}/"), "woman")


def test_html_in_a_200_is_kept_raw_and_unreadable(address: str) -> None:
    system = opened(address)
    answer = ask(system, "html")
    assert answer.raw == b"<html>proxy</html>"
    with pytest.raises(Unreadable, match="not JSON"):
        read_answer(system, answer)


def test_a_filtered_answer_is_a_refusal(address: str) -> None:
    assert ask(opened(address), "filtered").refused


def test_an_unknown_parameter_gets_the_nearest_name(address: str) -> None:
    with pytest.raises(PortrayalError, match="unknown key 'metod'. Did you mean 'method'"):
        opened(address, metod="GET")


def test_retry_after_reads_seconds_milliseconds_and_dates() -> None:
    assert retry_after({"retry-after": "7"}) == 7.0
    assert retry_after({"retry-after-ms": "1500"}) == 1.5
    assert retry_after({"retry-after": "Thu, 01 Jan 1970 00:00:10 GMT"}, now=4.0) == 6.0
    assert retry_after({"retry-after": "soon"}) is None


def test_dig_follows_keys_positions_and_stars() -> None:
    value = {"outputs": [{"data": {"concepts": [{"name": "a"}, {"name": "b"}]}}]}
    assert dig(value, "outputs.0.data.concepts.*.name") == ["a", "b"]
    assert dig(value, "outputs.3.data") is None
    assert dig(value, "") is value
