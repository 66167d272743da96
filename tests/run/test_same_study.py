"""Two studies of one name: neither takes the other's place in the folder of that name."""

from __future__ import annotations

from pathlib import Path

import pytest

import portrayal
from portrayal.cli import main
from portrayal.errors import PortrayalError

STUDY = """name = "{name}"
audit = "{audit}"
[[systems]]
name = "simulated"
use = "phantom:associations"
[associations]
tests = ["{test}"]
variants = []
"""


def written(folder: Path, name: str = "words", test: str = "weat6", file: str = "study.toml") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / file).write_text(STUDY.format(name=name, audit="associations", test=test))
    return folder / file


def audited(study: object, out: object = None) -> portrayal.Run:
    return portrayal.audit(study, out, quiet=True)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("same_folder", [True, False])
def test_a_second_study_of_the_name_is_refused_and_the_first_stays(tmp_path, capsys, same_folder) -> None:
    first = written(tmp_path / "a")
    second = (
        written(tmp_path / "a", test="weat7", file="two.toml") if same_folder else written(tmp_path / "b", test="weat7")
    )
    audited(first)
    before = {
        path: path.read_bytes() for path in Path("runs/words").rglob("*") if path.is_file() and path.name != "lock"
    }
    with pytest.raises(SystemExit) as ended:
        main(["audit", str(second), "-q"])
    said = capsys.readouterr().err
    assert ended.value.code == 2
    assert said.count("\n") == 1
    assert f"runs/words holds the run of another study: 'words' from {first}" in said
    assert "(or go on with it, if this file was moved: --out runs/words)" in said
    assert {path: path.read_bytes() for path in before} == before
    with pytest.raises(PortrayalError, match="another study"):
        portrayal.record(second, quiet=True)
    audited(second, "runs/other")
    audited(first)  # goes on where it was


def test_a_plan_counts_no_answers_of_another_study(tmp_path) -> None:
    audited(written(tmp_path / "a"))
    assert "in all 0 calls" in portrayal.plan_text(tmp_path / "a" / "study.toml")
    assert "in all 32 calls" in portrayal.plan_text(written(tmp_path / "b"))


def test_a_study_that_was_moved_goes_on_in_the_folder_it_is_given(tmp_path) -> None:
    audited(written(tmp_path / "a"))
    moved = (tmp_path / "a").rename(tmp_path / "b") / "study.toml"
    with pytest.raises(PortrayalError, match="--out runs/words"):
        audited(moved)
    audited(moved, "runs/words")
    audited(moved)  # from now on it is its own


def test_a_study_that_was_renamed_or_edited_goes_on(tmp_path) -> None:
    audited(written(tmp_path / "a"), "run")
    audited(written(tmp_path / "a", name="other words", test="weat7"), "run")


def test_another_name_from_another_file_is_refused_wherever_it_goes(tmp_path) -> None:
    audited(written(tmp_path / "a"), "run")
    with pytest.raises(PortrayalError, match="holds the run of another study: 'words'. Nothing"):
        audited(written(tmp_path / "b", name="others"), "run")


def test_names_that_are_one_folder_are_told_apart(tmp_path) -> None:
    """Studies made in Python have no file to tell them by."""
    data = {"audit": "associations", "associations": {"tests": ["weat6"], "variants": []},
            "systems": [{"name": "simulated", "use": "phantom:associations"}]}  # fmt: skip
    audited({"name": "my words", **data})
    with pytest.raises(PortrayalError, match="another study: 'my words'"):
        audited({"name": "My: words", **data})
    audited({"name": "my words", **data, "associations": {"tests": ["weat7"], "variants": []}})


def test_another_audit_never_goes_into_a_run(tmp_path) -> None:
    audited(written(tmp_path / "a"), "run")
    (tmp_path / "a" / "study.toml").write_text(
        'name = "words"\naudit = "search"\n[[systems]]\nname = "BM25"\nuse = "bm25"\n'
        'parameters = { collection = "balanced", depth = 5 }\n[search]\ncollection = "balanced"\nvectors = ["glove"]\n'
    )
    with pytest.raises(PortrayalError, match="'words', an audit of associations"):
        audited(tmp_path / "a" / "study.toml", "run")
