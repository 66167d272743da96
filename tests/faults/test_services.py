"""Services over real sockets: rates, quotas, keys, addresses, connections, packing."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from portrayal.recorder.ledger import Ledger, Planned
from portrayal.recorder.recorder import LONGEST_WAIT, Recorder
from portrayal.systems.core.base import OutcomeUnknown, Question, Throttled, Unreachable
from portrayal.systems.core.registry import open_system
from portrayal.systems.core.settings import SystemSettings
from portrayal.systems.http.web import error_for, speaks_of_spent_quota, unpacked

Reply = tuple[int, bytes, dict[str, str]]


@contextmanager
def service(reply: Callable[[str, int], Reply]) -> Iterator[tuple[str, list[str]]]:
    """Run a service that answers as `reply` says, given the content and how often it was asked; yield address and log."""
    asked: list[str] = []

    class Service(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            content = json.loads(self.rfile.read(int(self.headers["content-length"])))["content"]
            asked.append(content)
            status, body, headers = reply(content, asked.count(content))
            self.send_response(status)
            for name, value in {"content-length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments: Any) -> None:
            """Keep the test's output clean."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/", asked
    finally:
        server.shutdown()
        server.server_close()


def record(
    folder: Path, address: str, contents: list[str], again: str = "", **limits: Any
) -> tuple[Recorder, dict[str, Any], list[float], list[str]]:
    """Record the contents without sleeping; return recorder, entries, pauses and lines told."""
    settings = SystemSettings(name="mine", use=address, limits={"timeout": 5, "concurrency": 1, "retries": 2, **limits})
    system = open_system(settings, folder, "tagger")
    questions = {content: Question(content, "text", content, content) for content in contents}
    slept: list[float] = []
    told: list[str] = []

    async def no_pause(seconds: float) -> None:
        slept.append(seconds)

    with Ledger(folder / "ledger.sqlite") as ledger:
        ledger.plan(Planned(key, "mine", "x", "", {}, key, 0, "tagger", "mapped") for key in questions)
        if again:
            ledger.ask_again(again)
        recorder = Recorder(ledger, sleep=no_pause, tell=told.append)
        asyncio.run(recorder.record([(system, questions)]))
        return recorder, {entry.key: entry for entry in ledger.entries()}, slept, told


def states(entries: dict[str, Any]) -> list[str]:
    return [entries[key].state for key in sorted(entries)]


OK: Reply = (200, b'["person"]', {})
LETTERS = list("abcdefgh")


def test_a_wait_without_end_is_capped_and_said(tmp_path: Path) -> None:
    """Retry-After 999999999 is 31 years; the review saw it slept silently."""
    with service(lambda content, time: (429, b"slow down", {"retry-after": "999999999"}) if time == 1 else OK) as (
        address,
        _,
    ):
        _, entries, slept, told = record(tmp_path, address, ["a"])
    assert states(entries) == ["done"]
    assert LONGEST_WAIT <= slept[0] <= LONGEST_WAIT + 1
    assert told == [
        f"mine: waiting {slept[0]:.0f} s before asking again (it asks for 999,999,999 s; 300 s is the longest wait):"
        " HTTP 429: slow down"
    ]


def test_a_short_wait_is_not_worth_a_line(tmp_path: Path) -> None:
    with service(lambda content, time: (503, b"", {"retry-after": "2"}) if time == 1 else OK) as (address, _):
        _, entries, slept, told = record(tmp_path, address, ["a"])
    assert (states(entries), told) == (["done"], [])
    assert 2 <= slept[0] <= 3


RATES = [
    b"Rate limit reached on requests per min (RPM): Limit 3. To raise it see https://host/account/billing",
    b"Quota exceeded for quota metric 'Requests' and limit 'Requests per minute' of service 'vision'",
    b'{"error": {"code": "rate_limit_exceeded", "message": "check your plan and billing"}}',
    b"Too many requests. Upgrade your billing plan.",
    b"quota: 60/min",
    b"",
]
SPENT = [
    b'{"error": {"code": "insufficient_quota", "message": "You exceeded your current quota, check billing"}}',
    b"Quota exceeded for limit 'Requests per day'",
    b"Out of call volume quota. Quota will be replenished in 10:00:00.",
    b"Your credit balance is too low to access the API.",
    b"monthly limit reached",
]


