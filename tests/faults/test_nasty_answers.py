"""No answer can break a run: whatever a system of any kind returns is stored, read or unreadable, and measured around."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from portrayal import flow
from portrayal.recorder.ledger import Ledger, Planned
from portrayal.recorder.recorder import Recorder
from portrayal.recorder.responses import read_responses
from portrayal.systems.core.base import LARGEST_ANSWER, Answer, BaseSystem, Question
from portrayal.systems.core.readers import read_rows
from portrayal.systems.core.registry import open_system
from portrayal.systems.core.settings import SystemSettings

KINDS = ("tagger", "captioner", "encoder", "ranker", "generator")
GOOD = {
    "tagger": b'["person"]',
    "captioner": b'"a person"',
    "encoder": b"[0.5, 1.0]",
    "ranker": b'["doc"]',
    "generator": b'["person"]',
}
NASTY = {
    "lone surrogate": rb'"\ud83d"',
    "lone surrogates in a list": rb'["\ud83d", "a\udc00"]',
    "surrogate in a row": rb'[{"caption": "\ud83d", "tag": "\ud83d", "doc": "\ud83d", "label": "\ud83d"}]',
    "NaN": b"[NaN]",
    "NaN score": b'[["a", NaN]]',
    "infinity": b"[Infinity, 1]",
    "1e999": b"[1e999, 2]",
    "infinite score": b'[["a", 1e999]]',
    "length that overflows": b"[1e308, 1e308]",
    "open brackets": b"[" * 1500,
    "nesting": b"[" * 1500 + b"]" * 1500,
    "nesting without end": b"[" * 200_000,
    "nested objects": b'{"a":' * 900 + b"1" + b"}" * 900,
    "rank 1e30": b'[{"doc": "a", "rank": 1e30}]',
    "rank infinite": b'[{"doc": "a", "rank": 1e999}]',
    "rank of words": b'[{"doc": "a", "rank": "first"}]',
    "empty": b"",
    "spaces": b"   ",
    "null": b"null",
    "number": b"7",
    "long number": b"1" * 5000,
    "truth": b"true",
    "object": b"{}",
    "wrong types": b'[{"caption": {"a": []}, "tag": [1], "doc": {}, "label": null}]',
    "nulls": b"[null, null]",
    "mixed": b'["a", 1, null, ["b", 2], {"tag": "c"}]',
    "duplicate keys": b'{"answer": ["a"], "answer": ["b"]}',
    "duplicate keys in a row": b'[{"tag": "a", "tag": "b"}]',
    "no vector": b'{"embedding": []}',
    "not unicode": b"\xff\xfe\xff",
    "zero byte": b'"\x00"',
    "cut": b'["a", "b',
    "two values": b'["a"] ["b"]',
    "too large": b'"' + b"x" * (LARGEST_ANSWER + 10) + b'"',
}


@dataclass
class Saying(BaseSystem):
    """Answers a question with the answer under its content."""

    answers: Mapping[str, Any] = field(default_factory=dict)

    async def ask(self, questions: Sequence[Question]) -> list[Any]:
        return [self.answers[question.content] for question in questions]


def record(folder: Path, system: Any, contents: Sequence[str], again: str = "") -> list[Any]:
    """Record the contents into the folder's ledger and return its entries."""
    questions = {content: Question(content, "text", content, content) for content in contents}
    with Ledger(folder / "ledger.sqlite") as ledger:
        ledger.plan(
            Planned(key, system.name, "x", "", dict(system.parameters), key, 0, system.kind, system.reader)
            for key in questions
        )
        if again:
            ledger.find_damaged()
            ledger.ask_again(again)
        asyncio.run(Recorder(ledger).record([(system, questions)]))
        return list(ledger.entries())


def read(entries: Sequence[Any], kind: str, folder: Path) -> dict[str, str]:
    """Read the entries into the Responses table, write it, and return the status of each stimulus."""
    stimuli = pl.DataFrame([{"stimulus": entry.key, "hash": entry.hash} for entry in entries])
    table = read_responses(entries, stimuli, kind)
    table.write_parquet(folder / "responses.parquet")
    numbers = [name for name, dtype in table.schema.items() if dtype == pl.Float64]
    assert all(table[name].drop_nulls().is_finite().all() for name in numbers)
    return dict(table.select("stimulus", "status").iter_rows())


