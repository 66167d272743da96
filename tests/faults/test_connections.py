"""Connections over real sockets: reused, closed, cut, answered twice, slow, encrypted, through a proxy."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from portrayal.errors import PortrayalError
from portrayal.systems.core.base import OutcomeUnknown, Question, Unreachable
from portrayal.systems.core.registry import open_system
from portrayal.systems.core.settings import SystemSettings
from portrayal.systems.http.web import why_unreachable

Talk = Callable[[socket.socket, int], None]


@contextmanager
def server(talk: Talk, security: ssl.SSLContext | None = None) -> Iterator[int]:
    """Serve each connection as `talk` says, given the connection and its number; yield the port."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve(connection: socket.socket, number: int) -> None:
        with contextlib.suppress(OSError), connection:
            if security is not None:
                connection = security.wrap_socket(connection, server_side=True)
            with connection:
                talk(connection, number)

    def accept() -> None:
        number = 0
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listener.accept()
                threading.Thread(target=serve, args=(connection, number), daemon=True).start()
                number += 1

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def read_request(connection: socket.socket) -> bytes:
    """Read one request with its body; nothing when the other side has closed."""
    data = b""
    while b"\r\n\r\n" not in data:
        more = connection.recv(65536)
        if not more:
            return b""
        data += more
    head, _, body = data.partition(b"\r\n\r\n")
    length = int(head.lower().split(b"content-length:")[1].split()[0]) if b"content-length:" in head.lower() else 0
    while len(body) < length:
        body += connection.recv(65536)
    return head + b"\r\n\r\n" + body


def answer(body: bytes, *lines: bytes, status: bytes = b"200 OK") -> bytes:
    head = b"\r\n".join([b"HTTP/1.1 " + status, b"content-length: %d" % len(body), *lines])
    return head + b"\r\n\r\n" + body


def opened(port: int, timeout: float = 5.0, scheme: str = "http", **parameters: Any) -> Any:
    use = f"{scheme}://localhost:{port}/" if scheme == "https" else f"{scheme}://127.0.0.1:{port}/"
    settings = SystemSettings(name="mine", use=use, limits={"timeout": timeout}, parameters=parameters)
    return open_system(settings, Path(), "tagger")


def ask(system: Any, *contents: str, until: Callable[[], Any] = lambda: None) -> list[Any]:
    """Ask one content after the other, each when what goes before it is over; return raw answers, or the errors."""

    async def asking() -> list[Any]:
        came: list[Any] = []
        for content in contents:
            try:
                came.append((await system.ask([Question(content, "text", content, content)]))[0].raw)
            except Exception as error:
                came.append(error)
            await asyncio.to_thread(until)
        await system.close()
        return came

    return asyncio.run(asking())


def echo(connection: socket.socket, number: int) -> None:
    while request := read_request(connection):
        connection.sendall(answer(request.partition(b"\r\n\r\n")[2]))


def said(content: str) -> bytes:
    """Return the body that asks for a content, which an echo answers."""
    return b'{"content":"' + content.encode() + b'"}'


def repeated(pause: float, over: threading.Semaphore) -> Talk:
    """Answer each question twice, the second time after a pause; `over` is released when both were sent."""

    def talk(connection: socket.socket, number: int) -> None:
        while request := read_request(connection):
            body = request.partition(b"\r\n\r\n")[2]
            late = answer(b"again " + body)
            if pause:
                connection.sendall(answer(body))
                time.sleep(pause)
                connection.sendall(late)
            else:
                connection.sendall(answer(body) + late)
            over.release()

    return talk


@pytest.mark.parametrize("pause", [0.0, 0.05])
def test_an_answer_too_many_is_not_the_answer_to_the_next_question(pause: float) -> None:
    """A server that answers twice: the second answer must not be put on the next picture."""
    over = threading.Semaphore(0)
    with server(repeated(pause, over)) as port:
        assert ask(opened(port), "a1", "b2", "c3", until=over.acquire) == [said("a1"), said("b2"), said("c3")]


def test_an_answer_too_many_is_not_taken_through_a_proxy_either(monkeypatch) -> None:
    with server(repeated(0.0, threading.Semaphore(0))) as port:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{port}")
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        system = open_system(SystemSettings(name="mine", use="http://far.invalid/x"), Path(), "tagger")
        assert ask(system, "a1", "b2", "c3") == [said("a1"), said("b2"), said("c3")]


def test_an_answer_that_comes_too_late_is_not_the_answer_to_the_next_question() -> None:
    def slow(connection: socket.socket, number: int) -> None:
        while request := read_request(connection):
            time.sleep(0.3 if b"a1" in request else 0)
            connection.sendall(answer(request.partition(b"\r\n\r\n")[2]))

    async def asking(port: int) -> Any:
        system = opened(port)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(system.ask([Question("a1", "text", "a1", "a1")]), 0.1)
        await asyncio.sleep(0.3)
        came = (await system.ask([Question("b2", "text", "b2", "b2")]))[0].raw
        await system.close()
        return came

    with server(slow) as port:
        assert asyncio.run(asking(port)) == said("b2")


