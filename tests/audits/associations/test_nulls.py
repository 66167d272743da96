"""Whole audits without an effect print no finding, through the path that real answers take."""

from __future__ import annotations

import pytest
from scipy import stats

from portrayal.audits.associations.experiments.simulation import SHAPES
from portrayal.flow import audit_evidence
from portrayal.runs.calibration import null_audits

AUDITS = 40
# Where 5.5% of audits print a finding, more than these of 40 (of 3) do in under 1 cell of 300.
MOST, MOST_OF_FEW = 7, 2
CELLS = [("associations", shape) for shape in ("demo", "small", "clustered")]
CELLS += [("experiments", shape) for shape in SHAPES if "large" not in shape]


def test_the_bound_rarely_fails_by_chance() -> None:
    assert stats.binom.sf(MOST, AUDITS, 0.055) < 1 / 300
    assert stats.binom.sf(MOST_OF_FEW, 3, 0.055) < 1 / 300


@pytest.fixture(scope="module")
def found() -> dict[tuple[str, str], int]:
    """Audits that print a finding, of 40 in each shape."""
    return {
        (stem, shape): null_audits(stem, AUDITS, 0, audit_evidence, [shape])[0]["found"]
        for stem, shape in CELLS
    }


@pytest.mark.parametrize("cell", CELLS, ids=" ".join)
def test_null_audits_print_no_finding(cell: tuple[str, str], found: dict[tuple[str, str], int]) -> None:
    assert found[cell] <= MOST


def test_null_audits_print_no_finding_over_all_shapes(found: dict[tuple[str, str], int]) -> None:
    audits = AUDITS * len(found)
    assert sum(found.values()) <= stats.binom.isf(0.001, audits, 0.055)


@pytest.mark.parametrize("stem", ["associations", "experiments"])
def test_few_of_the_large_shape(stem: str) -> None:
    shapes = ["large"] if stem == "associations" else [shape for shape in SHAPES if "large" in shape]
    for cell in null_audits(stem, 12, 0, audit_evidence, shapes):
        assert cell["audits"] == 3
        assert cell["found"] <= MOST_OF_FEW
