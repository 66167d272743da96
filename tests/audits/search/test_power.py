"""The power that `plan` states against simulated audits, from files to sentences."""

from __future__ import annotations

from math import sqrt

import pytest

from audits.search.test_search import AUDIT, study
from portrayal.audits.search.power import power
from portrayal.flow import audit_evidence
from portrayal.runs.calibration import planted_audits

AUDITS = 40


@pytest.mark.parametrize(("shape", "queries", "slope"), [("demo", 79, 0.1), ("small", 10, 0.3)])
def test_stated_power_is_that_of_simulated_audits(shape, queries, slope):
    # 40 audits: the share of those that find it lies within 2.6 standard errors in 99 of 100 cases.
    stated = power(queries, 2, slope)
    found = planted_audits("search", shape, slope, AUDITS, 0, audit_evidence)
    assert abs(found - stated) <= 2.6 * sqrt(stated * (1 - stated) / AUDITS)


def test_more_comparisons_find_less_and_more_queries_more():
    assert power(40, 10, 0.1) < power(40, 2, 0.1) < power(80, 2, 0.1)


def test_the_plan_says_it():
    made = study("balanced", ("bm25", "qlm"), compare={"bm25": ["qlm"]})
    (line,) = AUDIT.power(made, AUDIT.stimuli(made))
    assert line.startswith(
        "with 79 queries and 3 comparisons corrected together, a slope 0.1 above the perfect system's is found in"
    )
    few = AUDIT.stimuli(study()).head(4)
    assert AUDIT.power(study(), few) == ["4 queries are too few to find anything; 6 are the fewest"]