def test_every_question_gets_a_connection_of_its_own() -> None:
    seen: list[int] = []

    def talk(connection: socket.socket, number: int) -> None:
        seen.append(number)
        echo(connection, number)

    with server(talk) as port:
        assert ask(opened(port), "a", "b", "c") == [said("a"), said("b"), said("c")]
    assert seen == [0, 1, 2]


@pytest.mark.parametrize("told", [True, False])
@pytest.mark.parametrize("waits", [False, True])
def test_a_server_that_closes_after_each_answer_loses_nothing(told: bool, waits: bool) -> None:
    closed = threading.Semaphore(0)

    def once(connection: socket.socket, number: int) -> None:
        body = read_request(connection).partition(b"\r\n\r\n")[2]
        connection.sendall(answer(body, *([b"connection: close"] if told else [])))
        connection.close()
        closed.release()

    contents = [f"q{number}" for number in range(4 if waits else 40)]
    with server(once) as port:
        answers = ask(opened(port), *contents, until=closed.acquire if waits else lambda: None)
    assert answers == [said(content) for content in contents]


def test_requests_at_once_get_their_own_answers() -> None:
    async def asking(port: int) -> list[bytes]:
        system = opened(port)
        asked = [system.ask([Question(f"{n}", "text", f"{n}", f"{n}")]) for n in range(9)]
        answers = await asyncio.gather(*asked)
        await system.close()
        return [answer.raw for (answer,) in answers]

    with server(echo) as port:
        assert asyncio.run(asking(port)) == [said(f"{n}") for n in range(9)]


