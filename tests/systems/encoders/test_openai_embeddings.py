"""A text encoder behind /v1/embeddings, against a local server: batches, order, keys, faults."""

from __future__ import annotations

import asyncio
import base64
import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import polars as pl
import pytest

from portrayal import flow
from portrayal.edges.secrets import hidden
from portrayal.errors import PortrayalError
from portrayal.systems.core.base import AccessDenied, CallFailed, Question, Throttled, Unreadable
from portrayal.systems.core.readers import read_answer
from portrayal.systems.core.registry import open_system
from portrayal.systems.core.settings import SystemSettings


def vector(text: str) -> list[float]:
    """A text's own vector: its length and its first and last letter."""
    return [float(len(text)), float(ord(text[0])), float(ord(text[-1]))]


class Embeddings(BaseHTTPRequestHandler):
    """Answers in the wrong order on purpose; `server.shape` changes the answer, `server.fault` replaces it."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.seen.append({"path": self.path, "headers": dict(self.headers), "body": body})
        status, reply = self.server.fault(body) or (200, self.server.shape(self.made(body)))
        data = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def made(self, body: dict) -> dict:
        data = [
            {"object": "embedding", "index": place, "embedding": vector(text)}
            for place, text in enumerate(body["input"])
        ]
        usage = {"prompt_tokens": 10 * len(data), "total_tokens": 10 * len(data)}
        return {"object": "list", "data": data[::-1], "model": f"{body['model']}-v2", "usage": usage}

    def log_message(self, *arguments) -> None:
        """Keep the test's output clean."""


@contextmanager
def serving():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Embeddings)
    server.seen, server.fault, server.shape = [], lambda body: None, lambda reply: reply
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def server():
    with serving() as made:
        yield made


def address(server) -> str:
    return f"http://127.0.0.1:{server.server_port}/v1"


def opened(server, **parameters):
    given = {"model": "small", "base_url": address(server), **parameters}
    return open_system(SystemSettings(name="e", use="openai_embeddings", parameters=given), None, "encoder")


def asked(system, texts):
    async def run():
        try:
            return await system.ask([Question(text, "text", text, text) for text in texts])
        finally:
            await system.close()

    return asyncio.run(run())


def test_a_batch_is_one_request_and_answers_go_by_index(server) -> None:
    system = opened(server, dollars_per_million_input=20.0)
    answers = asked(system, ["ada", "bob", "eva lee"])
    assert [request["path"] for request in server.seen] == ["/v1/embeddings"]
    assert server.seen[0]["body"] == {"model": "small", "input": ["ada", "bob", "eva lee"], "encoding_format": "float"}
    assert [read_answer(system, answer)[0]["embedding"] for answer in answers] == [
        vector("ada"),
        vector("bob"),
        vector("eva lee"),
    ]
    assert {answer.version for answer in answers} == {"small-v2"}
    # 30 tokens at 20 dollars a million are 0.0006 dollars, shared by three.
    assert sum(answer.cost for answer in answers) == pytest.approx(0.0006)


def test_base64_is_read_as_float32(server) -> None:
    def packed(reply):
        for part in reply["data"]:
            raw = np.array(part["embedding"], "<f4").tobytes()
            part["embedding"] = base64.b64encode(raw).decode()
        return reply

    server.shape = packed
    system = opened(server, dimensions=3)
    assert read_answer(system, asked(system, ["ada"])[0]) == [{"embedding": vector("ada")}]
    assert server.seen[0]["body"]["dimensions"] == 3


