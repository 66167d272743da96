"""What `portrayal plan` says can be found is found as often as it says, through the path that real answers take."""

from __future__ import annotations

import pytest
from scipy import stats

from portrayal.audits.associations import simulation
from portrayal.audits.associations.power import smallest_d
from portrayal.audits.associations.stimuli import declared_tests
from portrayal.flow import audit_evidence
from portrayal.runs.calibration import planted_audits
from portrayal.stats.multiplicity import LEVEL
from portrayal.stats.power import power_of_two_shares, smallest, smallest_of_people

AUDITS = 30
# Of 30 audits, fewer or more than these find an effect of 80% power in under 1 case of 500.
FEWEST, MOST = stats.binom.ppf([0.001, 0.999], AUDITS, 0.8)


def planned_d(shape: str) -> float:
    study = simulation.simulate(shape, 0).study
    tests = declared_tests(study)
    return smallest_d(tests[0], study.settings.alternative, len(tests) * len(study.systems))


def planned_gap(base: float, n: int, base_n: int, tests: int) -> float:
    return smallest(lambda gap: power_of_two_shares(min(base + gap, 1.0), base, n, base_n, LEVEL / tests))


# What is planted in each shape: what the plan says is found in 80 of 100 audits.
PLANS = {
    ("associations", "small"): lambda: planned_d("small"),
    ("associations", "clustered"): lambda: planned_d("clustered"),
    ("experiments", "emotion_words demo"): lambda: smallest_of_people(10, 3 * 2),  # emotions x systems
    ("experiments", "saliency demo"): lambda: smallest_of_people(10, 3 * 2, parts=3),  # regions x systems
    ("experiments", "labels demo"): lambda: planned_gap(0.1, 100, 100, 2),
    ("experiments", "depictions demo"): lambda: planned_gap(0.5, 20, 180, 10 * 2),
}


@pytest.mark.parametrize("cell", PLANS, ids=" ".join)
def test_the_plan_is_kept(cell: tuple[str, str]) -> None:
    found = planted_audits(*cell, PLANS[cell](), AUDITS, 0, audit_evidence)
    assert FEWEST <= round(found * AUDITS) <= MOST
