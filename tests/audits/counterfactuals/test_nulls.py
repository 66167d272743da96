"""Whole audits without an effect print a finding in at most one of twenty; `make calibrate` does 400 of each shape."""

from __future__ import annotations

from scipy import stats

from portrayal.audits.counterfactuals.world import SHAPES
from portrayal.flow import audit_evidence
from portrayal.study.calibration import null_audits


def test_audits_without_an_effect_print_no_more_findings_than_promised():
    cells = null_audits("counterfactuals", 40, 0, audit_evidence)
    assert [cell["shape"] for cell in cells] == list(SHAPES)
    # Of so many research questions, passed by chance in 1 of 600 cells whose share is 5%; of all together in as few.
    most = [int(stats.binom.isf(1 / 600, cell["questions"], 0.05)) for cell in cells]
    assert all(cell["found"] <= allowed for cell, allowed in zip(cells, most, strict=True)), cells
    whole = sum(cell["questions"] for cell in cells)
    assert sum(cell["found"] for cell in cells) <= stats.binom.isf(1 / 600, whole, 0.055), cells