def test_address_model_and_key_come_from_the_environment(server, monkeypatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", address(server) + "/")
    monkeypatch.setenv("OPENAI_EMBEDDING_MODEL", "named outside")
    monkeypatch.setenv("OPENAI_API_KEY", "made up here")
    system = open_system(SystemSettings(name="e", use="openai_embeddings"), None, "encoder")
    asked(system, ["ada"])
    assert server.seen[0]["body"]["model"] == "named outside"
    assert server.seen[0]["headers"]["Authorization"] == "Bearer made up here"
    assert "made up here" not in system.identity + json.dumps(dict(system.parameters))
    monkeypatch.setenv("OTHER_KEY", "another key")
    asked(opened(server, key="OTHER_KEY"), ["ada"])
    assert server.seen[1]["headers"]["Authorization"] == "Bearer another key"
    monkeypatch.delenv("OPENAI_API_KEY")
    asked(opened(server), ["ada"])
    assert "Authorization" not in server.seen[2]["headers"]


def test_a_key_that_is_echoed_is_withheld(server, monkeypatch) -> None:
    """Whatever it looks like and whatever its variable is called."""
    monkeypatch.setenv("MY_VARIABLE", "plain words")
    asked(opened(server, key="MY_VARIABLE"), ["ada"])
    assert hidden("not let in: plain words") == "not let in: (withheld)"
    monkeypatch.setenv("MY_VARIABLE", "EMPTY")  # vLLM's own word for no key: public, sent as it is
    asked(opened(server, key="MY_VARIABLE"), ["ada"])
    assert server.seen[-1]["headers"]["Authorization"] == "Bearer EMPTY"
    monkeypatch.setenv("MY_VARIABLE", "short")
    with pytest.raises(PortrayalError, match="MY_VARIABLE has 5 characters. Expected 8 or more"):
        asked(opened(server, key="MY_VARIABLE"), ["ada"])


def test_faults_of_the_study_are_one_line(server, monkeypatch) -> None:
    monkeypatch.delenv("OPENAI_EMBEDDING_MODEL", raising=False)
    with pytest.raises(PortrayalError, match="names no model"):
        opened(server, model="")
    with pytest.raises(PortrayalError, match="holds a login"):
        opened(server, base_url="https://me:word@example.org/v1")
    with pytest.raises(PortrayalError, match="reads texts only"):
        asyncio.run(opened(server).ask([Question("p", "image", "p.png", "h")]))
    assert not server.seen


def test_one_text_that_is_turned_down_fails_alone(server) -> None:
    too_long = {"error": {"message": "too many tokens"}}
    server.fault = lambda body: (400, too_long) if "long" in body["input"] else None
    answers = asked(opened(server), ["ada", "long", "bob", "eva", "ida"])
    assert [isinstance(answer, CallFailed) for answer in answers] == [False, True, False, False, False]
    assert b"too many tokens" in answers[1].raw
    assert [part["body"]["input"] for part in server.seen] == [
        ["ada", "long", "bob", "eva", "ida"],
        ["ada", "long"],
        ["ada"],
        ["long"],
        ["bob", "eva", "ida"],
    ]


@pytest.mark.parametrize(("status", "error"), [(401, AccessDenied), (429, Throttled)])
def test_a_service_that_lets_nobody_in_is_asked_once(server, status, error) -> None:
    server.fault = lambda body: (status, {"error": {"message": "no"}})
    with pytest.raises(error):
        asked(opened(server), ["ada", "bob"])
    assert len(server.seen) == 1


SHAPES = {
    "a page": lambda reply: b"<html>",
    "one missing": lambda reply: {**reply, "data": reply["data"][1:]},
    "one twice": lambda reply: {**reply, "data": [reply["data"][0]] * 2},
    "no index": lambda reply: {**reply, "data": [{"embedding": [1.0]}] * 2},
    "no data": lambda reply: {"object": "list"},
    "a list": lambda reply: [1, 2],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_an_answer_that_cannot_be_told_apart_is_kept_and_unreadable(server, shape) -> None:
    server.shape = SHAPES[shape]
    system = opened(server)
    answers = asked(system, ["ada", "bob"])
    assert len(answers) == 2
    for answer in answers:
        assert answer.raw
        assert answer.media.startswith("broken: it is not the form of /embeddings")


@pytest.mark.parametrize("bad", [None, [], "no base64!", "QUJD", ["x"], [[1]], [10**400], [float("nan")], {"a": 1}])
def test_a_vector_that_is_none_is_unreadable_and_the_others_stay(server, bad) -> None:
    def spoil(reply):
        reply["data"][0]["embedding"] = bad  # the last text's
        return reply

    server.shape = spoil
    system = opened(server)
    first, last = asked(system, ["ada", "bob"])
    assert read_answer(system, first) == [{"embedding": vector("ada")}]
    with pytest.raises(Unreadable):
        read_answer(system, last)


COUNTS = ["many", None, -5, float("nan"), 10**400, True]


@pytest.mark.parametrize("usage", [None, [], *({"prompt_tokens": count} for count in COUNTS)])
def test_a_strange_bill_spoils_no_answer(server, usage) -> None:
    server.shape = lambda reply: {**reply, "usage": usage}
    system = opened(server, dollars_per_million_input=20.0)
    (answer,) = asked(system, ["ada"])
    assert read_answer(system, answer) == [{"embedding": vector("ada")}]
    assert answer.cost == 0


STUDY = """
name = "names"
audit = "associations"

[[systems]]
name = "endpoint"
use = "openai_embeddings"
parameters = {{ model = "small", base_url = "{address}", batch = 5 }}
limits = {{ concurrency = 3 }}

[associations]
tests = ["weat6"]
variants = []
"""


def test_a_whole_study_in_batches(server, tmp_path) -> None:
    (tmp_path / "study.toml").write_text(STUDY.format(address=address(server)))
    flow.audit(tmp_path / "study.toml", tmp_path / "run", quiet=True)
    # WEAT 6 has 8 + 8 names and 8 + 8 words: 32 texts, in batches of 5 that is 7 requests.
    assert sorted(len(request["body"]["input"]) for request in server.seen) == [2, 5, 5, 5, 5, 5, 5]
    answers = pl.read_parquet(tmp_path / "run" / "responses.parquet")
    assert answers.height == 32
    assert all(row["embedding"] == vector(row["stimulus"]) for row in answers.iter_rows(named=True))
