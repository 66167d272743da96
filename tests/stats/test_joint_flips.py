"""Joint sign flips against brute force, and what they promise with few people."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from portrayal.stats.tests import max_t
from portrayal.stats.tests.max_t import flip_jointly


def brute(differences: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Westfall and Young's algorithm 2.8 spelt out: every pattern of signs, the largest of a test and all weaker ones."""
    table = np.nan_to_num(differences)
    scale = np.sqrt((table**2).sum(0))
    observed = np.abs(table.sum(0)) / scale
    patterns = [np.abs(np.array(signs) @ table) / scale for signs in product((1, -1), repeat=len(table))]
    order = sorted(range(len(observed)), key=lambda test: -observed[test])
    alone = np.array([np.mean([one[t] >= observed[t] - 1e-9 for one in patterns]) for t in range(len(observed))])
    adjusted, before = np.zeros(len(observed)), 0.0
    for place, test in enumerate(order):
        reached = np.mean([max(one[rest] for rest in order[place:]) >= observed[test] - 1e-9 for one in patterns])
        before = max(before, float(reached))
        adjusted[test] = before
    return alone, adjusted


@pytest.mark.parametrize("seed", range(3))
def test_p_and_corrected_p_equal_every_pattern_counted(seed: int) -> None:
    differences = np.random.default_rng(seed).normal(0.6, 1, (7, 4))
    differences[2, 1] = np.nan  # a person without this test
    alone, adjusted = brute(differences)
    found = flip_jointly(differences)
    np.testing.assert_allclose(found.p, alone)
    np.testing.assert_allclose(found.adjusted, np.where(found.skewed, np.nan, adjusted))


def test_eight_people_who_all_differ_alike_reach_two_in_256_beside_any_number_of_tests() -> None:
    rng = np.random.default_rng(0)
    differences = np.column_stack([np.ones(8), rng.normal(size=(8, 50))])
    found = flip_jointly(differences)
    assert found.p[0] == found.adjusted[0] == 2 / 256  # Holm over 51 tests would give .4
    assert found.floor[0] == 2 / 256


def test_a_test_in_which_nobody_differs_has_no_p() -> None:
    found = flip_jointly(np.column_stack([np.zeros(6), np.arange(1.0, 7.0)]))
    assert np.isnan(found.p[0])
    assert np.isnan(found.adjusted[0])
    assert found.p[1] == 2 / 64


def test_only_people_who_differ_count_for_the_smallest_p_possible() -> None:
    assert flip_jointly(np.array([[1.0], [2.0], [0.0], [np.nan]])).floor[0] == 0.5


def test_beyond_the_exact_size_the_sample_is_seeded_and_never_gives_zero() -> None:
    differences = np.random.default_rng(1).normal(3, 1, (40, 3))
    one, other = flip_jointly(differences, 0), flip_jointly(differences, 0)
    np.testing.assert_array_equal(one.p, other.p)
    assert (one.p == 1 / 10_000).all()


def test_without_any_effect_one_in_twenty_sets_of_tests_has_a_corrected_p_under_the_level() -> None:
    rng = np.random.default_rng(0)
    alarms = sum(np.nanmin(flip_jointly(rng.normal(size=(9, 12))).adjusted) < 0.05 for _ in range(400))
    assert alarms <= 33  # of 400 at 5%: 20 expected, 33 is the 99.8th percentile


def test_no_tests_give_nothing() -> None:
    assert len(flip_jointly(np.zeros((5, 0))).p) == 0


def test_one_sided_flips_look_above_zero_only() -> None:
    # Five people who all differ by more than 0: 1 of 32 patterns, and all the other way every pattern reaches it.
    rng = np.random.default_rng(2)
    differences = np.abs(rng.normal(size=(5, 2))) * [1, -1]
    found = flip_jointly(differences, one_sided=True)
    assert found.p.tolist() == [1 / 32, 1.0]
    assert found.floor.tolist() == [2 / 32, 1 / 32]  # the first reaches at most what the second reaches in one more
    # By hand: patterns whose larger statistic reaches the first test's.
    scaled = differences / np.sqrt((differences**2).sum(0))
    sums = [np.array(signs) @ scaled for signs in product((1, -1), repeat=5)]
    assert found.adjusted[0] == np.mean([one.max() >= scaled[:, 0].sum() - 1e-9 for one in sums])


