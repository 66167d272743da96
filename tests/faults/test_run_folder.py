"""A run folder that cannot be written, was left by a killed process, or is held by another one."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import polars as pl
import pytest

from faults.tiny_study import tiny_study
from portrayal import flow
from portrayal.cli import main
from portrayal.errors import PortrayalError
from portrayal.flow import demo
from portrayal.recorder.ledger import Ledger
from portrayal.reporting.page import files
from portrayal.run.folder import Run, locked

ENCODER = """
import pathlib
def embed(text):
    print("thinking about", text)
    with pathlib.Path(__file__).with_name("asked.log").open("a") as log:
        log.write(text + "\\n")
    return [ord(text) - 90.5, 7.0 - (ord(text) % 5), 1.0]
"""


def write_study(folder: Path, name: str = "mine", version: str = "", last: str = "h") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "tiny_encoder.py").write_text(ENCODER)
    path = folder / "study.toml"
    path.write_text(tiny_study("python:tiny_encoder:embed", f'version = "{version}"', name=name, last=last))
    return path


def asked(folder: Path) -> int:
    log = folder / "asked.log"
    return len(log.read_text().splitlines()) if log.exists() else 0


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    said = capsys.readouterr()
    return int(ended.value.code or 0), said.out, said.err


@pytest.fixture(autouse=True)
def fresh_module(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget the encoder of the test before: it wrote into another folder."""
    import sys

    monkeypatch.delitem(sys.modules, "tiny_encoder", raising=False)
    monkeypatch.setattr(sys, "path", list(sys.path))


@pytest.mark.parametrize("out", ["file", "file/below"])
def test_a_run_folder_that_is_a_file_is_one_line(tmp_path: Path, capsys, out: str) -> None:
    (tmp_path / "file").touch()
    code, said, error = run(capsys, "audit", write_study(tmp_path), "--out", tmp_path / out)
    assert (code, said) == (2, "")
    assert "Expected a folder" in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    "fault", [OSError(28, "No space left on device"), sqlite3.OperationalError("database or disk is full")]
)
def test_a_full_disk_is_one_line_and_exit_2(tmp_path: Path, capsys, monkeypatch, fault: Exception) -> None:
    def full(*arguments: object) -> None:
        raise fault

    monkeypatch.setattr(Ledger, "plan", full)
    code, said, error = run(capsys, "audit", write_study(tmp_path), "--out", tmp_path / "run", "--quiet")
    assert (code, said) == (2, "")
    assert str(fault) in error
    assert error.count("\n") == 1


def test_the_run_is_held_until_the_report_is_written(tmp_path: Path, monkeypatch) -> None:
    folder = tmp_path / "run"

    def second_process(*arguments: object) -> Path:
        with pytest.raises(PortrayalError, match="is working on"), locked(Run(folder), patience=0):
            pass
        return folder / "report.html"

    monkeypatch.setattr(files, "report_of", second_process)
    assert flow.audit(write_study(tmp_path), folder, quiet=True).report == folder / "report.html"


def test_a_faulty_study_leaves_an_earlier_run_as_it_was(tmp_path: Path) -> None:
    study, folder = write_study(tmp_path), tmp_path / "run"
    flow.audit(study, folder, quiet=True)
    before = (folder / "study.toml").read_bytes()
    study.write_text(study.read_text().replace("python:", "pyton:"))
    with pytest.raises(PortrayalError, match="no system"):
        flow.audit(study, folder, quiet=True)
    assert (folder / "study.toml").read_bytes() == before
    flow.measure(folder)


@pytest.mark.parametrize(
    "left", [(), (".portrayal",), (".portrayal", "study.toml", "stimuli.parquet", "ledger.sqlite.part")]
)
def test_a_run_killed_while_its_folder_was_made_goes_on(tmp_path: Path, capsys, left: tuple[str, ...]) -> None:
    """Whatever subset of the files a kill left, the same command finishes the run; the mark is always the first of them."""
    study, folder = write_study(tmp_path), tmp_path / "run"
    folder.mkdir()
    written = {"study.toml": study.read_bytes(), ".portrayal": b'{"holds": "run", "files": {}}'}
    for name in left:
        (folder / name).write_bytes(written.get(name, b""))
    code, said, _ = run(capsys, "status", folder)
    assert (code, said) == (2, "")
    assert run(capsys, "audit", study, "--out", folder, "--quiet")[0] == 0
    assert asked(tmp_path) == 8


