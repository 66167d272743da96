"""The power that `plan` states against simulated audits, from files to sentences."""

from __future__ import annotations

from audits.planned_power import assert_plans_are_kept
from audits.search.test_search import AUDIT, study
from portrayal.audits.search.calibration import power


def test_stated_power_is_that_of_simulated_audits():
    assert_plans_are_kept("search", 40)


def test_more_comparisons_find_less_and_more_queries_more():
    assert power(40, 10, 0.1) < power(40, 2, 0.1) < power(80, 2, 0.1)
    assert power(40, 2, 0.1, rulers=2) < power(40, 2, 0.1)


def test_the_plan_says_it():
    made = study("balanced", ("bm25", "qlm"), compare={"bm25": ["qlm"]})
    cost, line = AUDIT.power(made, AUDIT.stimuli(made))
    assert cost == "nothing is corrected: p under .05 is found"
    assert line.startswith("with 79 queries a slope 0.1 above the perfect system's is found in")
    few = AUDIT.stimuli(study()).head(4)
    assert AUDIT.power(study(), few) == ["4 queries are too few to find anything; 6 are the fewest"]