def check(folder: Path, entries: Sequence[Any], kind: str, bad: set[str]) -> None:
    """Every question has an outcome, the good answers are done, and the ledger agrees with the table."""
    states = {entry.key: entry.state for entry in entries}
    assert {key for key, state in states.items() if key not in bad} <= {
        key for key, state in states.items() if state == "done"
    }
    assert set(states.values()) <= {"done", "unreadable"}
    status = read(entries, kind, folder)
    for key, state in states.items():
        assert (state == "unreadable") == (status[key] == "unparsable"), (key, state, status[key])


@pytest.mark.parametrize("kind", KINDS)
def test_any_system(tmp_path: Path, kind: str) -> None:
    said = {name: Answer(raw) for name, raw in NASTY.items()} | {"good": Answer(GOOD[kind])}
    # A generator that may be asked live goes through its guard; recorded answers do not.
    system = Saying("mine", kind, "replay:x", answers=said)
    entries = record(tmp_path, system, list(said))
    check(tmp_path, entries, kind, set(NASTY))
    for entry in entries:
        raw = said[entry.key].raw
        assert entry.answer.raw == (raw if len(raw) <= LARGEST_ANSWER else raw[: 64 * 1024])
    mended = Saying("mine", kind, "replay:x", answers=dict.fromkeys(said, Answer(GOOD[kind])))
    assert {entry.state for entry in record(tmp_path, mended, list(said), "unreadable")} == {"done"}


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    class Endpoint(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            content = json.loads(self.rfile.read(int(self.headers["content-length"])))["content"]
            body = NASTY.get(content) or GOOD.get(content, b"")
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments: Any) -> None:
            """Keep the test's output clean."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("kind", KINDS[:-1])
def test_an_endpoint(tmp_path: Path, kind: str, endpoint: str) -> None:
    system = open_system(SystemSettings(name="mine", use=endpoint), tmp_path, kind)
    entries = record(tmp_path, system, [*NASTY, kind])
    check(tmp_path, entries, kind, set(NASTY))


PROGRAM = """
import json, sys
answers = {name: bytes.fromhex(text) for name, text in json.load(open("answers.json")).items()}
for line in sys.stdin:
    question = json.loads(line)
    raw = answers[question["content"]]
    begun = b'{"id": ' + json.dumps(question["id"]).encode() + b', "answer": '
    sys.stdout.buffer.write(begun + raw + b"}\\n")
    sys.stdout.buffer.flush()
"""


@pytest.mark.parametrize("kind", ["captioner", "encoder"])
def test_a_program(tmp_path: Path, kind: str) -> None:
    """A line with the right id is an answer, however bad, and of no other question."""
    answers = {**NASTY, "good": GOOD[kind]}
    (tmp_path / "answers.json").write_text(json.dumps({name: raw.hex() for name, raw in answers.items()}))
    (tmp_path / "program.py").write_text(PROGRAM)
    use = f"command:{sys.executable} program.py"
    entries = record(tmp_path, open_system(SystemSettings(name="mine", use=use), tmp_path, kind), list(answers))
    check(tmp_path, entries, kind, set(NASTY))
    for entry in entries:
        begun = entry.answer.raw.partition(b'"answer": ')[2]
        assert begun[:1000] in answers[entry.key] + b"}"


FUNCTION = """
import math
class Rude:
    def __repr__(self): raise RuntimeError("no")
    __str__ = __repr__
circle = []; circle.append(circle)
deep = []
for _ in range(5000): deep = [deep]
SAID = {
    "surrogate": "\\ud83d", "surrogates": ["\\ud83d"], "nan": [math.nan], "inf": [math.inf], "object": object(),
    "bytes": b"abc", "set": {1, 2}, "circle": circle, "deep": deep, "rude": Rude(), "rude list": [Rude()],
    "keys": {(1, 2): 3}, "huge": "x" * 17_000_000, "function": len, "number": 10 ** 5000, "none": None,
    "cost nan": {"answer": None, "cost": math.nan}, "cost inf": {"answer": None, "cost": math.inf},
    "cost negative": {"answer": None, "cost": -5}, "cost words": {"answer": None, "cost": "much"},
    "version": {"answer": None, "version": "\\ud83d"}, "versions": {"answer": None, "version": ["x"] * 1000},
}
def answer(text):
    return SAID[text] if text in SAID else GOOD
