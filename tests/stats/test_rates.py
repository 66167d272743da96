"""Rates over clusters by hand, and the edges where there is nothing to count."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from portrayal.stats.intervals.intervals import clustered_rate, paired_rate_ratio


def test_a_rate_of_three_clusters_by_hand() -> None:
    # 2, 3, 7 events on 10, 20, 30 occasions: rate 0.2. Off by 0, -1, 1, over 60; the variance is 3/2 (1 + 1) / 3600.
    value, low, high = clustered_rate([2, 3, 7], [10, 20, 30])
    half = stats.t.ppf(0.975, 2) * np.sqrt(1.5 * 2 / 3600)
    assert (value, low, high) == pytest.approx((0.2, max(0.0, 0.2 - half), 0.2 + half))
    assert clustered_rate([2, 3, 7], [10, 20, 30], 0.5).low > 0.1


def test_nothing_counted_is_missing_and_one_cluster_has_no_interval() -> None:
    assert np.isnan(list(clustered_rate([0, 0], [0, 0]))).all()
    assert np.isnan(list(clustered_rate([], []))).all()
    assert clustered_rate([1], [1]).value == 1.0
    assert np.isnan(list(clustered_rate([3], [10]))[1:]).all()
    assert clustered_rate([1, 0], [1, 0]).value == 1.0


def test_a_ratio_of_three_clusters_by_hand() -> None:
    # Left out one by one, the log rates above and below differ by these; the jackknife's influence is (n - 1) / n of
    # what each is off the mean.
    counts, occasions = np.array([4.0, 6.0, 2.0]), np.array([10.0, 20.0, 10.0])
    base, below = np.array([2.0, 5.0, 9.0]), np.array([10.0, 10.0, 20.0])

    def log_rate(events: np.ndarray, times: np.ndarray) -> np.ndarray:
        kept = ~np.eye(3, dtype=bool)
        return np.array([np.log(events[row].sum() / times[row].sum()) for row in kept])

    left_out = log_rate(counts, occasions) - log_rate(base, below)
    influence = 2 / 3 * (left_out.mean() - left_out)
    half = stats.t.ppf(0.975, 2) * np.sqrt(3 / 2 * np.sum(influence**2))
    ratio = (12 / 40) / (16 / 40)
    expected = ratio, ratio * np.exp(-half), ratio * np.exp(half)
    assert tuple(paired_rate_ratio(counts, occasions, base, below)) == pytest.approx(expected)


def test_one_cluster_with_all_events_takes_the_linear_approximation() -> None:
    # Without the first cluster there is no event left to take the logarithm of.
    counts, occasions, base = np.array([4.0, 0.0, 0.0]), np.full(3, 10.0), np.array([1.0, 2.0, 3.0])
    linear = (counts - 4 / 30 * occasions) / 4
    left_out = np.log([5 / 20, 4 / 20, 3 / 20])
    influence = linear - 2 / 3 * (left_out.mean() - left_out)
    half = stats.t.ppf(0.975, 2) * np.sqrt(3 / 2 * np.sum(influence**2))
    found = paired_rate_ratio(counts, occasions, base, occasions)
    assert tuple(found) == pytest.approx((4 / 6, 4 / 6 * np.exp(-half), 4 / 6 * np.exp(half)))


def test_a_ratio_without_events_or_occasions() -> None:
    assert np.isnan(list(paired_rate_ratio([1, 2], [5, 5], [0, 0], [5, 5]))).all()
    assert np.isnan(list(paired_rate_ratio([0, 0], [0, 0], [1, 2], [5, 5]))).all()
    for counts, occasions in (([0, 0], [5, 5]), ([3], [5])):
        value, low, high = paired_rate_ratio(counts, occasions, [1] * len(counts), [5] * len(counts))
        assert value == pytest.approx(sum(counts) / len(counts))
        assert np.isnan([low, high]).all()
    assert paired_rate_ratio([1], [1], [1], [1]).value == 1.0  # one occasion is one
