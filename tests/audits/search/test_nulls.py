"""Whole audits without an effect, from files to printed sentences: how many print a finding, and what is planted is found."""

from __future__ import annotations

from functools import cache

import pytest
from scipy import stats

from portrayal.audits.search.calibration import simulate
from portrayal.audits.search.world import SHAPES
from portrayal.flow import audit_evidence
from portrayal.study.calibration import null_audits


@cache
def cells():
    return null_audits(
        "search",
        dict.fromkeys(SHAPES, 40) | {"large": 10, "templates": 25, "templates unjudged": 25},
        0,
        audit_evidence,
    )


@pytest.mark.parametrize("shape", SHAPES)
def test_few_audits_without_an_effect_print_a_finding(shape):
    # With 5% false alarms more come about once in 1,000 times: 11 of 80, 8 of 50, 5 of 20. Of 20 jobs in five templates that share
    # a list 35 to 48% printed a finding when only queries of the same words were one (scripts/template_nulls.py has more shapes).
    cell = next(cell for cell in cells() if cell["shape"] == shape)
    assert cell["found"] <= stats.binom.ppf(0.999, cell["questions"], 0.05)


def test_over_all_shapes_about_five_percent_do():
    # 180 audits of two systems at 5%: 18, and 29 or more about once in 100 times.
    assert sum(cell["audits"] for cell in cells()) == 360
    assert sum(cell["found"] for cell in cells()) <= 28


def test_no_simulated_audit_is_left_unmeasured():
    # A third of them was once taken for Uzbek, and counted as audits without a finding.
    for seed in range(8):
        simulated = simulate("demo", seed, 0.0)
        results, _ = audit_evidence(simulated.study, simulated.evidence)
        assert results.filter(measure="gsr_difference")["p"].null_count() == 0
        assert set(results.filter(measure="gsr_difference")["system"]) == {"engine one", "engine two"}


@pytest.mark.parametrize(("shape", "judged"), [("templates", True), ("templates unjudged", False)])
def test_templates_ask_twenty_jobs_in_five_ways_and_the_results_say_so(shape, judged):
    simulated = simulate(shape, 0, 0.0)
    assert simulated.evidence.stimuli["judged"].to_list() == [judged] * 100
    results, _ = audit_evidence(simulated.study, simulated.evidence)
    note = results.filter(measure="gsr_difference" if judged else "gsr", system="engine one")["note"][0]
    assert "100 queries in 2" in note and "clusters that share words or lists count once a cluster" in note


def test_the_clustered_shape_asks_each_question_in_three_wordings_of_the_same_words():
    shown = simulate("clustered", 0, 0.0).evidence.stimuli
    words = [" ".join(sorted(text.split())) for text in shown["content"]]
    assert len(words) == 45
    assert len(set(words)) == 15
