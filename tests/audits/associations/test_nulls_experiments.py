"""Whole audits of the further experiments without an effect print no finding, through the path that real answers take."""

from __future__ import annotations

import pytest
from scipy import stats

from portrayal.audits.associations.experiments.calibration import simulate
from portrayal.audits.associations.experiments.world import SHAPES
from portrayal.flow import audit_evidence
from portrayal.study.calibration import null_audits

AUDITS = 40
MOST = 7  # of 40: where 5.5% of audits print a finding, more do in under 1 cell of 300
CELLS = [shape for shape in SHAPES if "large" not in shape]


@pytest.fixture(scope="module")
def found() -> dict[str, int]:
    """Audits that print a finding, by shape."""
    cells = null_audits("experiments", AUDITS, 0, audit_evidence, CELLS)
    return {cell["shape"]: cell["found"] for cell in cells}


@pytest.mark.parametrize("shape", CELLS)
def test_null_audits_print_no_finding(shape: str, found: dict[str, int]) -> None:
    assert found[shape] <= MOST


def test_null_audits_print_no_finding_over_all_shapes(found: dict[str, int]) -> None:
    assert sum(found.values()) <= stats.binom.isf(0.001, AUDITS * len(found), 0.055)


@pytest.mark.parametrize("shape", [shape for shape in SHAPES if "large" in shape])
def test_a_few_of_the_large_shape(shape: str) -> None:
    (cell,) = null_audits("experiments", AUDITS, 0, audit_evidence, [shape])
    systems = len(simulate(shape, 0).evidence.responses["system"].unique())
    assert cell["audits"] == AUDITS // 4 * systems  # each system's tests are a family
    assert cell["found"] <= stats.binom.isf(1 / 9_900, cell["audits"], 0.055)
