"""A key planted in every way: it is refused where a study holds it, and found nowhere where a service echoes it."""

from __future__ import annotations

import base64
import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.parse import quote

import polars as pl
import pytest

from faults.tiny_study import tiny_study
from portrayal import flow
from portrayal.cli import main
from portrayal.edges import secrets
from portrayal.edges.secrets import hidden, hidden_bytes, looks_like_key, read_secrets_file, remember
from portrayal.errors import PortrayalError
from portrayal.recorder.ledger import Ledger
from portrayal.run.recording import RecordingProgress
from portrayal.study.study_file import make_study

KEY = "Zq7/x+9Lm2Rt4Vb8Kd1W"
HEX = "a3f5c2d9e8b74f5c92d9e8b7a6f5c2d1"


@pytest.fixture(autouse=True)
def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Begin and end every test without a known secret."""
    monkeypatch.setattr(secrets, "_taken", set())
    monkeypatch.setattr(secrets, "_from_file", {})
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "leaky", raising=False)


def write_study(folder: Path, use: str, line: str = "", top: str = "") -> Path:
    path = folder / "study.toml"
    path.write_text(tiny_study(use, line, top))
    return path


def run(capfd: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    said = capfd.readouterr()
    return int(ended.value.code or 0), said.out + said.err


def forms(key: str) -> list[str]:
    packed = base64.b64encode(key.encode()).decode().rstrip("=")
    return [key, quote(key, safe=""), packed, json.dumps(key)[1:-1]]


def found_in(folder: Path, key: str = KEY) -> list[str]:
    """Return the files below a folder that hold the key, packed tables unpacked."""
    found = []
    for path in (path for path in folder.rglob("*") if path.is_file()):
        text = path.read_bytes().decode("latin1")
        if path.suffix == ".parquet":
            text += json.dumps(pl.read_parquet(path).to_dicts(), default=str, ensure_ascii=False)
        found += [path.name for form in forms(key) if form in text]
    return found


# In the study ------------------------------------------------------------------------------------------------------

WAYS = {
    "a program's flag": ("command:prog --api-key {key}", "", ""),
    "a program's flag with =": ("command:prog --token={key}", "", ""),
    "a program's bare word": ("command:prog {hex}", "", ""),
    "a path": ("https://host/hooks/{hex}", "", ""),
    "?code=": ("https://host/tag?code=abc", "", ""),
    "?api_key=": ("https://host/tag?api_key=abc", "", ""),
    "a login": ("https://me:abc@host/tag", "", ""),
    "body auth": ("https://host/", 'parameters = {{ body = {{ auth = "abc" }} }}', ""),
    "body pat": ("https://host/", 'parameters = {{ body = {{ pat = "abc" }} }}', ""),
    "body subscription_key": ("https://host/", 'parameters = {{ body = {{ subscription_key = "abc" }} }}', ""),
    "body of any name": ("https://host/", 'parameters = {{ body = {{ x = ["{hex}"] }} }}', ""),
    "X-Auth": ("https://host/", 'parameters = {{ headers = {{ X-Auth = "abc" }} }}', ""),
    "a header of any name": ("https://host/", 'parameters = {{ headers = {{ X-Id = "{hex}" }} }}', ""),
    "beside a variable": ("https://host/", 'parameters = {{ headers = {{ X-Auth = "{hex}$NAME" }} }}', ""),
    "a query": ("https://host/", 'parameters = {{ query = {{ code = "{hex}" }} }}', ""),
    "api_key": ("https://host/", 'parameters = {{ api_key = "abc" }}', ""),
    "the version": ("https://host/", 'version = "sk-live-{hex}"', ""),
    "a parameter's name": ("https://host/", 'parameters = {{ body = {{ {hex} = 1 }} }}', ""),
    "the study's top": ("https://host/", "", 'note = "AKIAIOSFODNN7EXAMPLE"'),
    "a comment": ("https://host/", "", "# my key is {hex}"),
    "a private key": ("https://host/", 'parameters = {{ body = "-----BEGIN PRIVATE KEY-----" }}', ""),
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("command", ["audit", "plan"])
def test_a_key_in_a_study_is_one_line_that_does_not_repeat_it(way: str, command: str, tmp_path: Path, capfd) -> None:
    use, line, top = (text.format(key=HEX, hex=HEX) for text in WAYS[way])
    study = write_study(tmp_path, use, line, top)
    arguments = ["--out", tmp_path / "run"] if command == "audit" else []
    code, said = run(capfd, command, study, *arguments)
    assert code == 2
    assert said.count("\n") == 1
    assert "credential" in said or "looks like a key" in said or "login" in said
    assert HEX not in said
    assert "'abc'" not in said
    assert not (tmp_path / "run").exists()


def test_what_is_no_key_passes() -> None:
    data = {
        "name": "words", "audit": "associations", "systems": [
            {"name": "a", "use": "openai", "kind": "encoder", "version": "2024-07-18",
             "parameters": {"model": "laion/CLIP-ViT-bigG-14-laion2B-39B-b160k", "most_tokens": 300, "prompt": "1",
                            "revision": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b"}},
            {"name": "b", "use": "https://host/v1/embed?model=all-MiniLM-L6-v2&api_key=$KEY", "parameters": {
                "headers": {"Authorization": "Bearer $TOKEN"}, "body": {"auth": "$AUTH", "text": "{content}"}}},
            {"name": "c", "use": "command:python model.py --api-key-env OPENAI_API_KEY --tokens 5"},
            {"name": "d", "use": "replay:9f86d081884c7d659a2feaa0c55ad015.csv"},
        ],
        "associations": {"tests": ["weat6"]},
    }  # fmt: skip
    assert len(make_study(data).systems) == 4
    data["systems"][0]["version"] = HEX
    with pytest.raises(PortrayalError, match="list it under not_secret"):
        make_study(data)
    assert make_study({**data, "not_secret": [HEX]}).systems[0].version == HEX


@pytest.mark.parametrize("text", ["GoogleNewsVectorsNegative300", "gpt-4o-mini-2024-07-18", "a photo of 3 people in 1990", "sk-learn",
                                  "img/9f86d081884c7d659a2f.jpg", "https://api.host.com/v1/chat/completions"])  # fmt: skip
def test_ordinary_words_do_not_look_like_keys(text: str) -> None:
    assert not looks_like_key(text)


# From a service ----------------------------------------------------------------------------------------------------


class Echo(BaseHTTPRequestHandler):
    """Answers with all it was sent, in every form, under the status its path names."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        held = forms(KEY)
        body = json.dumps(
            {"vector": [1.0, len(self.path)], "version": f"v1 {KEY}", "echo": held, "sent": dict(self.headers)}
        )
        self.send_response(int(self.path.strip("/").split("?")[0]))
        self.send_header("content-type", "application/json")
        self.send_header("retry-after", "0")
        self.end_headers()
        self.wfile.write((body if "bad" not in self.path else f"<p>{held}").encode())

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), Echo)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("status", ["200", "200?bad", "400", "401", "402", "404", "429", "500"])
def test_a_key_that_a_service_echoes_is_found_nowhere(
    status: str, address: str, tmp_path: Path, capfd, monkeypatch
) -> None:
    monkeypatch.setenv("PLANTED", KEY)  # a name that says nothing
    parameters = (
        'parameters = { headers = { Authorization = "Bearer $PLANTED" }, query = { k = "$PLANTED" },'
        ' body = { pat = "$PLANTED", text = "{content}" },'
        ' answer = "vector", model_version = "version" }\nlimits = { retries = 0, concurrency = 1 }'
    )
    study = write_study(tmp_path, f"{address}/{status}", parameters)
    said = run(capfd, "audit", study, "--out", tmp_path / "run")[1]
    for command in ("status", "measure", "report", "record"):
        said += run(capfd, command, tmp_path / "run")[1]
    assert found_in(tmp_path / "run") == []
    assert [form for form in forms(KEY) if form in said] == []
    with Ledger.reading(tmp_path / "run" / "ledger.sqlite") as ledger:
        entries = list(ledger.entries())
    if status == "200":
        assert {entry.state for entry in entries} == {"done"}
        assert all(b"(withheld)" in entry.answer.raw for entry in entries if entry.answer)