def test_auditing_twice_asks_nothing_twice_and_a_new_name_keeps_the_answers(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    flow.audit(write_study(tmp_path), folder, quiet=True)
    first = pl.read_parquet(folder / "results.parquet")
    flow.audit(write_study(tmp_path), folder, quiet=True)
    assert pl.read_parquet(folder / "results.parquet").equals(first)
    flow.audit(write_study(tmp_path, name="renamed"), folder, quiet=True)
    assert asked(tmp_path) == 8
    assert pl.read_parquet(folder / "results.parquet")["system"].unique().to_list() == ["renamed"]
    flow.audit(write_study(tmp_path, last="i"), folder, quiet=True)
    assert asked(tmp_path) == 9
    flow.audit(write_study(tmp_path, version="2"), folder, quiet=True)
    assert asked(tmp_path) == 17


def test_status_changes_nothing_in_the_folder(tmp_path: Path, capsys) -> None:
    folder = tmp_path / "run"
    flow.audit(write_study(tmp_path), folder, quiet=True)
    before = {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in folder.rglob("*")}
    code, said, _ = run(capsys, "status", folder)
    assert code == 0
    assert "not recording" in said
    assert {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in folder.rglob("*")} == before


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('parameters = { api_key = "sk-very-secret" }', "'api_key' seems to hold a credential"),
        ('parameters = { body = { token = "sk-very-secret" } }', "'token' seems to hold a credential"),
    ],
)
def test_a_credential_in_a_study_is_refused_and_not_repeated(tmp_path: Path, capsys, line: str, message: str) -> None:
    study = write_study(tmp_path)
    study.write_text(study.read_text().replace('use = "python', f'{line}\nuse = "python'))
    code, _, said = run(capsys, "audit", study, "--out", tmp_path / "run")
    assert code == 2
    assert message in said
    assert "sk-very-secret" not in said
    assert not (tmp_path / "run").exists()


def test_a_login_in_an_address_is_refused(tmp_path: Path, capsys) -> None:
    study = write_study(tmp_path)
    study.write_text(study.read_text().replace("python:tiny_encoder:embed", "https://me:sk-very-secret@host/embed"))
    code, _, said = run(capsys, "audit", study, "--out", tmp_path / "run")
    assert code == 2
    assert "holds a login" in said
    assert "sk-very-secret" not in said


def test_plan_counts_the_questions_an_earlier_try_answered_by_key(tmp_path: Path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    flow.audit(write_study(tmp_path), quiet=True)
    assert "in all 0 calls" in run(capsys, "plan", write_study(tmp_path, name="renamed"))[1]
    assert "in all 1 calls" in run(capsys, "plan", write_study(tmp_path, last="i"))[1]
    assert "in all 8 calls" in run(capsys, "plan", write_study(tmp_path, version="2"))[1]


def test_an_interrupted_recording_is_exit_130_and_stops_the_demonstration(tmp_path: Path, capsys, monkeypatch) -> None:
    study, folder = write_study(tmp_path), tmp_path / "run"
    flow.audit(study, folder, quiet=True)
    interrupted = flow.Recorded(Run(folder), [], interrupted=True)
    monkeypatch.setattr(flow, "record_again", lambda *arguments: interrupted)
    monkeypatch.setattr(flow, "record", lambda *arguments: interrupted)
    code, _, error = run(capsys, "record", folder)
    assert code == 130
    assert "run the same command again" in error
    with pytest.raises(KeyboardInterrupt):
        demo.run_demo(tmp_path / "demo", quiet=True)


def test_stdout_carries_only_the_answer_and_a_name_is_no_markup(tmp_path: Path, capsys) -> None:
    study = write_study(tmp_path, name="mine [/b] <blink>")
    code, said, error = run(capsys, "audit", study, "--out", tmp_path / "run")
    assert code == 0
    assert said.strip() == str(tmp_path / "run" / "report.html")
    assert "thinking about a" in error  # what the function prints is no answer of ours
    assert "<blink>" not in (tmp_path / "run" / "report.html").read_text()


def test_a_manifest_is_whole_or_absent(tmp_path: Path) -> None:
    """A kill in the middle of writing leaves the old file; the part is written over by the next try."""
    study, folder = write_study(tmp_path), tmp_path / "run"
    flow.audit(study, folder, quiet=True)
    (folder / "manifest.json.part").write_text('{"half')
    flow.audit(study, folder, quiet=True)
    assert json.loads((folder / "manifest.json").read_text())["study"] == "tiny"
    assert not list(folder.glob("*.part"))