@pytest.mark.parametrize("words", RATES)
def test_a_rate_is_waited_for_even_where_it_speaks_of_billing(words: bytes) -> None:
    assert not speaks_of_spent_quota(words)
    assert isinstance(error_for(429, {}, words), Throttled)


@pytest.mark.parametrize("words", RATES[:2])
def test_a_rate_that_speaks_of_billing_is_asked_again(tmp_path: Path, words: bytes) -> None:
    with service(lambda content, time: (429, words, {}) if time == 1 else OK) as (address, _):
        recorder, entries, slept, _ = record(tmp_path, address, ["a", "b"])
    assert (states(entries), len(slept), recorder.messages) == (["done"] * 2, 2, [])


@pytest.mark.parametrize("words", SPENT)
@pytest.mark.parametrize("status", [403, 429])
def test_a_spent_quota_stops_the_system(tmp_path: Path, words: bytes, status: int) -> None:
    with service(lambda content, time: OK if content < "c" else (status, words, {})) as (address, asked):
        recorder, entries, _, _ = record(tmp_path, address, LETTERS)
    assert states(entries) == ["done"] * 2 + ["planned"] * 6
    assert len(asked) == 3
    assert "quota is spent" in recorder.messages[0]


@pytest.mark.parametrize("status", [401, 403])
def test_the_first_closed_door_stops_the_system(tmp_path: Path, status: int) -> None:
    """All stay planned, so that the same command asks them once the key is right."""
    with service(lambda content, time: (status, b"bad key", {})) as (address, asked):
        recorder, entries, _, _ = record(tmp_path, address, LETTERS)
        assert asked == ["a"]
    assert states(entries) == ["planned"] * 8
    assert len(recorder.messages) == 1
    assert (
        f"mine: stopped, because it would be the same for every question: HTTP {status}: bad key"
        in (recorder.messages[0])
    )
    with service(lambda content, time: OK) as (address, _):
        assert states(record(tmp_path, address, LETTERS)[1]) == ["done"] * 8


def test_a_door_closed_to_one_question_only_does_not_stand_in_the_way_for_ever(tmp_path: Path) -> None:
    with service(lambda content, time: (403, b"not this one", {}) if content == "b" else OK) as (address, _):
        first = states(record(tmp_path, address, LETTERS)[1])
        second = states(record(tmp_path, address, LETTERS)[1])
    assert first == ["done", "failed"] + ["planned"] * 6
    assert second == ["done", "failed"] + ["done"] * 6


def test_the_third_wrong_address_stops_the_system(tmp_path: Path) -> None:
    with service(lambda content, time: (404, b"nothing here", {})) as (address, asked):
        recorder, entries, _, _ = record(tmp_path, address, LETTERS)
    assert asked == ["a", "b", "c"]
    assert states(entries) == ["planned"] * 8
    assert "HTTP 404: nothing here" in recorder.messages[0]


def test_single_things_that_are_not_there_do_not_stop_it(tmp_path: Path) -> None:
    with service(lambda content, time: (404, b"", {}) if content in "aceg" else OK) as (address, _):
        assert states(record(tmp_path, address, LETTERS)[1]) == ["failed", "done"] * 4


@pytest.mark.parametrize("status", [500, 502, 504])
def test_a_server_error_is_asked_again_only_where_it_is_not_billed(tmp_path: Path, status: int) -> None:
    def reply(content: str, time: int) -> Reply:
        return (status, b"oops", {}) if content == "a" or time < 3 else OK

    (tmp_path / "free").mkdir()
    with service(reply) as (address, asked):
        _, entries, _, _ = record(tmp_path / "free", address, ["a", "b"], errors_billed=False)
        assert states(entries) == ["failed", "done"]
        assert asked == ["a"] * 3 + ["b"] * 3  # limits.retries = 2: at most three times
        asked.clear()
        _, entries, _, _ = record(tmp_path, address, ["a", "b"])
        assert states(entries) == ["unknown", "unknown"]
        assert asked == ["a", "b"]
    assert entries["a"].error == f"HTTP {status}: oops"


