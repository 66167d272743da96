"""The flow's borders: what a user hands in, and the family a study declares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from portrayal import flow, get_audit, make_study, plan_text, status_text
from portrayal.errors import PortrayalError
from portrayal.recorder.ledger import STATES
from portrayal.run.status import states_table
from portrayal.study.audit import Evidence
from portrayal.study.questions import make_stimuli
from portrayal.study.study import Study

TEST = {"name": "own", "x": ["a", "b"], "y": ["c", "d"], "a": ["e", "f"], "b": ["g", "h"]}


def study(**changes: Any) -> Study:
    return make_study(
        {
            "name": "tiny",
            "audit": "associations",
            "systems": [{"name": "mine", "use": "glove"}],
            "associations": {"variants": [], "test": [TEST]},
            **changes,
        },
        Path(),
    )


@pytest.fixture
def evidence() -> Evidence:
    stimuli = make_stimuli(study())
    rows = [
        {
            "system": "mine",
            "stimulus": row["stimulus"],
            "repeat": 0,
            "status": "answered",
            "embedding": [ord(row["content"][0]) - 90.5, 7.0 - ord(row["content"][0]) % 5],
        }
        for row in stimuli.iter_rows(named=True)
    ]
    return Evidence(stimuli, pl.DataFrame(rows), get_audit("associations").inputs(study()))


@pytest.mark.parametrize("made", [pl.DataFrame.to_pandas, pl.DataFrame.to_arrow, pl.DataFrame.lazy])
def test_pandas_and_arrow_evidence_is_measured_alike(evidence: Evidence, made: Callable[..., Any]) -> None:
    expected = flow.measure_evidence(study(), evidence).results
    handed_in = replace(evidence, stimuli=made(evidence.stimuli), responses=made(evidence.responses))
    assert flow.measure_evidence(study(), handed_in).results.equals(expected)


def test_evidence_without_a_column_is_named(evidence: Evidence) -> None:
    with pytest.raises(PortrayalError, match="responses lacks column 'embedding'"):
        flow.measure_evidence(study(), replace(evidence, responses=evidence.responses.drop("embedding")))


def test_a_misspelt_measure_of_the_family_is_refused(evidence: Evidence) -> None:
    with pytest.raises(PortrayalError, match="names 'eatt', which is not measured here. Did you mean 'eat'?"):
        flow.measure_evidence(study(family={"measures": ["eatt"]}), evidence)


def test_an_empty_family_corrects_nothing(evidence: Evidence) -> None:
    found = flow.measure_evidence(study(family={"measures": []}), evidence).results
    assert found["p"].drop_nulls().len() > 0
    assert found["p_adjusted"].drop_nulls().is_empty()


STUDY = """
name = "unreadable"
audit = "associations"
{more}
[[systems]]
name = "mine"
use = "python:{module}:encode"

[associations]
variants = []

[[associations.test]]
name = "own"
x = ["ab", "bc"]
y = ["cd", "de"]
a = ["ef", "fg"]
b = ["gh", "hi"]
"""
ENCODER = """
from pathlib import Path

def encode(text):
    if text == "ab" and not Path(__file__).with_name("mended").exists():
        return "an apology"
    return [ord(text[0]) - 90.5, 7.0 - ord(text[1]) % 5]
"""


def test_an_answer_that_cannot_be_read_is_not_done_and_is_asked_again_when_the_study_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "encoder_of_apologies.py").write_text(ENCODER)
    file = tmp_path / "study.toml"

    def counts(more: str = "") -> tuple[int, int]:
        file.write_text(STUDY.format(module="encoder_of_apologies", more=more))
        row = states_table(flow.record(file, quiet=True).run).row(0, named=True)
        return row["done"], row["unreadable"]

    assert counts() == (7, 1)
    told = status_text("runs/unreadable").splitlines()
    assert told[0].split()[1:] == [*STATES, "sum"]
    assert told[-2:] == [
        '1 x mine: an encoder cannot answer "an apology". Expected such as [0.1, 0.2, 0.3]',
        "ask again: portrayal retry runs/unreadable --failed",
    ]
    (tmp_path / "mended").touch()
    assert "in all 0 calls" in plan_text(file)
    assert counts() == (7, 1)  # it came and was paid for: not asked again by itself
    file.write_text(STUDY.format(module="encoder_of_apologies", more="ask_unreadable_again = true"))
    assert "in all 1 calls" in plan_text(file)
    assert counts("ask_unreadable_again = true") == (8, 0)