LEAKY = """
import os, sys
def f(text):
    key = os.environ["PLANTED_KEY"]
    print("using", key)
    if text == "a":
        raise RuntimeError("cannot log in with " + key)
    return {"answer": [1.0, float(ord(text))], "version": key}
"""
PROGRAM = """
import json, os, sys
key = os.environ["PLANTED_KEY"]
for line in sys.stdin:
    question = json.loads(line)
    if question["content"] == "a":
        print("loading with", key, flush=True)
    elif question["content"] == "b":
        print(json.dumps({"id": question["id"], "error": "not let in with " + key}), flush=True)
    else:
        print(json.dumps({"id": question["id"], "answer": [1.0, 2.0], "version": key}), flush=True)
"""


@pytest.mark.parametrize("use", ["python:leaky:f", f"command:{sys.executable} leaky_program.py"])
def test_a_key_that_code_prints_is_found_nowhere(use: str, tmp_path: Path, capsys, monkeypatch) -> None:
    monkeypatch.setenv("PLANTED_KEY", KEY.replace("/", "x").replace("+", "y"))
    key = KEY.replace("/", "x").replace("+", "y")
    (tmp_path / "leaky.py").write_text(LEAKY)
    (tmp_path / "leaky_program.py").write_text(PROGRAM)
    study = write_study(tmp_path, use)
    with pytest.raises(SystemExit):
        main(["audit", str(study), "--out", str(tmp_path / "run")])
    with pytest.raises(SystemExit):
        main(["status", str(tmp_path / "run")])
    said = capsys.readouterr()
    assert found_in(tmp_path / "run", key) == []
    assert key not in said.out + said.err
    assert "(withheld)" in said.out


