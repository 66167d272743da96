"""Whole audits without an effect, from files to printed sentences: how many print a finding, and what is planted is found."""

from __future__ import annotations

from functools import cache

import pytest

from portrayal.audits.search.simulation import SHAPES, simulate
from portrayal.flow import audit_evidence
from portrayal.runs.calibration import null_audits


@cache
def cells():
    return null_audits("search", 40, 0, audit_evidence, ("demo", "small", "clustered")) + null_audits(
        "search", 12, 0, audit_evidence, ("large",)
    )


@pytest.mark.parametrize("shape", SHAPES)
def test_few_audits_without_an_effect_print_a_finding(shape):
    # With 5% false alarms 8 or more of 40 come about once in 500 times.
    cell = next(cell for cell in cells() if cell["shape"] == shape)
    assert cell["found"] <= 7


def test_over_all_shapes_about_five_percent_do():
    # 123 audits at 5%: 6.15, and 13 or more about once in 100 times.
    assert sum(cell["audits"] for cell in cells()) == 123
    assert sum(cell["found"] for cell in cells()) <= 12


def test_the_clustered_shape_asks_each_question_in_three_wordings_of_the_same_words():
    shown = simulate("clustered", 0, 0.0).evidence.stimuli
    words = [" ".join(sorted(text.split())) for text in shown["content"]]
    assert len(words) == 45
    assert len(set(words)) == 15
