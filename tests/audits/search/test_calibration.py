"""The search instrument against phantom rankers: 200 runs, so the bands are wider than those of `make calibrate`."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from portrayal.audits.search.calibration import calibrate, power
from portrayal.audits.search.measures.gsr import measure_slope
from portrayal.audits.search.world import BASELINE, Phantoms, free_words, vocabulary
from portrayal.study.calibration import CALIBRATIONS


@pytest.fixture(scope="module")
def found():
    return calibrate(runs=200, seed=0, sizes=(10, 30))


def test_intervals_hold_the_planted_slope(found):
    # 95% of 200 has a standard error of 1.5 points; at 10 queries with some far out the interval may hold more
    for row in found.conditions:
        assert row["coverage"] >= 0.91, row


def test_false_alarms_are_at_most_five_percent(found):
    # of 200: 5% and 2.6 standard errors
    for row in found.conditions:
        assert row["false_alarm"] <= 0.09, row


def test_a_planted_slope_is_found_under_the_correction_that_is_reported():
    # 60 runs: the share found lies within 2.6 standard errors of the power that `plan` states in 99 of 100 cases.
    planted, stated = calibrate(runs=60, seed=0, sizes=(83,)), power(83, 2, 0.1)
    assert abs(planted.power - stated) <= 2.6 * sqrt(stated * (1 - stated) / 60)
    assert abs(planted.conditions[1]["mean_estimate"] - 0.1) < 0.03


def test_the_phantom_plants_what_it_says():
    # One question again and again: the mean over its own documents is (0.1 + 0.2) g(q), those that are relevant 0.1 g(q).
    rng = np.random.default_rng(0)
    phantoms = Phantoms((0.1,), rng)
    asked = np.array([3, 7])
    gender = vocabulary().scores[0][asked].mean()
    drawn = phantoms._documents(free_words(asked), (BASELINE + 0.2) * gender, 0.0, 20_000)
    words = np.array([phantoms.documents[number] for number in drawn])
    assert not np.isin(words, asked).any()
    assert vocabulary().scores[0][words].mean() == pytest.approx(0.3 * gender, abs=0.001)


def test_it_is_registered():
    assert CALIBRATIONS["search"] == "portrayal.audits.search.calibration"


@pytest.mark.parametrize(("queries", "far"), [(20, (0.5,)), (20, (0.5, -0.4, 0.6)), (60, (0.5, -0.4, 0.6)), (60, ())])
def test_intervals_and_tests_hold_with_outlying_queries_and_noise_that_grows(queries, far):
    # Queries of spread 0.05, some ten times as far out, and noise of 0.02 + 0.5 |g(q)| (without any far out, of Student's t with 3
    # degrees of freedom). 150 runs at 95%: 2.6 standard errors are 4.6 points.
    rng, held, found = np.random.default_rng(queries + len(far)), 0, 0
    for _ in range(150):
        x = rng.normal(0, 0.05, queries)
        x[: len(far)] = far
        noise = rng.normal(size=queries) if far else rng.standard_t(3, queries)
        y = (0.02 + 0.5 * np.abs(x)) * noise
        held += measure_slope(x, 0.1 * x + y).low <= 0.1 <= measure_slope(x, 0.1 * x + y).high
        null = measure_slope(x, y)
        found += null.p < 0.05 and not null.low <= 0 <= null.high
    assert held / 150 >= 0.904
    assert found / 150 <= 0.096
