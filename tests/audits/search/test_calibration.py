"""The search instrument against phantom rankers: 200 runs, so the bands are wider than those of `make calibrate`."""

from __future__ import annotations

import numpy as np
import pytest

from portrayal.audits.search.calibration import _answer, _vocabulary, calibrate
from portrayal.runs.calibration import CALIBRATIONS


@pytest.fixture(scope="module")
def found():
    return calibrate(runs=200, seed=0, sizes=(83,))


def test_intervals_hold_the_planted_slope(found):
    # 95% of 200 has a standard error of 1.5 points
    for row in found.conditions:
        assert 0.90 <= row["covered"] <= 0.99, row


def test_false_alarms_are_five_percent(found):
    assert 0.01 <= found.false_alarm <= 0.10


def test_a_planted_slope_is_found(found):
    assert found.power > 0.7
    planted = [row for row in found.conditions if row["planted"] > 0]
    assert all(abs(row["mean_estimate"] - row["planted"]) < 0.02 for row in planted)


def test_small_histories_are_noted_and_stay_out_of_the_headline():
    small = calibrate(runs=3, seed=0, sizes=(30, 60))
    assert [bool(row["note"]) for row in small.conditions] == [True, True, False, False]
    assert small.power == small.conditions[3]["rejected"]


def test_the_phantom_plants_what_it_says():
    rng = np.random.default_rng(0)
    scores = _vocabulary(rng)
    asked = np.array([3, 250])
    drawn = [_answer(asked, 0.5, scores, rng) for _ in range(4000)]
    assert not np.isin(np.concatenate([words.ravel() for words in drawn[:50]]), asked).any()
    mean = np.mean([scores[words].mean() for words in drawn])
    middle = (scores[:200].mean() + scores[200:].mean()) / 2
    assert mean == pytest.approx(0.5 * scores[asked].mean() + middle, abs=0.003)


def test_it_is_registered():
    assert CALIBRATIONS["search"] == "portrayal.audits.search.calibration"
