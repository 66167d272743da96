"""Shares of independent units: Newcombe's table, Fisher's and the pooled test, Welch's interval."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from portrayal.stats.estimate import Estimate
from portrayal.stats.intervals.intervals import clustered_mean, wilson
from portrayal.stats.intervals.shares import with_missing
from portrayal.stats.tests.proportions import mean_share, mean_share_difference, newcombe


def difference(first: np.ndarray, second: np.ndarray) -> tuple[Estimate, float]:
    found = mean_share_difference(first, second)
    return found, found.p


def units(hits: int, n: int) -> np.ndarray:
    return np.repeat([1.0, 0.0], [hits, n - hits])


def test_shares_of_yes_and_no_have_wilsons_interval_and_others_that_of_a_mean() -> None:
    assert tuple(mean_share(units(3, 10))) == pytest.approx(tuple(wilson(3, 10)))
    parts = np.array([0.0, 0.5, 1.0, 1.0])
    assert tuple(mean_share(parts)) == pytest.approx(tuple(clustered_mean(parts, np.arange(4))))
    assert np.isnan(list(mean_share(np.array([])))).all()


@pytest.mark.parametrize(
    ("table", "ends"),
    [
        # Newcombe (1998), Table II, method 10: examples (a), (b), (c) and (e).
        ((56, 70, 48, 80), (0.2, 0.0524, 0.3339)),
        ((9, 10, 3, 10), (0.6, 0.1705, 0.8090)),
        ((6, 7, 2, 7), (0.5714, 0.0582, 0.8062)),
        ((0, 10, 0, 20), (0.0, -0.1611, 0.2775)),
    ],
)
def test_differences_are_newcombes(table: tuple[int, int, int, int], ends: tuple[float, float, float]) -> None:
    interval, _ = difference(units(*table[:2]), units(*table[2:]))
    assert tuple(interval) == pytest.approx(ends, abs=5e-5)


def test_large_counts_are_tested_by_pearson_and_small_ones_by_fisher() -> None:
    _, p = difference(units(40, 60), units(25, 70))
    assert p == pytest.approx(stats.chi2_contingency([[40, 20], [25, 45]], correction=False).pvalue)
    _, p = difference(units(10, 30), units(25, 50))  # ten in a cell are enough
    assert p == pytest.approx(stats.chi2_contingency([[10, 20], [25, 25]], correction=False).pvalue)
    _, p = difference(units(9, 30), units(25, 50))
    assert p == pytest.approx(stats.fisher_exact([[9, 21], [25, 25]]).pvalue)


def test_nobody_or_everybody_is_no_test() -> None:
    for hits in (0, 20):
        interval, p = difference(units(hits, 20), units(hits, 20))
        assert interval.value == 0
        assert np.isnan(p)


def test_parts_are_compared_by_welch() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.random(12), rng.random(30) ** 2
    theirs = stats.ttest_ind(first, second, equal_var=False)
    interval, p = difference(first, second)
    assert tuple(interval) == pytest.approx((first.mean() - second.mean(), *theirs.confidence_interval()))
    assert p == pytest.approx(theirs.pvalue)
    two, _ = difference(np.array([0.2, 0.4]), np.array([0.5, 0.9]))
    assert np.isfinite(list(two)).all()


def test_one_unit_on_a_side_has_a_difference_and_no_interval_and_none_has_nothing() -> None:
    for first, second in (([0.25], [0.5, 1.0]), ([0.5, 1.0], [0.25])):
        interval, p = difference(np.array(first), np.array(second))
        assert interval.value == np.mean(first) - np.mean(second)
        assert np.isnan([interval.low, interval.high, p]).all()
    for first, second in (([], [1.0]), ([1.0], [])):
        interval, p = difference(np.array(first), np.array(second))
        assert np.isnan([*interval, p]).all()


def test_a_side_that_does_not_vary_is_not_known_for_certain() -> None:
    first, second = np.zeros(5), np.array([0.0, 1 / 3, 2 / 3, 0.0, 1.0])
    interval, p = difference(first, second)
    # Newcombe's interval of 0 of 5 and 2 of 5 units; Welch's would take nothing of the first side's error.
    expected = newcombe(wilson(0, 5), wilson(2, 5))
    assert tuple(interval) == pytest.approx(tuple(expected))
    assert np.isnan(p)


@pytest.mark.parametrize(("hits", "first", "second"), [(2, 5, 5), (5, 20, 20), (3, 4, 30), (6, 10, 7)])
def test_the_smallest_p_is_that_of_the_least_likely_table(hits: int, first: int, second: int) -> None:
    tables = [
        stats.fisher_exact([[own, first - own], [hits - own, second - hits + own]]).pvalue
        for own in range(max(0, hits - second), min(hits, first) + 1)
    ]
    own = min(hits, first) // 2
    floor = mean_share_difference(units(own, first), units(hits - own, second)).p_floor
    assert floor == pytest.approx(min(tables))


def test_a_difference_with_the_missing_answers_by_hand():
    # 8 of 10 against 4 of 10, and 10 more of the first side without an answer: 18 of 20 or 8 of 20 against .4.
    first, second = np.repeat([1.0, 0.0], [8, 2]), np.repeat([1.0, 0.0], [4, 6])
    gap = with_missing(mean_share_difference(first, second), first, second, (10, 0))
    assert (gap.value_if_all, gap.value_if_none) == pytest.approx((0.5, 0.0))
    whole = mean_share_difference(first, second)
    assert with_missing(whole, first, second, (0, 0)) is whole
