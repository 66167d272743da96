"""One test for any number of groups, between people and within them."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from portrayal.stats.tests.people import level_test


def test_between_people_it_is_the_share_of_permutations_that_reach_the_sum_of_squares() -> None:
    values, groups = np.array([1.0, 1.0, 0.0, 0.0, 0.0, 1.0]), np.array([0, 0, 1, 1, 2, 2])

    def between(order) -> float:
        moved = values[list(order)] - values.mean()
        return sum(moved[groups == group].sum() ** 2 / 2 for group in range(3))

    counted = [between(order) >= between(range(6)) - 1e-9 for order in permutations(range(6))]
    assert level_test(values, groups, np.arange(6)) == pytest.approx(np.mean(counted), abs=0.015)


def test_within_people_only_their_own_answers_change_places() -> None:
    # Ten people, three places; everybody is refused in the first and nowhere else: 3 ** -10 of the patterns are as extreme.
    people, places = np.repeat(np.arange(10), 3), np.tile(np.arange(3), 10)
    assert level_test((places == 0).astype(float), places, people) <= 3 / 10_000
    # Five people are refused everywhere and five nowhere: people differ, places do not.
    assert np.isnan(level_test((people < 5).astype(float), places, people))


def test_two_groups_of_any_size_are_fishers_test() -> None:
    rng = np.random.default_rng(0)
    values, groups = (rng.random(6000) < 0.3).astype(float), np.repeat([0, 1], 3000)
    table = np.array([[values[groups == g].sum(), (1 - values[groups == g]).sum()] for g in (0, 1)])
    assert level_test(values, groups, np.arange(6000)) == pytest.approx(stats.fisher_exact(table).pvalue)


def pairs_of_ten(units: int, seed: int, share: float = 0.2, harm: float = 0.0) -> tuple[np.ndarray, ...]:
    """Units that are seen in two of ten groups each; the first group is refused more by `harm`."""
    rng = np.random.default_rng(seed)
    groups = np.argsort(rng.random((units, 10)), axis=1)[:, :2].ravel()
    values = (rng.random(2 * units) < share + harm * (groups == 0)).astype(float)
    return values, groups, np.repeat(np.arange(units), 2)


def test_the_same_statistic_counts_above_and_below_three_thousand_values() -> None:
    # 5,000 units in two of ten groups each, of whom about 1,600 are refused in one of the two.
    assert np.mean([level_test(*pairs_of_ten(5000, seed, harm=0.07)) < 0.05 for seed in range(40)]) >= 0.6
    # Of 200 audits without harm 10 are expected; 20 or more has a chance of .2%.
    assert np.mean([level_test(*pairs_of_ten(5000, seed)) < 0.05 for seed in range(200)]) < 0.1


def test_a_group_seen_by_volatile_units_alone_is_no_alarm() -> None:
    # 6,000 units that are never refused and 3,500 that are half the time, who alone are seen in the third group.
    found = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        groups = np.r_[np.tile([0, 1], 6000), np.tile([0, 2], 3500)]
        values = np.r_[np.zeros(12_000), (rng.random(7000) < 0.5).astype(float)]
        found.append(level_test(values, groups, np.repeat(np.arange(9500), 2)))
    assert np.mean(np.array(found) < 0.05) < 0.1


def test_false_alarms_stay_at_the_level_within_and_between() -> None:
    rng = np.random.default_rng(0)
    people, places = np.repeat(np.arange(8), 4), np.tile(np.arange(4), 8)
    within = [level_test((rng.random(32) < 0.4).astype(float), places, people, seed) for seed in range(60)]
    between = [
        level_test((rng.random(30) < 0.4).astype(float), np.arange(30) % 3, np.arange(30), seed) for seed in range(60)
    ]
    assert np.mean(np.array(within) < 0.05) <= 0.14  # of 60 at 5%: 9 or more has a chance of .3%
    assert np.mean(np.array(between) < 0.05) <= 0.14


def test_one_group_or_nothing_that_varies_is_no_test() -> None:
    assert np.isnan(level_test(np.array([1.0, 0.0]), np.array([0, 0]), np.arange(2)))
    assert np.isnan(level_test(np.ones(4), np.array([0, 0, 1, 1]), np.arange(4)))