def test_no_connection_says_why_and_leaves_the_rest_planned(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for number, (address, words) in enumerate(
        [
            (f"http://127.0.0.1:{port}/", "refuses connections"),
            ("http://no-such-host.invalid/", "the name 'no-such-host.invalid' is not known (DNS"),
        ]
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        recorder, entries, _, _ = record(folder, address, LETTERS)
        assert states(entries) == ["planned"] * 8
        assert words in recorder.messages[0]
        assert "tried 3 times" in recorder.messages[0]


def test_a_host_that_swallows_everything_was_never_asked() -> None:
    """A listener with a full queue takes no connection: nothing was sent, and it is not unknown."""
    with socket.socket() as hole:
        hole.bind(("127.0.0.1", 0))
        hole.listen(0)
        clients = []
        for _ in range(4):  # fills the queue
            client = socket.socket()
            client.setblocking(False)
            client.connect_ex(hole.getsockname())
            clients.append(client)
        with pytest.raises(Unreachable, match="does not answer: no connection within 0.4 s"):
            ask(f"http://127.0.0.1:{hole.getsockname()[1]}/", timeout=1.0)
        for client in clients:
            client.close()


def ask(address: str, **limits: Any) -> Any:
    system = open_system(SystemSettings(name="mine", use=address, limits=limits), Path(), "tagger")

    async def asking() -> Any:
        try:
            return (await asyncio.wait_for(system.ask([Question("a", "text", "a", "a")]), limits.get("timeout", 5)))[0]
        finally:
            await system.close()

    return asyncio.run(asking())


def test_a_certificate_nobody_knows_is_named(tmp_path: Path) -> None:
    words = "openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost"
    subprocess.run(words.split(), cwd=tmp_path, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
    server = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    server.handle_error = lambda *arguments: None  # type: ignore[method-assign]
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with pytest.raises(Unreachable, match="no secure connection to 127.0.0.1.*TLS: self-signed certificate"):
        ask(f"https://127.0.0.1:{server.server_port}/")
    server.shutdown()
    server.server_close()


def test_a_connection_closed_after_the_question_was_read_stays_unknown(tmp_path: Path) -> None:
    listener = socket.create_server(("127.0.0.1", 0))

    def talk() -> None:
        for reset in (False, True):
            connection, _ = listener.accept()
            data = b""
            while b"}" not in data:
                data += connection.recv(65536)
            if reset:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            connection.close()

    threading.Thread(target=talk, daemon=True).start()
    for _ in range(2):
        with pytest.raises(OutcomeUnknown, match="sent, but no whole answer"):
            ask(f"http://127.0.0.1:{listener.getsockname()[1]}/")
    listener.close()


WHOLE = gzip.compress(b'["person"]' + b" " * 500, mtime=0)


@pytest.mark.parametrize(
    ("body", "encoding", "state", "words"),
    [
        (WHOLE, "gzip", "done", None),
        (WHOLE[:-9], "gzip", "unreadable", "its gzip packing is cut off"),
        (WHOLE[:20] + b"\xff\xff" + WHOLE[22:], "gzip", "unreadable", "packing is damaged"),
        (b'["person"]', "gzip", "unreadable", "its gzip packing is damaged"),
        (b'["person"]', "br", "unreadable", "it is packed as 'br'"),
        (gzip.compress(b" " * 17_000_000, mtime=0), "gzip", "unreadable", "larger than 16,777,216 bytes when unpacked"),
        (b" " * 17_000_000, "identity", "unreadable", "larger than 16,777,216 bytes"),
    ],
)
def test_bad_packing_and_size_are_unreadable_with_the_bytes_kept(
    tmp_path: Path, body: bytes, encoding: str, state: str, words: str | None
) -> None:
    with service(lambda content, time: (200, body, {"content-encoding": encoding})) as (address, _):
        _, entries, _, _ = record(tmp_path, address, ["a"])
    entry = entries["a"]
    assert entry.state == state
    if words:
        assert words in entry.error
        assert entry.answer.raw == (body if len(body) < 100_000 else body[: 64 * 1024])
    with service(lambda content, time: OK) as (address, _):
        assert states(record(tmp_path, address, ["a"], again="unreadable")[1]) == ["done"]


def test_what_is_packed_twice_over_or_barely_is_unpacked() -> None:
    import zlib

    assert unpacked(gzip.compress(b"ab") + gzip.compress(b"cd"), "gzip", 100).content == b"abcd"
    assert unpacked(zlib.compress(b"ab"), "deflate", 100).content == b"ab"
    assert unpacked(zlib.compress(b"ab")[2:-4], "deflate", 100).content == b"ab"
    assert unpacked(b"", "gzip", 100).content == b""
