"""Whole association audits without an effect print no finding, through the path that real answers take."""

from __future__ import annotations

import pytest
from scipy import stats

from portrayal.audits.associations.world import SHAPES
from portrayal.flow import audit_evidence
from portrayal.study.calibration import null_audits

AUDITS = 40
MOST = 7  # of 40: where 5.5% of audits print a finding, more do in under 1 cell of 300
MOST_OF_LARGE = 4  # of 10


@pytest.fixture(scope="module")
def found() -> dict[str, int]:
    """Audits that print a finding, by shape."""
    cells = null_audits("associations", AUDITS, 0, audit_evidence)  # a quarter as many of the large shape
    return {cell["shape"]: cell["found"] for cell in cells}


def test_the_bound_rarely_fails_by_chance() -> None:
    assert stats.binom.sf(MOST, AUDITS, 0.055) < 1 / 300
    assert stats.binom.sf(MOST_OF_LARGE, AUDITS // 4, 0.055) < 1 / 300


@pytest.mark.parametrize("shape", SHAPES)
def test_null_audits_print_no_finding(shape: str, found: dict[str, int]) -> None:
    assert found[shape] <= (MOST if shape != "large" else MOST_OF_LARGE)


def test_null_audits_print_no_finding_over_all_shapes(found: dict[str, int]) -> None:
    assert sum(found.values()) <= stats.binom.isf(0.001, 3 * AUDITS + AUDITS // 4, 0.055)
