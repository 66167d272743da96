"""Whole audits without an effect, counted in printed sentences, and planted ones against what `portrayal plan` states."""

from audits.planned_power import assert_plans_are_kept
from portrayal.audits.contexts.simulation import SHAPES
from portrayal.flow import audit_evidence
from portrayal.runs.calibration import null_audits


def test_audits_without_an_effect_print_no_finding():
    small = [shape for shape in SHAPES if shape != "large"]
    cells = [
        *null_audits("contexts", 40, 0, audit_evidence, small),
        *null_audits("contexts", 16, 0, audit_evidence, ["large"]),  # four audits
    ]
    assert sum(cell["audits"] for cell in cells) == 3 * 40 + 4
    # Of 40 audits at 5%, more than 6 print a finding in 3 of 1,000 tests.
    assert all(cell["found"] <= 6 for cell in cells), cells
    assert sum(cell["found"] for cell in cells) <= 13, cells  # of 124: more in 1 of 100


def test_plan_states_the_power_that_audits_have():
    assert_plans_are_kept("contexts", 15)
