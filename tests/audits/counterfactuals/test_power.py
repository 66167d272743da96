"""Power that `plan` states is the share of such audits with a finding."""

from __future__ import annotations

import polars as pl
import pytest

from audits.planned_power import assert_plans_are_kept
from portrayal.audits.counterfactuals.calibration import simulate
from portrayal.audits.counterfactuals.power import power, say_power
from portrayal.study.study import Family


def test_the_power_that_is_planned_is_found():
    assert_plans_are_kept("counterfactuals", 30, ("demo",))


def test_power_rises_with_people_and_slope_and_falls_with_tests():
    base = power(12, 1, 24, 0.3)
    assert power(24, 1, 24, 0.3) > base + 0.05
    assert power(12, 1, 24, 0.45) > base + 0.05
    assert power(12, 1, 400, 0.3) < base
    assert power(12, 1, 24, 0.0) < 0.01


def test_a_plan_says_what_would_be_found():
    simulated = simulate("demo", 0, 0.0)
    cost, line = say_power(simulated.study, simulated.evidence.stimuli)
    assert cost == (
        "about 12 tests are corrected together: the strongest must have p under .004, where one test alone would need .05; adding a"
        " system costs nothing"
    )
    assert line.startswith(
        "9 people, if every question is answered: a label that half of them get at the neutral centre, and whose rate changes "
        "along gender by 10%, 20% and 40% of that per unit, would be found in "
    )
    assert line.endswith(" of 100 such audits (12 labels of a system, corrected together)")
    whole = simulated.study.model_copy(update={"family": Family(of="system")})
    assert "about 26 tests" in say_power(whole, simulated.evidence.stimuli)[0]
    few = simulated.evidence.stimuli.filter(pl.col("person").is_in(["person 0", "person 1"]))
    assert say_power(simulated.study, few) == ["nothing can be found with 2 people: it takes 6"]


@pytest.mark.parametrize("people", [5, 6])
def test_six_people_are_the_fewest_that_can_find_anything(people: int):
    # With five people the smallest p is 2 in 32.
    assert (power(people, 4, 1, 0.5) > 0) is (people > 5)
