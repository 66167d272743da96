"""Whole association audits without an effect print no finding, through the path that real answers take."""

from __future__ import annotations

import pytest
from scipy import stats

from portrayal.flow import audit_evidence
from portrayal.runs.calibration import null_audits

AUDITS = 40
MOST = 7  # of 40: where 5.5% of audits print a finding, more do in under 1 cell of 300


@pytest.fixture(scope="module")
def found() -> dict[str, int]:
    """Audits that print a finding, by shape."""
    cells = null_audits("associations", AUDITS, 0, audit_evidence, ["demo", "small", "clustered"])
    return {cell["shape"]: cell["found"] for cell in cells}


def test_the_bound_rarely_fails_by_chance() -> None:
    assert stats.binom.sf(MOST, AUDITS, 0.055) < 1 / 300


@pytest.mark.parametrize("shape", ["demo", "small", "clustered"])
def test_null_audits_print_no_finding(shape: str, found: dict[str, int]) -> None:
    assert found[shape] <= MOST


def test_null_audits_print_no_finding_over_all_shapes(found: dict[str, int]) -> None:
    assert sum(found.values()) <= stats.binom.isf(0.001, AUDITS * len(found), 0.055)


def test_a_few_of_the_large_shape() -> None:
    (cell,) = null_audits("associations", 8, 0, audit_evidence, ["large"])
    assert cell["audits"] == 2
    assert cell["found"] <= 1  # both in 1 case of 330, where 5.5% print a finding
