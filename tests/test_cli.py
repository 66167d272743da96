"""The command line: one clear line and exit code 2 for what a user can mend; stdout carries only the answer."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from portrayal.cli import app, main

ROOT = Path(__file__).parents[1]
FOUR_SETS = 'x = ["a", "b"]\ny = ["c", "d"]\na = ["e", "f"]\nb = ["g", "h"]\n'
VECTORS = "".join(f"{word} {number}.0 {10 - number}.5 1.0\n" for number, word in enumerate("abcdefgh"))


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    said = capsys.readouterr()
    return int(ended.value.code or 0), said.out, said.err


def write_study(
    folder: Path, sets: str = FOUR_SETS, use: str = "vectors", parameters: str = 'path = "vectors.txt"', top: str = ""
) -> Path:
    path = folder / "study.toml"
    path.write_text(
        f'name = "tiny"\naudit = "associations"\n{top}\n[[systems]]\nname = "mine"\nuse = "{use}"\n'
        f"[systems.parameters]\n{parameters}\n[associations]\nvariants = []\n[[associations.test]]\n"
        f'name = "own"\n{sets}'
    )
    (folder / "vectors.txt").write_text(VECTORS)
    return path


def test_a_study_from_file_to_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study, folder = write_study(tmp_path), tmp_path / "run"
    code, out, _ = run(capsys, "audit", study, "--out", folder, "--quiet")
    assert code == 0
    assert out.strip() == str(folder / "report.html")
    for name in (
        "study.toml",
        "ledger.sqlite",
        "responses.parquet",
        "results.parquet",
        "results.json",
        "manifest.json",
    ):
        assert (folder / name).stat().st_size > 0
    assert list((folder / "charts").glob("*.svg"))
    assert list((folder / "charts").glob("*.png"))
    rows = json.loads((folder / "results.json").read_text())["results"]
    assert [row["n"] for row in rows if row["measure"] == "eat"] == [4]
    assert 'id="associations"' in (folder / "report.html").read_text()


def test_plan_calls_nothing_and_status_sums(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    study = write_study(tmp_path)
    code, out, _ = run(capsys, "plan", study)
    assert code == 0
    assert "in all 8 calls, about $0.00" in out
    assert not (tmp_path / "runs").exists()
    run(capsys, "audit", study, "--quiet")
    code, out, _ = run(capsys, "status", "runs/tiny")
    assert re.search(r"all\s+0\s+0\s+8\s+0\s+0\s+0\s+0\s+8\n", out)


def bad_word_vectors(folder: Path, text: bytes) -> None:
    (folder / "vectors.txt").write_bytes(text)


BAD_STUDIES: list[tuple[str, dict[str, Any], str]] = [
    ("unknown key", {"top": "sead = 3"}, "unknown key 'sead'. Did you mean 'seed'?"),
    ("unknown system", {"use": "vektors"}, "no system 'vektors'. Did you mean 'vectors'?"),
    ("unknown audit", {"top": ""}, "no audit 'asociations'. Did you mean 'associations'?"),
    ("empty list", {"sets": FOUR_SETS.replace('x = ["a", "b"]', "x = []")}, "empty"),
    ("listed twice", {"sets": FOUR_SETS.replace('["a", "b"]', '["a", "a"]')}, "twice"),
    ("one left", {"sets": FOUR_SETS.replace('["a", "b"]', '["a", "zebra"]')}, "has 1 of 2 a and zebra left"),
    ("no recording", {"use": "replay:none.csv", "parameters": ""}, "no recording at"),
    ("wrong column", {"use": "replay:wrong.csv", "parameters": ""}, "wrong.csv lacks column"),
    ("no function", {"use": "python:nowhere_at_all:f", "parameters": ""}, "no module 'nowhere_at_all'"),
    ("widths differ", {"use": "python:ragged_encoder:f", "parameters": ""}, "widths"),
    ("no vector file", {"parameters": 'path = "missing.txt"'}, "missing.txt"),
]


@pytest.mark.parametrize(("what", "changes", "message"), BAD_STUDIES, ids=[case[0] for case in BAD_STUDIES])
def test_bad_studies_get_one_line_and_exit_2(tmp_path, capsys, what, changes, message) -> None:
    study = write_study(tmp_path, **changes)
    if what == "unknown audit":
        study.write_text(study.read_text().replace('audit = "associations"', 'audit = "asociations"'))
    (tmp_path / "wrong.csv").write_text("word,vector\na,1\n")
    (tmp_path / "ragged_encoder.py").write_text(
        "asked = []\ndef f(text):\n    asked.append(text)\n    return [1.0] * (2 + len(asked) % 3)\n"
    )
    code, out, err = run(capsys, "audit", study, "--out", tmp_path / "run", "--quiet")
    assert code == 2
    assert out == ""
    err = "".join(line for line in err.splitlines(True) if "with your rights" not in line)  # code, named before it runs
    assert err.startswith("error: ")
    assert message in err
    assert err.count("\n") == 1
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (VECTORS.replace("a 0.0", "a nan").encode(), "vectors.txt"),
        (VECTORS.replace("c 2.0 8.5 1.0", "c 2.0 8.5").encode(), "vectors.txt"),
        (bytes(range(256)) * 40, "vectors.txt"),
        (b"", "vectors.txt"),
    ],
    ids=["nan", "ragged", "binary rubbish", "empty"],
)
def test_bad_vector_files_get_one_line_and_exit_2(tmp_path, capsys, content, message) -> None:
    study = write_study(tmp_path)
    bad_word_vectors(tmp_path, content)
    code, out, err = run(capsys, "audit", study, "--out", tmp_path / "run", "--quiet")
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("audit", "missing.toml"),
        ("plan", "missing.toml"),
        ("record", "no_run"),
        ("measure", "no_run"),
        ("report", "no_run"),
        ("status", "no_run"),
        ("calibrate", "asociations"),
        ("list", "sistems"),
        ("no_such_command",),
    ],
)
def test_what_is_not_there_is_exit_2_and_no_traceback(tmp_path, capsys, monkeypatch, arguments) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert err
    assert "Traceback" not in err


def test_list_prints_one_name_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "list", "systems")
    names = out.splitlines()
    vendors = {"rekognition", "clarifai", "imagga", "azure", "google", "watson", "openai", "anthropic", "local"}
    assert vendors <= set(names)
    assert len(names) == len(set(names))


def test_every_command_is_documented() -> None:
    """A command nobody can read about does not exist."""
    pages = "\n".join(path.read_text() for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))])
    names = [command.name or command.callback.__name__.rstrip("_") for command in app.registered_commands]
    for group in app.registered_groups:
        names += [
            f"{group.name} {command.name or command.callback.__name__}"
            for command in group.typer_instance.registered_commands
        ]
    assert [name for name in names if f"portrayal {name}" not in pages] == []


def test_help_shows_each_commands_whole_first_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "--help")
    shown = " ".join(out.split())
    for command in app.registered_commands:
        assert command.callback.__doc__.splitlines()[0].rstrip(".") in shown