def test_the_smallest_p_possible_is_that_after_correction() -> None:
    # Six of 48 people moved, beside 13 tests in which all did: 2 in 64 alone, but .1 to .2 beside them, "not found" before.
    differences = np.random.default_rng(1).normal(size=(48, 14))
    differences[:, 0] = np.repeat([1.0, 0.0], [6, 42])
    found = flip_jointly(differences)
    assert 0.05 < found.floor[0] < 0.3
    assert found.adjusted[0] == found.floor[0]  # nobody moved the other way


def test_long_tails_of_ten_people_give_no_family_of_false_findings(monkeypatch) -> None:
    monkeypatch.setattr(max_t, "SKEWS", 99)
    rng = np.random.default_rng(0)
    families = [flip_jointly(rng.exponential(size=(10, 20)) - 1) for _ in range(150)]
    assert np.mean([(one.adjusted < 0.05).any() for one in families]) <= 0.1  # of 150 at 5%: 16 in 1 of 150; it was 37%


def test_who_all_move_as_far_or_to_the_side_of_the_tail_are_tested() -> None:
    one_way = np.tile(np.repeat([1.0, 0.0, -1.0], [20, 3, 1])[:, None], 3)
    assert not flip_jointly(one_way).skewed.any()
    rare = np.zeros((48, 3))
    rare[:8] = np.random.default_rng(0).exponential(size=(8, 3)) + 0.2
    assert not flip_jointly(rare).skewed.any()
    assert (flip_jointly(rare).adjusted < 0.05).all()


def test_twenty_people_who_all_lean_one_way_are_tested() -> None:
    # A third of people in a tail on the other side would be missed by 20 people in (2 / 3) ** 20 = .0003.
    leaning = -np.repeat([0.27, 0.32, 0.16], [8, 7, 5])[:, None]
    assert flip_jointly(leaning).p[0] < 0.001
    assert not flip_jointly(leaning).skewed.any()


def test_ten_people_who_lean_away_from_a_tail_in_a_family_are_tested_only_where_they_lean_far() -> None:
    # So skewed differences with a mean of 0 lean by 2 deviations in 1 of 100 tests, by 4 in fewer than 1 of 1,000.
    leaning = np.repeat([1.0, 0.9, 0.8, 0.2, 0.1], [3, 3, 2, 1, 1])[:, None]
    assert 1.5 < leaning.mean() / leaning.std() < 2.5
    near, far = flip_jointly(np.tile(-leaning, 20)), flip_jointly(np.tile(-leaning - 1, 20))
    assert near.skewed.all() and np.isnan(near.adjusted).all()
    assert not far.skewed.any() and (far.adjusted < 0.05).all()
    assert not flip_jointly(np.tile(leaning.max() - leaning + 0.3, 20)).skewed.any()  # the tail lies where they lean


def test_nine_people_of_thirty_tests_with_a_planted_slope_are_tested() -> None:
    rng = np.random.default_rng(0)
    tested = []
    for _ in range(60):
        family = rng.normal(size=(9, 30))
        family[:, 0] += 2.7
        tested.append(flip_jointly(family).skewed[0])
    assert np.mean(tested) <= 0.05  # 13% before


@pytest.mark.parametrize("missing", [0.0, 0.5])
@pytest.mark.parametrize(("people", "tests"), [(7, 1), (9, 36), (12, 8), (20, 20)])
def test_exponential_differences_give_no_family_of_false_findings(people, tests, missing, monkeypatch) -> None:
    monkeypatch.setattr(max_t, "DRAWS", 399)
    monkeypatch.setattr(max_t, "EXACT", 10)
    rng, found = np.random.default_rng(people), 0
    for _ in range(150):
        family = rng.exponential(size=(people, tests)) - 1
        family[rng.random(family.shape) < missing] = np.nan
        found += bool((flip_jointly(family).adjusted < 0.05).any())
    assert found <= 16  # of 150 at 5.5%: 8; 17 or more in 1 of 300
