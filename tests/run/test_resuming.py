"""Resuming: a finished run is known to be finished without a question being made."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from portrayal import flow
from portrayal.recorder.ledger import Ledger, Planned
from portrayal.study import questions
from portrayal.study.questions import Questions, StudyStimuli
from portrayal.systems.core.base import BaseSystem, Question, question_key

STUDY = """
name = "few"
audit = "contexts"
[contexts]
people = "people.csv"
images = false
[[systems]]
name = "recorded"
use = "replay:tags.csv"
"""


def stimuli(*hashes: str) -> pl.DataFrame:
    names = [f"s{number}" for number in range(len(hashes))]
    same = {name: pl.lit("x") for name in ("kind", "content", "source", "consent")}
    return pl.DataFrame({"stimulus": names, "hash": hashes}).with_columns(**same)


def write_study(folder: Path, people: int = 4) -> Path:
    rows = [f"p{number},{'female' if number % 2 else 'male'}" for number in range(people)]
    (folder / "people.csv").write_text("\n".join(["image_id,gender", *rows]))
    (folder / "tags.csv").write_text("\n".join(["stimulus,tag", *(f"p{number},woman" for number in range(4))]))
    (folder / "study.toml").write_text(STUDY)
    return folder / "study.toml"


def test_questions_are_those_of_the_stimuli_and_share_keys_by_content():
    system = BaseSystem("s", "tagger", "one", parameters={"a": 1})
    table = Questions(system, StudyStimuli(stimuli("h", "g", "h"), 2))
    assert len(table) == 4  # two contents, twice each
    first = Question("s0", "x", "x", "h", 0, "x", "x")
    assert [one.stimulus for one in table[question_key(system, first)]] == ["s0", "s2"]
    assert table[question_key(system, first)][0] == first
    assert [same[0].repeat for same in table.values()] == [0, 1, 0, 1]


@pytest.mark.parametrize(
    ("plan", "same"),
    [
        ([("s", "tagger", "plain", {"a", "b"})], True),
        ([("s", "tagger", "plain", {"a", "c"})], False),  # another question
        ([("s", "tagger", "plain", {"a"})], False),  # one fewer
        ([("s", "tagger", "mapped", {"a", "b"})], False),  # read otherwise
        ([("t", "tagger", "plain", {"a", "b"})], False),  # a system by another name
        ([("s", "tagger", "plain", {"a"}), ("t", "tagger", "plain", {"b"})], False),
    ],
)
def test_a_ledger_knows_whether_a_plan_is_its_own(tmp_path: Path, plan: list, same: bool):
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        ledger.plan(Planned(key, "s", "i", "", {}, key, 0, "tagger") for key in "abc")
        ledger.plan(Planned(key, "s", "i", "", {}, key, 0, "tagger") for key in "ab")  # c is set aside
        assert ledger.is_plan(plan) is same


def test_a_finished_run_is_resumed_without_making_a_question_or_writing_its_stimuli(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    study, run = write_study(tmp_path), tmp_path / "run"
    flow.record(study, run, quiet=True)
    before = (run / "stimuli.parquet").stat().st_mtime_ns, (run / "manifest.json").read_text()
    monkeypatch.setattr(questions, "Question", None)  # to make one would fail
    assert flow.record(study, run, quiet=True).messages == []
    assert ((run / "stimuli.parquet").stat().st_mtime_ns, (run / "manifest.json").read_text()) == before


def test_a_plan_in_another_order_is_the_same_plan_and_one_for_another_name_is_not(tmp_path: Path):
    asked = [Planned(key, "s", "i", "", {}, key, 0, "tagger") for key in "ab"]
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        ledger.plan(asked)
        assert ledger.is_plan([("s", "tagger", "plain", {"b": 0, "a": 0}.keys())])
        ledger.plan([Planned(key, "t", "i", "", {}, key, 0, "tagger") for key in "ab"])
        assert not ledger.is_plan([("s", "tagger", "plain", {"a": 0, "b": 0}.keys())])
        assert ledger.is_plan([("t", "tagger", "plain", {"a": 0, "b": 0}.keys())])


def test_a_manifest_left_behind_by_a_killed_process_is_written_anew(tmp_path: Path):
    study, run = write_study(tmp_path), tmp_path / "run"
    flow.record(study, run, quiet=True)
    stale = (run / "manifest.json").read_text()
    write_study(tmp_path, people=3)  # the study's text stays, the people it names change
    flow.record(study, run, quiet=True)
    fresh = (run / "manifest.json").read_text()
    assert len(json.loads(fresh)["stimuli"]) == 3
    for left in (
        stale,
        fresh[:-40],
        "",
        "{}",
    ):  # killed after the stimuli were written, before or while the manifest was
        (run / "manifest.json").write_text(left)
        flow.record(study, run, quiet=True)
        assert (run / "manifest.json").read_text() == fresh


def test_a_run_whose_stimuli_were_damaged_or_changed_gets_them_anew(tmp_path: Path):
    study, run = write_study(tmp_path), tmp_path / "run"
    flow.record(study, run, quiet=True)
    (run / "stimuli.parquet").write_bytes(b"PAR1 cut")
    flow.record(study, run, quiet=True)
    assert pl.read_parquet(run / "stimuli.parquet").height == 4
    flow.record(write_study(tmp_path, people=3), run, quiet=True)
    assert pl.read_parquet(run / "stimuli.parquet").height == 3
    with Ledger.reading(run / "ledger.sqlite") as ledger:
        assert ledger.counts()["recorded"]["done"] == 3