BODIES = {
    "length": (answer(b'["x"]'), b'["x"]'),
    "chunks": (b'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n["\r\n3\r\nx"]\r\n0\r\n\r\n', b'["x"]'),
    "until the end": (b'HTTP/1.1 200 OK\r\n\r\n["x"]', b'["x"]'),
    "HTTP 1.0": (b'HTTP/1.0 200 OK\r\n\r\n["x"]', b'["x"]'),
    "nothing": (answer(b"", status=b"204 No Content"), b""),
    "after 100 and 103": (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n" + answer(b"[]"), b"[]"),
}


@pytest.mark.parametrize("case", BODIES)
@pytest.mark.parametrize("step", [1, 1000])
def test_every_form_of_a_body_is_read(case: str, step: int) -> None:
    wire, body = BODIES[case]

    def talk(connection: socket.socket, number: int) -> None:
        while read_request(connection):
            for start in range(0, len(wire), step):
                connection.sendall(wire[start : start + step])
                time.sleep(0.001)
            if not any(word in wire for word in (b"content-length", b"chunked")):
                return  # the end is the body's end

    with server(talk) as port:
        assert ask(opened(port), "a", "b") == [body, body]


CUT = {
    "before anything": (b"", b""),
    "in the head": (b"HTTP/1.1 200 OK\r\ncontent-le", b""),
    "in the body": (answer(b'["woman"]')[:-4], b'["wom'),
    "in a chunk": (b'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n9\r\n["wom', b'["wom'),
    "before the last chunk": (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n[]\r\n", b"[]"),
    "after 100": (b"HTTP/1.1 100 Continue\r\n\r\n", b""),
    "into another protocol": (b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\nhello", b""),
    "no HTTP": (b"SSH-2.0-OpenSSH_9.6\r\n", b""),
    "two lengths": (b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 5\r\n\r\n[]...", b""),
    "a length below nothing": (b"HTTP/1.1 200 OK\r\ncontent-length: -2\r\n\r\n[]", b""),
    "a head without end": (b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * 40_000, b""),
}


@pytest.mark.parametrize("case", CUT)
def test_a_cut_answer_is_unknown_and_what_came_is_kept(case: str) -> None:
    wire, kept = CUT[case]

    def talk(connection: socket.socket, number: int) -> None:
        read_request(connection)
        connection.sendall(wire)

    with server(talk) as port:
        (error,) = ask(opened(port), "a")
    assert isinstance(error, OutcomeUnknown)
    assert error.raw == kept


def test_a_reset_in_a_body_without_length_is_no_end() -> None:
    def talk(connection: socket.socket, number: int) -> None:
        read_request(connection)
        connection.sendall(b'HTTP/1.1 200 OK\r\n\r\n["x"]')
        time.sleep(0.05)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")

    with server(talk) as port:
        (error,) = ask(opened(port), "a")
    assert isinstance(error, OutcomeUnknown)
    assert error.raw == b'["x"]'


@pytest.mark.parametrize("words", [b"", b"HTTP/1.1 100 Continue\r\n\r\n", answer(b"12345")[:-2]])
def test_silence_after_the_question_is_unknown(words: bytes) -> None:
    def talk(connection: socket.socket, number: int) -> None:
        read_request(connection)
        connection.sendall(words)
        time.sleep(30)

    with server(talk) as port:
        began = time.monotonic()
        (error,) = ask(opened(port, timeout=2), "a")  # long enough to connect on a busy machine
    assert isinstance(error, OutcomeUnknown)
    assert time.monotonic() - began < 10


def test_a_body_without_end_is_left_at_the_cap() -> None:
    def talk(connection: socket.socket, number: int) -> None:
        read_request(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            connection.sendall(b" " * 1_000_000)

    with server(talk) as port:
        (raw,) = ask(opened(port, timeout=20), "a")
    assert raw == b" " * 64 * 1024


def test_a_line_break_in_a_header_reaches_nobody(monkeypatch) -> None:
    monkeypatch.setenv("BENT_TOKEN", "abcdefgh1\r\nx-more: 1")
    seen: list[bytes] = []

    def talk(connection: socket.socket, number: int) -> None:
        seen.append(connection.recv(1000))

    with server(talk) as port:
        (error,) = ask(opened(port, headers={"Authorization": "$BENT_TOKEN"}), "a")
        time.sleep(0.05)
    assert isinstance(error, PortrayalError)
    assert "line break" in str(error)
    assert "abcdefgh1" not in str(error)
    assert [data for data in seen if data] == []


def test_all_addresses_of_a_host_that_refuse_are_a_refusal() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    def group(*errors: OSError) -> OSError:
        error = OSError("All connection attempts failed")
        error.__cause__ = ExceptionGroup("multiple connection attempts failed", errors)
        return error

    refused = ConnectionRefusedError(111, "Connect call failed")
    assert why_unreachable(group(refused, refused), "host", 1) == "host refuses connections"
    mixed = group(refused, OSError(113, "No route to host"))
    assert why_unreachable(mixed, "host", 1).startswith("cannot connect to host: All")
    with pytest.raises(Unreachable, match=f"localhost:{port} refuses connections"):
        raise ask(open_system(SystemSettings(name="mine", use=f"http://localhost:{port}/"), Path(), "tagger"), "a")[0]


@pytest.fixture(scope="module")
def security(tmp_path_factory) -> tuple[ssl.SSLContext, Path]:
    """Return a server's side of a certificate for localhost, and the file that a client trusts it by."""
    folder = tmp_path_factory.mktemp("certificate")
    words = "openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost"
    words += " -addext subjectAltName=DNS:localhost"
    subprocess.run(words.split(), cwd=folder, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    return context, folder / "cert.pem"


def test_encrypted_answers_are_whole_or_unknown(security, monkeypatch) -> None:
    context, trusted = security
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    seen: list[int] = []

    def talk(connection: socket.socket, number: int) -> None:
        seen.append(number)
        while request := read_request(connection):
            body = request.partition(b"\r\n\r\n")[2]
            connection.sendall(answer(body)[:-2] if b"cut" in request else answer(body))
            if b"cut" in request:
                return

    with server(talk, context) as port:
        came = ask(opened(port, scheme="https"), "a", "b", "x" * 500_000, "cut", "c")
    assert came[:3] + came[4:] == [said("a"), said("b"), said("x" * 500_000), said("c")]
    assert isinstance(came[3], OutcomeUnknown)
    assert seen == [0, 1, 2, 3, 4]


def test_a_certificate_of_another_name_is_not_trusted(security, monkeypatch) -> None:
    context, trusted = security
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    with server(echo, context) as port:
        system = open_system(SystemSettings(name="mine", use=f"https://127.0.0.1:{port}/"), Path(), "tagger")
        (error,) = ask(system, "a")
    assert isinstance(error, Unreachable)
    assert "TLS: IP address mismatch" in str(error)


def test_encryption_that_never_begins_was_never_asked() -> None:
    with server(lambda connection, number: time.sleep(2)) as port:
        (error,) = ask(opened(port, timeout=1.0, scheme="https"), "a")
    assert isinstance(error, Unreachable)
    assert "does not answer: no connection within 0.4 s" in str(error)


def test_no_connection_stays_open(security) -> None:
    """Also none that was refused, not trusted, cut or cancelled."""

    def handles() -> int:
        return sum(1 for _ in Path("/proc/self/fd").iterdir())

    def talk(connection: socket.socket, number: int) -> None:
        read_request(connection)
        connection.sendall(answer(b"12345")[:-2])

    with server(echo) as kept, server(talk) as cut, server(echo, security[0]) as strange:
        ask(opened(kept), "a")
        before = handles()
        for _ in range(5):
            ask(opened(kept), "a", "b")
            ask(opened(cut), "a", "b")
            ask(opened(strange, scheme="https"), "a", "b")
        time.sleep(0.1)  # the servers' own ends
        assert handles() <= before + 2
