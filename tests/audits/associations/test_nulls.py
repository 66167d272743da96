"""Whole association audits without an effect print no finding, through the path that real answers take."""

from __future__ import annotations

import pytest
from scipy import stats

from portrayal.audits.associations.world import SHAPES
from portrayal.flow import audit_evidence
from portrayal.study.calibration import null_audits

AUDITS = 40


@pytest.fixture(scope="module")
def cells() -> dict[str, dict[str, int]]:
    """Research questions with a finding, of how many, by shape; a quarter as many audits of the large one."""
    return {cell["shape"]: cell for cell in null_audits("associations", AUDITS, 0, audit_evidence)}


@pytest.mark.parametrize("shape", SHAPES)
def test_null_audits_print_no_finding(shape: str, cells: dict[str, dict[str, int]]) -> None:
    # Where 5.5% of questions get a finding, more do in under 1 cell of 300.
    assert cells[shape]["found"] <= stats.binom.isf(1 / 300, cells[shape]["questions"], 0.055), cells


def test_null_audits_print_no_finding_over_all_shapes(cells: dict[str, dict[str, int]]) -> None:
    found, whole = (sum(cell[name] for cell in cells.values()) for name in ("found", "questions"))
    assert found <= stats.binom.isf(0.001, whole, 0.055), cells
