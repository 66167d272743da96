"""Ratios and trends of shares, and shares behind a detector: by hand and against statsmodels and scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from portrayal.errors import PortrayalError
from portrayal.stats.tests.proportions import corrected_share, share_difference, share_ratio, share_trend


def test_the_ratio_is_that_of_katz() -> None:
    # 15 of 100 against 5 of 50: ratio 1.5; the variance of its log is 1/15 - 1/100 + 1/5 - 1/50 = .236667.
    found = share_ratio(15, 100, 5, 50)
    half = 1.959964 * np.sqrt(1 / 15 - 1 / 100 + 1 / 5 - 1 / 50)
    assert tuple(found) == pytest.approx((1.5, 1.5 * np.exp(-half), 1.5 * np.exp(half)))
    assert found.p == pytest.approx(stats.fisher_exact([[15, 85], [5, 45]]).pvalue)


def test_a_ratio_needs_a_hit_below_and_its_interval_one_above() -> None:
    for table in ((3, 10, 0, 10), (3, 10, 0, 0), (0, 0, 3, 10)):
        assert np.isnan(list(share_ratio(*table))).all()
    none_above = share_ratio(0, 10, 4, 10)
    assert none_above.value == 0
    assert np.isnan([none_above.low, none_above.high]).all()
    assert np.isfinite(list(share_ratio(1, 1, 1, 1))).all()


def test_nobody_on_a_side_is_no_test() -> None:
    assert np.isnan(share_difference(0, 0, 3, 10).p)
    assert np.isnan(share_difference(3, 10, 0, 0).p)
    assert share_difference(0, 1, 1, 1).p == 1.0


def test_the_trend_by_hand() -> None:
    # 2, 4, 9 hits of 10, 10, 20 at positions 0, 1, 3. The mean position is 70 / 40 = 1.75; the centred ones are -1.75,
    # -.75, 1.25 and the spread 10 * 3.0625 + 10 * .5625 + 20 * 1.5625 = 67.5; the slope (-3.5 - 3 + 11.25) / 67.5.
    found = share_trend([0, 1, 3], [2, 4, 9], [10, 10, 20])
    slope = 4.75 / 67.5
    assert found.value == pytest.approx(slope)
    # With a hit and a miss added the shares are 3/12, 5/12 and 10/22; each position has its own variance.
    own = [10 * 3.0625 * (3 / 12) * (9 / 12), 10 * 0.5625 * (5 / 12) * (7 / 12), 20 * 1.5625 * (10 / 22) * (12 / 22)]
    half = 1.959964 * np.sqrt(sum(own)) / 67.5
    assert (found.low, found.high) == pytest.approx((slope - half, slope + half))
    # Cochran-Armitage: pooled share 15 / 40.
    z = slope / np.sqrt(0.375 * 0.625 / 67.5)
    assert found.p == pytest.approx(2 * stats.norm.sf(z))


def test_the_trend_equals_statsmodels() -> None:
    from statsmodels.stats.contingency_tables import Table

    hits, n = np.array([3, 8, 15]), np.array([20, 25, 30])
    theirs = Table(np.column_stack([n - hits, hits])).test_ordinal_association(np.arange(3), np.arange(2))
    assert share_trend([0, 1, 2], hits, n).p == pytest.approx(theirs.pvalue, rel=0.05)  # theirs divides by n - 1


def test_a_trend_needs_two_positions_with_images_and_something_that_varies() -> None:
    for hits, n in (([2, 0], [10, 0]), ([0, 0], [0, 0])):
        found = share_trend([20, 30], hits, n)
        assert np.isnan([*found, found.p]).all()
    still = share_trend([20, 30], [0, 0], [10, 10])
    assert (still.value, np.isnan(still.p)) == (0.0, True)


def test_a_corrected_share_is_a_share() -> None:
    # Rogan and Gladen: (0.3 + 0.9 - 1) / (0.7 + 0.9 - 1) = 1/3.
    assert corrected_share(0.3, 0.7, 0.9) == pytest.approx(1 / 3)
    assert corrected_share(0.9, 0.7, 0.9) == 1.0  # 4/3
    assert corrected_share(0.05, 0.7, 0.9) == 0.0
    with pytest.raises(PortrayalError, match="cannot be corrected"):
        corrected_share(0.3, 0.4, 0.6)
