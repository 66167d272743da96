"""A function or program whose source changed: its answers are told apart from new ones, and never mixed with them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from faults.tiny_study import tiny_study
from portrayal import flow
from portrayal.cli import main
from portrayal.errors import PortrayalError
from portrayal.systems.plugins.sources import source_of

FUNCTION = "from changing_helper import ONE\ndef f(text):\n    return [ONE, float(ord(text)), {number}]\n"
PROGRAM = """
import json, sys
for line in sys.stdin:
    question = json.loads(line)
    print(json.dumps({{"id": question["id"], "answer": [1.0, float(ord(question["content"])), {number}]}}), flush=True)
"""
USES = ["python:changing:f", f"command:{sys.executable} changing_program.py"]


@pytest.fixture(autouse=True)
def fresh_module(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    forget()


def forget() -> None:
    for name in ("changing", "changing_helper"):
        sys.modules.pop(name, None)


def write(folder: Path, use: str, number: float = 0.0, last: str = "h", version: str = "", helper: float = 1.0) -> Path:
    forget()
    (folder / "changing.py").write_text(FUNCTION.format(number=number))
    (folder / "changing_helper.py").write_text(f"ONE = {helper}\n")
    (folder / "changing_program.py").write_text(PROGRAM.format(number=number))
    (folder / "study.toml").write_text(tiny_study(use, f'version = "{version}"', last=last))
    return folder / "study.toml"


def answers(folder: Path) -> set[float]:
    """Return the third number of every vector: which source gave it."""
    import polars as pl

    table = pl.read_parquet(folder / "responses.parquet")
    return {vector[2] for vector in table["embedding"]}


@pytest.mark.parametrize("use", USES)
def test_a_changed_source_is_refused_where_it_would_be_mixed(use: str, tmp_path: Path) -> None:
    run = tmp_path / "run"
    flow.audit(write(tmp_path, use), run, quiet=True)
    before = json.loads((run / "manifest.json").read_text())["systems"][0]["source"]
    kept = (run / "study.toml").read_bytes()
    with pytest.raises(PortrayalError, match=r"changed since its 7 answers.*--again changed.*new `version`"):
        flow.audit(write(tmp_path, use, number=5.0, last="i"), run, quiet=True)  # a ninth question
    assert (run / "study.toml").read_bytes() == kept
    said: list[str] = []
    flow.audit(write(tmp_path, use, number=5.0), run, quiet=True, say=said.extend)  # nothing is left to be asked
    assert any("changed since its 8 answers" in line for line in said)
    assert json.loads((run / "manifest.json").read_text())["systems"][0]["source"] == before
    assert answers(run) == {0.0}


@pytest.mark.parametrize("use", USES)
def test_again_asks_all_of_it_and_a_new_version_begins_anew(use: str, tmp_path: Path) -> None:
    run = tmp_path / "run"
    flow.audit(write(tmp_path, use), run, quiet=True)
    before = json.loads((run / "manifest.json").read_text())["systems"][0]["source"]["sha256"]
    flow.audit(write(tmp_path, use, number=5.0, last="i"), run, quiet=True, again=["changed"])
    assert answers(run) == {5.0}
    assert json.loads((run / "manifest.json").read_text())["systems"][0]["source"]["sha256"] != before
    flow.audit(write(tmp_path, use, number=6.0, version="2"), run, quiet=True)
    assert answers(run) == {6.0}
    with pytest.raises(
        PortrayalError, match="changed since"
    ):  # back under the old name, whose answers are of another source
        flow.audit(write(tmp_path, use, number=6.0, last="j"), run, quiet=True)


def test_what_the_function_imports_from_the_folder_is_its_source(tmp_path: Path) -> None:
    write(tmp_path, USES[0])
    first = source_of(USES[0], tmp_path)
    write(tmp_path, USES[0], helper=2.0)
    second = source_of(USES[0], tmp_path)
    assert first and second  # a source was found for both
    assert first.files == ("changing.py", "changing_helper.py")
    assert first.sha256 != second.sha256
    assert "changing" not in sys.modules  # nothing was imported to know


def test_the_same_source_asks_nothing_twice(tmp_path: Path, capsys) -> None:
    run, study = tmp_path / "run", write(tmp_path, USES[0])
    flow.audit(study, run, quiet=True)
    said: list[str] = []
    flow.audit(write(tmp_path, USES[0]), run, quiet=True, say=said.extend)
    assert said == []


def test_code_that_only_failed_may_be_mended(tmp_path: Path) -> None:
    """A failure is no answer, so nothing is mixed; where some were answered it would be."""
    run, study = tmp_path / "run", write(tmp_path, USES[0])
    (tmp_path / "changing.py").write_text("def f(text):\n    raise ValueError\n")
    flow.audit(study, run, quiet=True)
    flow.audit(write(tmp_path, USES[0], number=3.0), run, quiet=True, again=["failed"])
    assert answers(run) == {3.0}
    (tmp_path / "changing.py").write_text("def f(text):\n    raise ValueError\n")
    forget()
    with pytest.raises(PortrayalError, match="changed since its 7 answers"):
        flow.audit(write(tmp_path, USES[0], number=4.0, last="i"), run, quiet=True)


# Code of a study ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("command", ["audit", "plan", "record"])
def test_untrusted_refuses_code_before_it_runs(use: str, command: str, tmp_path: Path, capsys) -> None:
    study = write(tmp_path, use)
    if command == "record":
        flow.audit(study, tmp_path / "run", quiet=True)
        forget()
    (tmp_path / "changing.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    (tmp_path / "changing_program.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    arguments = {"audit": [study, "--out", tmp_path / "run"], "plan": [study], "record": [tmp_path / "run"]}[command]
    with pytest.raises(SystemExit) as ended:
        main([command, *map(str, arguments), "--untrusted"])
    assert ended.value.code == 2
    assert "--untrusted: system 'mine' would run code" in capsys.readouterr().err
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("use", "more", "top", "message"),
    [
        ("https://host/", 'parameters = { headers = { X-Auth = "$HOME" } }', "", "would send $HOME"),
        ("openai", 'parameters = { endpoint = "https://other", model = "m" }', "", "would send your key"),
        ("openai_embeddings", 'parameters = { base_url = "https://o", model = "m" }', "", "would send your key"),
        ("openai", 'parameters = { model = "m", key = "OTHER_SECRET" }', "", "would send OTHER_SECRET"),
        ("https://host/", "", 'secrets_file = "keys"', "reads secrets from 'keys'"),
    ],
)
def test_untrusted_refuses_secrets(use: str, more: str, top: str, message: str, tmp_path: Path, capsys) -> None:
    study = write(tmp_path, use)
    text = tiny_study(use, more, top)
    study.write_text(text)
    with pytest.raises(SystemExit):
        main(["plan", str(study), "--untrusted"])
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("use", USES)
def test_code_is_named_before_it_runs(use: str, tmp_path: Path) -> None:
    said: list[str] = []

    def say(lines: list[str]) -> None:
        said.extend([*lines, "ran already"] if (tmp_path / "ran").exists() else lines)

    study = write(tmp_path, use)
    for name in ("changing.py", "changing_program.py"):
        path = tmp_path / name
        path.write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\n" + path.read_text())
    flow.record(study, tmp_path / "run", quiet=True, say=say)
    assert said == [f"mine: runs {use!r} from {tmp_path.resolve()} with your rights"]
    assert (tmp_path / "ran").exists()