def test_a_key_in_a_traceback_is_hidden_and_the_answers_are_named(tmp_path: Path, capfd, monkeypatch) -> None:
    remember(KEY)

    def broken(*arguments: object) -> None:
        raise ZeroDivisionError(f"with {KEY}")

    monkeypatch.setattr(flow, "existing_run", broken)
    code, said = run(capfd, "measure", tmp_path)
    assert code == 70
    assert "ZeroDivisionError: with (withheld)" in said
    assert "Every answer that came is safe" in said
    assert KEY not in said


def test_secrets_come_from_a_file_the_study_names(address: str, tmp_path: Path, capfd) -> None:
    (tmp_path / "keys.env").write_text(f"# mine\nexport PLANTED='{KEY}'\n")
    parameters = 'parameters = { headers = { X-Auth = "$PLANTED" }, answer = "vector" }'
    study = write_study(tmp_path, f"{address}/200", parameters, 'secrets_file = "keys.env"')
    code, said = run(capfd, "audit", study, "--out", tmp_path / "run")
    assert code == 0
    assert found_in(tmp_path / "run") == []
    assert KEY not in said
    (tmp_path / "keys.env").write_text(f"{KEY}\n")
    code, said = run(capfd, "audit", study, "--out", tmp_path / "run")
    assert code == 2
    assert "not of the form NAME=value" in said
    assert KEY not in said
    with pytest.raises(PortrayalError, match="cannot be read"):
        read_secrets_file(tmp_path / "gone.env")


@pytest.mark.parametrize("place", ["headers = { X-Auth = ", "query = { k = ", 'body = { text = "{content}", pat = '])
@pytest.mark.parametrize("source", ["environment", "file"])
def test_a_key_too_short_to_hide_is_refused_and_nobody_is_asked(
    place: str, source: str, tmp_path: Path, capfd, monkeypatch
) -> None:
    """A key of 7 characters cannot be told from a word, and would be written wherever a service echoes it."""
    if source == "file":
        (tmp_path / "keys.env").write_text("PLANTED=zq7x9lm\n")
    else:
        monkeypatch.setenv("PLANTED", "zq7x9lm")
    top = 'secrets_file = "keys.env"' if source == "file" else ""
    study = write_study(
        tmp_path, "http://127.0.0.1:9/", f'parameters = {{ {place}"$PLANTED" }}, answer = "vector" }}', top
    )
    code, said = run(capfd, "audit", study, "--out", tmp_path / "run")
    assert code == 2
    assert "PLANTED has 7 characters. Expected 8 or more" in said
    assert "zq7x9lm" not in said
    assert found_in(tmp_path / "run", "zq7x9lm") == []
    with Ledger.reading(tmp_path / "run" / "ledger.sqlite") as ledger:
        assert {entry.state for entry in ledger.entries()} == {"planned"}


def test_the_pattern_follows_the_environment_and_what_was_taken(monkeypatch) -> None:
    """It is kept from one answer to the next; a key that comes, changes or goes is noticed."""
    assert hidden("aZ3bY5cX7dW9e") == "aZ3bY5cX7dW9e"
    monkeypatch.setenv("MY_TOKEN", "aZ3bY5cX7dW9e")
    assert hidden("aZ3bY5cX7dW9e") == "(withheld)"
    monkeypatch.setenv("MY_TOKEN", "fZ3bY5cX7dW9g")
    assert hidden("aZ3bY5cX7dW9e fZ3bY5cX7dW9g") == "aZ3bY5cX7dW9e (withheld)"
    monkeypatch.delenv("MY_TOKEN")
    assert hidden("fZ3bY5cX7dW9g") == "fZ3bY5cX7dW9g"
    remember("some words")
    assert hidden("some words") == "(withheld)"


def test_what_is_hidden() -> None:
    remember(KEY)
    remember("short")
    for form in forms(KEY):
        assert hidden(f"<{form}>") == "<(withheld)>"
    assert hidden("short") == "short"  # too short to be told from a word
    raw = b"\xff\xfe" + KEY.encode() + b"\x00"
    assert hidden_bytes(raw) == b"\xff\xfe(withheld)\x00"
    assert hidden_bytes(b"\xff\xfe plain") == b"\xff\xfe plain"


def test_a_waiting_line_holds_no_key(capfd) -> None:
    remember(KEY)
    with RecordingProgress({"mine": 1}, quiet=True) as progress:
        progress.tell(f"mine: waits, because {KEY}\x1b[2J")
    said = capfd.readouterr().err
    assert KEY not in said
    assert "\x1b" not in said
