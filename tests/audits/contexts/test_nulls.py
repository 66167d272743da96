"""Whole audits without an effect, counted in printed sentences, and planted ones against what `portrayal plan` states."""

import pytest
from scipy import stats

from portrayal.audits.contexts.power import plan_of, power
from portrayal.audits.contexts.simulation import SHAPES, simulate
from portrayal.flow import audit_evidence
from portrayal.runs.calibration import null_audits, planted_audits


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


@pytest.mark.parametrize(("shape", "effect"), [("small", 0.5), ("clustered", 0.2)])
def test_plan_states_the_power_that_audits_have(shape, effect):
    simulated = simulate(shape, 0, effect)
    stated = power(plan_of(simulated.study, simulated.evidence.stimuli), effect)
    found = round(15 * planted_audits("contexts", shape, effect, 15, 0, audit_evidence))
    assert 0.1 < stated < 0.95
    assert stats.binomtest(found, 15, stated).pvalue > 0.01
