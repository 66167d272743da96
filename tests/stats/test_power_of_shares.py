"""The power of two shares: against every table with scipy's own tests, and simulated."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from portrayal.stats.power.power import MOST, power_of_two_shares, smallest_share_difference
from portrayal.stats.tests.proportions import mean_share_difference


def test_it_is_the_sum_over_all_tables_of_the_test_that_is_made() -> None:
    first, second, n, m, alpha = 0.5, 0.1, 12, 9, 0.05
    expected = sum(
        stats.binom.pmf(i, n, first) * stats.binom.pmf(j, m, second)
        for i in range(n + 1)
        for j in range(m + 1)
        if 0 < i + j < n + m and stats.fisher_exact([[i, n - i], [j, m - j]]).pvalue < alpha
    )
    assert power_of_two_shares(first, second, n, m, alpha) == pytest.approx(expected)


def test_simulated_audits_find_as_many() -> None:
    rng = np.random.default_rng(0)
    found = 0
    for _ in range(400):
        one, other = rng.random(60) < 0.35, rng.random(50) < 0.1
        found += mean_share_difference(one, other).p < 0.01
    assert power_of_two_shares(0.35, 0.1, 60, 50, 0.01) == pytest.approx(found / 400, abs=0.07)


def test_many_units_go_by_the_normal_curve() -> None:
    exact = power_of_two_shares(0.16, 0.1, MOST, MOST, 0.01)
    assert power_of_two_shares(0.16, 0.1, MOST + 1, MOST + 1, 0.01) == pytest.approx(exact, abs=0.02)


def test_the_smallest_difference_is_found_in_80_of_100_and_none_where_there_are_too_few() -> None:
    gap = smallest_share_difference(0.1, 60, 60, 0.001)
    assert power_of_two_shares(0.1 + gap, 0.1, 60, 60, 0.001) == pytest.approx(0.8, abs=0.01)
    assert smallest_share_difference(0.1, 3, 3, 0.001) == float("inf")


def test_fishers_test_alone_is_what_is_counted_where_it_is_asked_for() -> None:
    # Every pair of counts of 30 and 25, tested by scipy's own Fisher test; some have no small count.
    share, base = 0.7, 0.4
    expected = sum(
        stats.binom.pmf(k, 30, share) * stats.binom.pmf(j, 25, base)
        for k in range(31)
        for j in range(26)
        if stats.fisher_exact([[k, 30 - k], [j, 25 - j]]).pvalue < 0.05
    )
    assert power_of_two_shares(share, base, 30, 25, 0.05, fisher=True) == pytest.approx(expected)
    assert power_of_two_shares(share, base, 30, 25, 0.05) > expected + 0.02  # the z test finds more
