"""The flow's borders: what a user hands in, and the family a study declares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from portrayal import flow, get_audit, make_study
from portrayal.errors import PortrayalError
from portrayal.runs.audit import Evidence
from portrayal.runs.study import Study
from portrayal.runs.work import make_stimuli

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
