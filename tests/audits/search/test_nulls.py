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
    return null_audits("search", 40, 0, audit_evidence)  # 10 of the large shape


@pytest.mark.parametrize("shape", SHAPES)
def test_few_audits_without_an_effect_print_a_finding(shape):
    # With 5% false alarms more come about once in 1,000 times: 8 of 40, 5 of 10.
    cell = next(cell for cell in cells() if cell["shape"] == shape)
    assert cell["found"] <= stats.binom.ppf(0.999, cell["audits"], 0.05)


def test_over_all_shapes_about_five_percent_do():
    # 130 audits at 5%: 6.5, and 14 or more about once in 100 times.
    assert sum(cell["audits"] for cell in cells()) == 130
    assert sum(cell["found"] for cell in cells()) <= 13


def test_the_clustered_shape_asks_each_question_in_three_wordings_of_the_same_words():
    shown = simulate("clustered", 0, 0.0).evidence.stimuli
    words = [" ".join(sorted(text.split())) for text in shown["content"]]
    assert len(words) == 45
    assert len(set(words)) == 15
