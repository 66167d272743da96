"""Counts against a tolerance: the exact binomial tail and its interval."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from portrayal.stats.intervals.intervals import over_tolerance


@pytest.mark.parametrize(("hits", "n"), [(0, 12), (1, 10), (3, 240), (240, 240)])
def test_it_is_scipys_binomial_test_and_clopper_pearson(hits: int, n: int) -> None:
    found = over_tolerance(hits, n, 0.005)
    test = stats.binomtest(hits, n, 0.005, alternative="greater")
    ends = stats.binomtest(hits, n).proportion_ci(0.95, "exact")
    assert (found.value, found.n, found.null) == (hits / n, n, 0.005)
    assert found.p == pytest.approx(test.pvalue)
    assert (found.low, found.high) == pytest.approx((ends.low, ends.high))


def test_one_of_ten_is_just_under_five_percent() -> None:
    # 1 - 0.995^10 = 0.0489
    assert over_tolerance(1, 10, 0.005).p == pytest.approx(1 - 0.995**10)


def test_no_cases_have_no_share() -> None:
    found = over_tolerance(0, 0, 0.005)
    assert found.n == 0
    assert np.isnan([found.value, found.low, found.p]).all()


def test_the_smallest_p_is_all_cases() -> None:
    assert over_tolerance(0, 3, 0.1).p_floor == pytest.approx(over_tolerance(3, 3, 0.1).p)
