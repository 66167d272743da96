"""Hypotheses written before recording are confirmatory; all else, and what was written afterwards, is exploratory."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import portrayal
from portrayal.errors import PortrayalError
from portrayal.recorder.ledger import Ledger
from portrayal.run.measurement import FACT, LATE, note_hypotheses
from portrayal.study.study import Hypothesis

BARE = """
name = "named"
audit = "associations"
systems = [{ name = "simulated", use = "phantom:associations" }]
[associations]
tests = ["weat6", "weat7"]
"""
NAMED = '[[hypotheses]]\nname = "careers"\nwhere = { measure = "eat", test = "%s" }\n'


def families(run: Path) -> dict[str, str | None]:
    table = portrayal.read_results(run)
    return dict(table.filter(table["measure"] == "eat").select("test", "family").iter_rows())


def test_hypotheses_alone_are_confirmatory_and_late_ones_are_not(tmp_path: Path) -> None:
    study, run = tmp_path / "study.toml", tmp_path / "run"
    study.write_text(BARE)
    portrayal.audit(study, tmp_path / "bare", quiet=True)
    one, other = families(tmp_path / "bare")
    assert set(families(tmp_path / "bare").values()) == {"confirmatory"}
    study.write_text(BARE + NAMED % one)
    portrayal.audit(study, run, quiet=True)
    assert families(run) == {one: "confirmatory", other: "exploratory"}
    page = (run / "report.html").read_text()
    assert "Confirmatory: 1 test of 1 hypothesis (careers), written in the study before anything was asked" in page
    assert "all else is exploratory" in page
    noted = json.loads((run / "manifest.json").read_text())["hypotheses"]
    assert noted["named"] == ["careers"] and len(noted["sha256"]) == 64 and noted["declared"]
    study.write_text(BARE + NAMED % other)  # after the answers came
    portrayal.audit(study, run, quiet=True)
    assert families(run) == {one: "exploratory", other: "exploratory"}
    assert LATE in (run / "report.html").read_text().replace("&#39;", "'")
    assert "Nothing here is confirmatory: no row of 1 hypothesis (careers)" in (run / "report.html").read_text()


def test_a_hypothesis_about_nothing_is_one_line(tmp_path: Path) -> None:
    for where, words in (("nonesuch", "names no row of the results"),):
        (tmp_path / "study.toml").write_text(BARE + NAMED % where)
        with pytest.raises(PortrayalError, match=words):
            portrayal.audit(tmp_path / "study.toml", tmp_path / "run", quiet=True)
    (tmp_path / "late.toml").write_text("hypotheses_late = true\n" + BARE)
    with pytest.raises(PortrayalError, match="unknown key 'hypotheses_late'"):
        portrayal.read_study(tmp_path / "late.toml")


def test_hypotheses_written_once_answers_were_put_back_are_late(tmp_path: Path) -> None:
    """Asked, then put back to planned to be asked again: what is declared now was not declared before the first answer."""
    run = portrayal.audit(portrayal.example_study(), tmp_path / "run", quiet=True)
    with Ledger(run.folder / "ledger.sqlite") as ledger:
        before = ledger.fact(FACT)
        ledger.ask_again("done", "simulated")
        assert set(ledger.states().values()) == {"planned"}
        data = {"name": "late", "where": {"measure": "eat"}}
        study = portrayal.read_study(portrayal.example_study()).model_copy(update={"hypotheses": [Hypothesis(**data)]})
        note_hypotheses(ledger, study)
        assert ledger.fact(FACT) == before
