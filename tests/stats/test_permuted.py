"""Permutations that stop early: the same p as all of them would give, and uniform where there is nothing."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from portrayal.stats.permuted import ENOUGH, sequential_p


def p_of(observed: float, seed: int, most: int = 9999) -> float:
    rng = np.random.default_rng(seed)
    return float(sequential_p(lambda count: rng.random((count, 1)), np.array([observed]), most)[0])


def test_a_large_p_stops_at_the_thirtieth_that_reaches_it() -> None:
    drawn = []

    def draw(count: int) -> np.ndarray:
        drawn.append(count)
        return np.tile([[1.0], [0.0]], (count // 2, 1))  # every second reaches 0.5

    # The 30th of every second permutation is the 59th.
    assert sequential_p(draw, np.array([0.5]), 9999)[0] == ENOUGH / 59
    assert drawn == [100]


def test_on_average_it_is_the_p() -> None:
    for p in (0.5, 0.05, 0.004):
        assert np.mean([p_of(1 - p, seed) for seed in range(60)]) == pytest.approx(p, rel=0.12)


def test_a_small_p_takes_all_permutations_and_is_never_zero() -> None:
    assert p_of(2.0, 0) == 1 / 10_000
    assert p_of(2.0, 0, 199) == 1 / 200


def test_it_is_uniform_where_there_is_nothing() -> None:
    rng = np.random.default_rng(0)
    found = [p_of(observed, seed, 999) for seed, observed in enumerate(rng.random(1500))]
    assert np.mean(np.array(found) <= 0.05) == pytest.approx(0.05, abs=0.017)  # three standard errors
    assert stats.kstest(found, "uniform").statistic < 0.05


def test_several_statistics_stop_each_at_its_own() -> None:
    rng = np.random.default_rng(1)
    found = sequential_p(lambda count: rng.random((count, 2)), np.array([0.5, 2.0]), 999)
    assert found[0] == pytest.approx(0.5, abs=0.2)
    assert found[1] == 1 / 1000