"""
SAID = [
    *(
        [
            "surrogate",
            "surrogates",
            "nan",
            "inf",
            "object",
            "bytes",
            "set",
            "circle",
            "deep",
            "rude",
            "keys",
            "huge",
            "function",
            "number",
            "none",
        ]
    ),
    *("version", "versions", "rude list", "cost nan", "cost inf", "cost negative", "cost words"),
]


@pytest.mark.parametrize("kind", KINDS[:-1])
def test_a_function(tmp_path: Path, kind: str) -> None:
    module = f"nasty_{kind}"
    (tmp_path / f"{module}.py").write_text(FUNCTION + f"GOOD = {json.loads(GOOD[kind])!r}\n")
    settings = SystemSettings(name="mine", use=f"python:{module}:answer", limits={"price": 0.25})
    entries = record(tmp_path, open_system(settings, tmp_path, kind), [*SAID, "good"])
    check(tmp_path, entries, kind, set(SAID))
    assert {entry.answer.cost for entry in entries} == {0.25}


@pytest.mark.parametrize(
    "error", [ValueError("\ud83d"), RuntimeError("x" * 100_000), KeyError(("\udc00",)), RecursionError("deep")]
)
def test_an_error_in_any_words_is_written_down(tmp_path: Path, error: Exception) -> None:
    system = Saying("mine", "tagger", "x", answers={"a": error, "b": Answer(b'["person"]')})
    entries = record(tmp_path, system, ["a", "b"])
    assert [entry.state for entry in entries] == ["failed", "done"]
    assert len(entries[0].error) <= 2000


@pytest.mark.parametrize("cost", [float("nan"), float("inf"), -1.0, "much", None, 10**400])
@pytest.mark.parametrize("version", ["\ud83d", 7, None, "x" * 10_000])
def test_costs_are_money_and_versions_are_text(tmp_path: Path, cost: Any, version: Any) -> None:
    system = Saying("mine", "tagger", "x", answers={"a": Answer(b'["person"]', version=version, cost=cost)})
    (entry,) = record(tmp_path, system, ["a"])
    assert (entry.state, entry.answer.cost) == ("done", 0.0)
    assert len(entry.answer.version) <= 200
    with Ledger.reading(tmp_path / "ledger.sqlite") as ledger:
        assert ledger.spent() == 0.0


def test_what_is_no_bytes_is_kept_as_words(tmp_path: Path) -> None:
    system = Saying("mine", "tagger", "x", answers={"a": Answer("text"), "b": Answer(None)})
    entries = record(tmp_path, system, ["a", "b"])
    assert [entry.state for entry in entries] == ["unreadable", "unreadable"]
    assert entries[0].answer.raw == b"'text'"


CHAT = {
    "usage 1e999": {"usage": {"prompt_tokens": 1e999, "completion_tokens": 1}},
    "usage negative": {"usage": {"prompt_tokens": -1e12}},
    "usage words": {"usage": {"prompt_tokens": "many"}},
    "usage large": {"usage": {"prompt_tokens": 10**400}},
    "usage list": {"usage": [1]},
    "model": {"model": {"a": 1}},
    "model surrogate": {"model": "\ud83d"},
}


@pytest.mark.parametrize("name", CHAT)
def test_a_models_odd_usage_costs_no_answer(name: str) -> None:
    from portrayal.recorder.ledger import storable

    settings = SystemSettings(
        name="mine", use="openai", parameters={"model": "m", "dollars_per_million_input": 1.0}, limits={"price": 0.5}
    )
    system = open_system(settings, Path(), "tagger")
    body = {"model": "m", "choices": [{"message": {"content": '["a"]'}}], **CHAT[name]}
    answer = storable(system._answer(json.dumps(body).encode()), 0.5)
    assert answer.cost in (0.5, 0.0)
    answer.version.encode()


@pytest.mark.parametrize("words", ["[" * 1500, "[" * 100_000, "[" * 1500 + "]" * 1500, '[{"tag": "a"}]', "\ud83d, a"])
def test_a_models_odd_words(tmp_path: Path, words: str) -> None:
    body = json.dumps({"choices": [{"message": {"content": words}}]}).encode()
    system = Saying("mine", "tagger", "x", reader="openai", answers={"a": Answer(body)})
    entries = record(tmp_path, system, ["a"])
    check(tmp_path, entries, "tagger", {"a"})


@pytest.mark.parametrize("inside", ["", '"a"'])
def test_a_models_nested_words_end_no_reader(inside: str) -> None:
    """1,500 levels are more than the reader of JSON goes into; the words are split as a list without brackets."""
    body = json.dumps({"choices": [{"message": {"content": "[" * 1500 + inside + "]" * 1500}}]}).encode()
    assert [row["tag"] for row in read_rows("openai", Answer(body), "tagger", {})] == ["a"] * bool(inside)


def test_a_flipped_bit_is_found_when_reading_and_can_be_asked_again(tmp_path: Path) -> None:
    system = Saying("mine", "tagger", "x", answers={key: Answer(b'["person"]') for key in "abc"})
    record(tmp_path, system, "abc")
    with sqlite3.connect(tmp_path / "ledger.sqlite") as connection:
        connection.execute("UPDATE questions SET raw = ? WHERE key = 'b'", (b'["qerson"]',))
    connection.close()
    with Ledger.reading(tmp_path / "ledger.sqlite") as ledger:
        status = read(list(ledger.entries()), "tagger", tmp_path)
    assert status == {"a": "answered", "b": "unparsable", "c": "answered"}
    reasons = dict(pl.read_parquet(tmp_path / "responses.parquet").select("stimulus", "reason").iter_rows())
    assert "their hash is another" in reasons["b"]
    entries = record(tmp_path, system, "abc", "unreadable")
    assert read(entries, "tagger", tmp_path)["b"] == "answered"


def test_a_ledger_from_before_the_hashes_is_read_and_completed(tmp_path: Path) -> None:
    system = Saying("mine", "tagger", "x", answers={"a": Answer(b'["person"]')})
    record(tmp_path, system, ["a"])
    with sqlite3.connect(tmp_path / "ledger.sqlite") as connection:
        connection.execute("ALTER TABLE questions DROP COLUMN sha256")
    connection.close()
    with Ledger.reading(tmp_path / "ledger.sqlite") as ledger:
        assert read(list(ledger.entries()), "tagger", tmp_path) == {"a": "answered"}
    assert [entry.state for entry in record(tmp_path, system, ["a"])] == ["done"]


STUDY = """
name = "nasty"
audit = "associations"
[[systems]]
name = "mine"
use = "python:bad_vectors:embed"
[associations]
tests = ["weat6"]
"""
ENCODER = """
import hashlib, math
ODD = {ODD}
asked = []
def embed(text):
    asked.append(text)
    if len(asked) <= len(ODD):
        return ODD[len(asked) - 1]
    digest = hashlib.sha256(text.encode()).digest()
    return [byte / 255 - 0.5 for byte in digest]
"""


def test_a_whole_audit_measures_around_bad_vectors(tmp_path: Path) -> None:
    odd = "[[math.nan] * 32, [math.inf] * 32, [1.0, 2.0], 'words', [1e308] * 32, {'embedding': []}, [0.0] * 32]"
    (tmp_path / "bad_vectors.py").write_text(ENCODER.replace("{ODD}", odd))
    (tmp_path / "study.toml").write_text(STUDY)
    page = flow.audit(tmp_path / "study.toml", tmp_path / "run", quiet=True).report
    assert page.exists()
    table = pl.read_parquet(tmp_path / "run" / "responses.parquet")
    assert table.filter(pl.col("status") == "unparsable").height == 7
    again = (tmp_path / "study.toml").read_text().replace("[[", "ask_unreadable_again = true\n[[", 1)
    (tmp_path / "study.toml").write_text(again)
    flow.audit(tmp_path / "study.toml", tmp_path / "run", quiet=True)
    table = pl.read_parquet(tmp_path / "run" / "responses.parquet")
    assert set(table["status"]) == {"answered"}
