"""A system that answers nothing: one line with the reason and the command that asks again, and exit code 1."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from portrayal.cli import main
from portrayal.run.folder import Run
from portrayal.run.status import states_table

STUDY = """
name = "silent"
audit = "associations"
{top}
[[systems]]
name = "mine"
use = "{use}"
limits = {{ concurrency = 1, retries = 0, timeout = 5 }}
{more}
[associations]
tests = ["weat6"]
"""
OTHER = """
[[systems]]
name = "other"
use = "python:silent_good:embed"
"""
GOOD = (
    "import hashlib\ndef embed(text):\n    return [byte - 128.5 for byte in hashlib.sha256(text.encode()).digest()]\n"
)


class Refusing(BaseHTTPRequestHandler):
    """Answers every question with the status in the address."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.server.asked.append(self.path)  # type: ignore[attr-defined]
        self.send_response(int(self.path[1:]))
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"no")

    def log_message(self, *arguments: Any) -> None:
        """Keep the test's output clean."""


@pytest.fixture(scope="module")
def server() -> Iterator[ThreadingHTTPServer]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Refusing)
    server.daemon_threads = True
    server.asked = []  # type: ignore[attr-defined]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def run(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, list[str]]:
    with pytest.raises(SystemExit) as stop:
        main([str(word) for word in words])
    said = capsys.readouterr()
    named = "with your rights"  # code of a study is named before it runs
    return int(stop.value.code or 0), said.out, [line for line in said.err.splitlines() if named not in line]


def write(folder: Path, use: str, more: str = "", top: str = "") -> tuple[Path, Path]:
    (folder / "silent_good.py").write_text(GOOD)
    (folder / "study.toml").write_text(STUDY.format(use=use, more=more, top=top))
    return folder / "study.toml", folder / "run"


# status: states, and what the command that asks again must name
SERVICES = {
    400: ({"failed": 32}, "retry {} --failed", "HTTP 400: no"),
    401: ({"planned": 32}, "retry {}", "HTTP 401: no"),
    403: ({"planned": 32}, "retry {}", "HTTP 403: no"),
    404: ({"planned": 32}, "retry {}", "HTTP 404: no"),
    500: ({"unknown": 32}, "retry {} --unknown", "HTTP 500: no"),
    200: ({"unreadable": 32}, "retry {} --failed", "not JSON"),
}


@pytest.mark.parametrize("status", SERVICES)
def test_a_service_that_answers_nothing(tmp_path: Path, capsys, server, status: int) -> None:
    states, again, reason = SERVICES[status]
    study, folder = write(tmp_path, f"http://127.0.0.1:{server.server_port}/{status}")
    code, out, said = run(capsys, "audit", study, "--out", folder, "-q")
    assert code == 1
    assert out.strip() == str(folder / "report.html")  # written all the same
    said = [line for line in said if line.startswith("mine: ")]
    assert len(said) == 1
    assert said[0].startswith("mine: no answer to any of 32 questions (32 ")
    assert reason in said[0]
    assert said[0].endswith(f"ask again: portrayal {again.format(folder)}")
    row = states_table(Run(folder)).row(0, named=True)
    assert {name: row[name] for name in states} == states
    # The study is mended; the command the line gives asks every question.
    (folder / "study.toml").write_text(
        (folder / "study.toml").read_text().replace(f"/{status}", "/200").replace("http", "http")
    )
    asked = len(server.asked)
    code, _, said = run(capsys, *said[0].split("portrayal ")[1].split())
    if status != 200:
        assert len(server.asked) == asked + 32
    assert code == 1  # /200 answers, but nothing that can be read
    assert any("32 unreadable" in line for line in said)
    assert not again.startswith("retry") or any(line.startswith("not measurable: ") for line in said)


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("def embed(text):\n    raise ValueError('no model')\n", "ValueError: no model"),
        ("def embed(text):\n    return 'hello'\n", "an encoder cannot answer"),
    ],
)
def test_a_function_that_never_answers_beside_one_that_does(tmp_path: Path, capsys, program, reason) -> None:
    module = f"silent_{abs(hash(program)) % 10**8}"
    (tmp_path / f"{module}.py").write_text(program)
    study, folder = write(tmp_path, f"python:{module}:embed", OTHER)
    code, out, said = run(capsys, "audit", study, "--out", folder)
    assert code == 1
    assert out.strip() == str(folder / "report.html")
    lines = [line for line in said if "no answer to any" in line]
    assert len(lines) == 1
    assert reason in lines[0]
    code, _, said = run(capsys, "audit", study, "--out", folder, "-q")  # nothing is asked, and it is still said
    assert code == 1
    assert [line for line in said if line.startswith("mine: ")] == lines
    assert any(line.startswith("not measurable: Nothing can be said of mine") for line in said)


def test_a_program_that_only_echoes_is_stopped_and_named(tmp_path: Path, capsys) -> None:
    study, folder = write(tmp_path, "command:cat")
    code, _, said = run(capsys, "audit", study, "--out", folder, "-q")
    assert code == 1
    assert [line.split(": ")[0] for line in said] == ["mine", "not measurable"]
    assert "29 planned, 3 unknown" in said[0]
    assert "beside id it may have answer" in said[0]


def test_what_failed_is_asked_again_by_the_command(tmp_path: Path, capsys) -> None:
    (tmp_path / "broken_once.py").write_text("def embed(text):\n    raise ValueError('no model')\n")
    study, folder = write(tmp_path, "python:broken_once:embed")
    code, _, said = run(capsys, "audit", study, "--out", folder, "-q")
    assert code == 1
    (tmp_path / "broken_once.py").write_text(GOOD)
    del sys.modules["broken_once"]
    code, out, _ = run(capsys, *said[0].split("portrayal ")[1].split(), "-q")
    assert code == 0
    assert "ask again" not in out  # of the status it prints
    assert states_table(Run(folder))["done"].sum() == 32


def test_the_status_names_the_command(tmp_path: Path, capsys) -> None:
    (tmp_path / "half_broken.py").write_text(
        "asked = []\n"
        + GOOD.replace("return", "asked.append(text)\n    if len(asked) % 2: raise ValueError('odd')\n    return")
    )
    study, folder = write(tmp_path, "python:half_broken:embed")
    with pytest.raises(SystemExit):
        main(["audit", str(study), "--out", str(folder), "-q"])
    capsys.readouterr()
    _, out, _ = run(capsys, "status", folder)
    assert out.strip().endswith(f"ask again: portrayal retry {folder} --failed")


def test_a_state_that_is_not_asked_again_is_refused(tmp_path: Path, capsys) -> None:
    study, folder = write(tmp_path, "python:silent_good:embed")
    code, _, said = run(capsys, "audit", study, "--out", folder, "--again", "faild")
    assert code == 2
    assert "Did you mean 'failed'" in said[0]
