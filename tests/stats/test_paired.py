"""Paired comparisons: against scipy's exact binomial test, the printed interval, and how often they are wrong."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from portrayal.stats.decisions.paired import paired_difference


def pairs(more: int, less: int, same: int) -> tuple[np.ndarray, np.ndarray]:
    return np.repeat([1.0, 0.0, 0.0], [more, less, same]), np.repeat([0.0, 1.0, 0.0], [more, less, same])


@pytest.mark.parametrize(("more", "less", "same"), [(12, 2, 26), (5, 5, 10), (1, 0, 3), (40, 70, 900)])
def test_mcnemar_is_the_binomial_test_of_the_discordant_pairs(more, less, same) -> None:
    found = paired_difference(*pairs(more, less, same))
    assert found.p == pytest.approx(stats.binomtest(more, more + less).pvalue)
    assert (found.value, found.n) == (pytest.approx((more - less) / (more + less + same)), more + less + same)


def test_the_interval_by_hand() -> None:
    # Bonett and Price: one of each added to the discordant counts 12 and 2, two to the 40 pairs: 13/42 - 3/42 = .2381, its
    # variance (16/42 - .2381^2) / 42 = .007720, half the interval 1.96 * .08787.
    found = paired_difference(*pairs(12, 2, 26))
    assert (found.low, found.high) == (pytest.approx(0.0659, abs=2e-4), pytest.approx(0.4103, abs=2e-4))


def test_nothing_that_differs_is_nothing_to_test() -> None:
    same = paired_difference(np.ones(5), np.ones(5))
    assert (same.decision, np.isnan(same.p)) == ("not tested", True)
    assert paired_difference(np.array([]), np.array([])).n == 0
    assert paired_difference(*pairs(3, 0, 2)).p_floor == 0.25  # 2 in 8


def test_shares_are_tested_by_flipping_signs() -> None:
    # 2/3 against 1/3 in each of six units: both of the 64 patterns that have all signs alike.
    found = paired_difference(np.full(6, 2 / 3), np.full(6, 1 / 3))
    assert found.p == pytest.approx(2 / 64)


def test_it_is_wrong_no_more_often_than_it_says() -> None:
    rng = np.random.default_rng(0)
    drawn = rng.random((400, 60, 2)) < 0.3
    found = [paired_difference(one[:, 0].astype(float), one[:, 1].astype(float)) for one in drawn]
    assert np.mean([one.p < 0.05 for one in found]) <= stats.binom.ppf(0.99, 400, 0.05) / 400
    assert np.mean([one.low <= 0 <= one.high for one in found]) >= stats.binom.ppf(0.01, 400, 0.95) / 400
