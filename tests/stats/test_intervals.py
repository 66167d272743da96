"""Intervals: by hand, against scipy and statsmodels, and their coverage."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from portrayal.stats.intervals.intervals import clustered_mean, resample_counts, wilson


@pytest.mark.parametrize(("successes", "n"), [(0, 10), (3, 10), (10, 10), (81, 263)])
def test_wilson_equals_statsmodels(successes: int, n: int) -> None:
    theirs = proportion_confint(successes, n, method="wilson")
    found = wilson(successes, n)
    assert (found.value, found.low, found.high) == pytest.approx((successes / n, *theirs), abs=1e-12)


def test_wilson_without_observations_is_missing() -> None:
    assert np.isnan(list(wilson(0, 0))).all()


def test_clustered_mean_with_single_members_is_the_t_interval() -> None:
    values = np.random.default_rng(0).normal(size=12)
    theirs = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    found = clustered_mean(values, np.arange(12))
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high))


def test_repeating_every_value_adds_no_knowledge() -> None:
    values = np.random.default_rng(0).normal(size=12)
    once = clustered_mean(values, np.arange(12))
    thrice = clustered_mean(np.repeat(values, 3), np.repeat(np.arange(12), 3))
    assert tuple(thrice) == pytest.approx(tuple(once))


def test_one_cluster_has_no_ends() -> None:
    found = clustered_mean(np.array([1.0, 2.0]), np.zeros(2))
    assert np.isnan(found.low)
    assert np.isnan(found.high)


def test_resampling_keeps_the_size_of_each_stratum() -> None:
    counts = resample_counts(["x", "y", "x", "y", "y"], 500, seed=2)
    assert counts.shape == (500, 5)
    assert set(counts[:, [0, 2]].sum(axis=1)) == {2}
    assert set(counts[:, [1, 3, 4]].sum(axis=1)) == {3}
    assert counts.mean(axis=0) == pytest.approx(np.ones(5), abs=0.15)
    assert np.array_equal(counts, resample_counts(["x", "y", "x", "y", "y"], 500, seed=2))
