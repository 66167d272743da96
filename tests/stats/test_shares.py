"""Shares of people seen several times: by hand, against scipy, and what they must obey."""

import numpy as np
import pytest
from scipy import stats

from portrayal.stats.intervals.shares import bounded_mean, change, clustered_share


def test_one_picture_each_is_wilson_with_the_plain_variance():
    # 30 of 100: variance .3 * .7 / 99, so 99 effective observations; Wilson with t(99) = 1.98422.
    hits = np.array([1] * 30 + [0] * 70)
    share = clustered_share(hits, np.ones(100))
    z, n = stats.t.ppf(0.975, 99), 99
    centre = (0.3 + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(0.21 / n + z**2 / (4 * n**2))
    assert share.value == pytest.approx(0.3)
    assert (share.low, share.high) == pytest.approx((centre - half, centre + half))


def test_seeing_the_same_people_more_often_does_not_narrow_the_interval():
    hits = np.array([1] * 4 + [0] * 6)
    once, often = clustered_share(hits, np.ones(10)), clustered_share(hits * 50, np.full(10, 50))
    assert (often.low, often.high) == pytest.approx((once.low, once.high))


def test_nothing_seen_is_missing_and_all_alike_keeps_a_width():
    assert np.isnan(clustered_share(np.zeros(3), np.zeros(3)).value)
    share = clustered_share(np.ones(10), np.ones(10))
    assert share.value == 1
    assert share.low < 0.8


def test_one_person_says_nothing_about_people():
    share = clustered_share(np.array([3, 0]), np.array([4, 0]))
    assert (share.value, share.low, share.high) == (0.75, 0.0, 1.0)


def test_change_of_equal_shares_of_the_same_people_is_zero_with_no_width():
    share = clustered_share(np.array([1, 0, 1, 0]), np.ones(4))
    assert change(share, share).value == 0
    # Perfectly correlated: what one share gains the other does too; only the skew of the ends remains.
    assert change(share, share).high == pytest.approx(share.high - share.value - (share.value - share.low), abs=1e-9)


def test_bounded_mean_by_hand():
    # Ten zeros and the two made-up people: mean 0, variance 2/12, error sqrt(2/12/12) = .117851; t(9) = 2.262157.
    found = bounded_mean(np.zeros(10))
    assert found.value == 0
    assert found.high == pytest.approx(0.117851 * 2.262157, abs=1e-5)
    assert np.isnan(bounded_mean(np.array([0.5])).low)


def test_bounded_mean_of_people_who_differ_by_hand():
    # .2, .4, .9: mean .5, variance .13, error sqrt(.13 / 3) = .208167. With one picture a person the made-up people stand at
    # 1.5 and -.5: the squares are .09 + .01 + .16 + 1 + 1 over 5, the error sqrt(.452 / 5) = .300666, which is wider.
    # With four pictures they stand at .75 and .25: sqrt((.26 + .125) / 5 / 5) = .124097, and the t interval is.
    values, t = np.array([0.2, 0.4, 0.9]), 4.302653
    for pictures, error in ((1, 0.300666), (4, 0.208167)):
        found = bounded_mean(values, pictures, 0.5)
        assert found.high - found.value == pytest.approx(stats.t.ppf(0.75, 2) * error, abs=1e-5)
    assert tuple(bounded_mean(values)) == pytest.approx((0.5, 0.5 - t * 0.300666, 1.0), abs=1e-5)


def test_two_people_are_enough_for_an_interval_and_one_observation_for_a_share():
    assert np.isfinite(list(bounded_mean(np.array([0.1, 0.2])))).all()
    assert np.isnan(list(bounded_mean(np.array([])))).all()
    assert clustered_share(np.array([1.0, 0.0]), np.array([1.0, 0.0])).value == 1.0


@pytest.mark.parametrize("people", [10, 60])
def test_the_interval_of_a_change_covers(people):
    # Two pictures a person in each condition; a change of .2 is planted; seed 0, 400 audits.
    rng, inside = np.random.default_rng(0), 0
    for _ in range(400):
        taste = rng.normal(0, 1, people)
        before = (rng.random((people, 2)) < stats.norm.cdf(taste - 0.5)[:, None]).sum(1)
        after = (rng.random((people, 2)) < stats.norm.cdf(taste + 0.3)[:, None]).sum(1)
        truth = stats.norm.cdf(0.3 / np.sqrt(2)) - stats.norm.cdf(-0.5 / np.sqrt(2))
        found = change(clustered_share(after, np.full(people, 2)), clustered_share(before, np.full(people, 2)))
        inside += found.low <= truth <= found.high
    assert 0.92 <= inside / 400 <= 0.99
