"""Waves held against each other: what changed is found and named, and noise is not."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from benchmarks.waves import CASES, Case, counted

import portrayal
from portrayal.errors import PortrayalError
from portrayal.study.audit import Evidence, Measured
from portrayal.study.study_file import make_study
from portrayal.waves import waves
from portrayal.waves.waves import Wave, versions_changed

STUDY = make_study(
    {"name": "waves", "audit": "counterfactuals", "systems": [{"name": "tagger", "use": "local"}],
     "counterfactuals": {"series": "series"}}
)  # fmt: skip


# A small share of benchmarks/waves.py, whose table is in docs/diff.md.
@pytest.mark.parametrize(
    ("stem", "pairs"), [("search", 10), ("counterfactuals", 8), ("associations", 15), ("contexts", 3), ("captions", 1)]
)  # fmt: skip
def test_unchanged_waves_of_whole_audits_show_no_change(stem: str, pairs: int) -> None:
    # 5% of 15 are 0.75; 3 or more are seen in 4 of 100 such counts
    assert counted(Case(stem, "small"), pairs)[0] <= 2


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.effect and case.stem != "captions" and case.shape != "large"]
)
def test_a_planted_change_of_a_whole_audit_is_found(case: Case) -> None:
    assert counted(case, 2) == (2, 2)


@pytest.fixture(scope="module")
def two(audited: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two waves of a tagger: in the second, 'nurse' is called 'soldier'."""
    first = audited("counterfactuals")
    second = tmp_path_factory.mktemp("wave") / "june"
    shutil.copytree(first, second, ignore=shutil.ignore_patterns("run"))
    tags = pl.read_csv(second / "tags.csv").with_columns(pl.col("tag").replace("nurse", "soldier"))
    tags.write_csv(second / "tags.csv")
    portrayal.audit(second / "study.toml", second / "run2", quiet=True)
    return first / "run", second / "run2"


def test_answers_words_and_files(two: tuple[Path, Path], tmp_path: Path) -> None:
    found = portrayal.diff(list(two), tmp_path / "diff")
    lines = found.lines()
    # of seven steps three or four are called nurse, by turns: 6 x 3 + 3 = 21 of 42
    assert lines[0].startswith("mine: 21 of 42 answers changed from run to run2 (made more feminine 18 of 18, ")
    assert "mine: appeared by run2: soldier (21)" in lines and "mine: vanished by run2: nurse (21)" in lines
    assert found.examples.select("answer", "answer_later").row(0) == ("nurse", "soldier")
    kept = json.loads((tmp_path / "diff" / "diff.json").read_text())
    assert kept["waves"] == ["run", "run2"] and kept["answers"][0]["changed"] == 21
    page = found.page.read_text()
    assert "21 of 42 answers changed" in page and "<script" not in page
    portrayal.diff(list(two), tmp_path / "diff")  # a second time into the same folder


def test_each_of_three_waves_is_measured_once(two: tuple[Path, Path], tmp_path: Path, monkeypatch) -> None:
    measured, measure = [], waves.measure_evidence
    monkeypatch.setattr(waves, "measure_evidence", lambda *about: measured.append(about) or measure(*about))
    third = tmp_path / "third"
    shutil.copytree(two[0], third)
    portrayal.diff([*two, third], tmp_path / "diff")
    assert len(measured) == 3


def test_a_wave_against_itself_changes_nothing(two: tuple[Path, Path], tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(two[0], copy)
    lines = portrayal.diff([two[0], copy], tmp_path / "diff").lines()
    assert lines[0] == "mine: 0 of 42 answers changed from run to copy"
    assert lines[1].startswith("no measure changed: ") and len(lines) == 3


def test_a_gate_can_rule_on_drift(two: tuple[Path, Path], tmp_path: Path) -> None:
    rules = tmp_path / "gate.toml"
    rules.write_text('[[rules]]\nname = "nothing moved"\ndrift = true\nnever = ["found"]\n')
    (verdict,) = portrayal.gate(two[1], rules, against=two[0])
    assert verdict.holds and verdict.rows >= 1
    rules.write_text('[[rules]]\nname = "d"\ndrift = true\nwhere = {measure = "answered"}\nvalue_least = 0.5\n')
    (verdict,) = portrayal.gate(two[1], rules, against=two[0])
    assert verdict.reason == "mine, answered has value 0, under 0.5"
    with pytest.raises(PortrayalError, match="no earlier run was given. Add --against RUN"):
        portrayal.gate(two[1], rules)


def test_what_are_no_waves_is_one_line(audited: Callable[[str], Path], two: tuple[Path, Path], tmp_path: Path) -> None:
    for folders, words in (
        ([two[0]], "1 run was given. Expected two or more"),
        (
            [two[0], audited("associations") / "run"],
            "audits associations, counterfactuals. Expected waves of one study",
        ),
        ([two[0], tmp_path], "no run in"),
    ):
        with pytest.raises(PortrayalError, match=words):
            portrayal.diff(folders, tmp_path / "diff")
    assert not (tmp_path / "diff").exists()


def test_versions_that_changed_are_named() -> None:
    systems = [{"name": "s", "use": "http", "version_asked": "", "versions_answered": ["v1"]}]
    later = [{**systems[0], "versions_answered": ["v1", "v2"]}]
    one, other = (
        Wave("a", STUDY, Evidence(pl.DataFrame(), pl.DataFrame()), Measured(pl.DataFrame()), manifest, pl.DataFrame())
        for manifest in (
            {"study_sha256": "1", "systems": systems, "versions": {"numpy": "2.0"}},
            {"study_sha256": "2", "systems": later, "versions": {"numpy": "2.1"}},
        )
    )
    assert list(versions_changed(one, other)) == [
        "the study file is another", "s: version answered v1, then v1, v2", "numpy 2.0, then 2.1",
    ]  # fmt: skip


def test_a_run_is_no_second_wave_of_itself(tmp_path: Path) -> None:
    portrayal.audit(portrayal.example_study(), tmp_path / "run", quiet=True)
    with pytest.raises(PortrayalError, match="a run was given twice"):
        portrayal.diff([tmp_path / "run", tmp_path / "other" / ".." / "run"], tmp_path / "out")
