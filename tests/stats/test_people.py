"""Permutation tests over people: against all arrangements counted one by one, and their floors."""

from itertools import permutations, product

import numpy as np
import pytest
from scipy import stats

from portrayal.stats.models.groups import anova, permute_terms
from portrayal.stats.tests import people as people_tests
from portrayal.stats.tests.people import deal_pictures, level_test, permute_labels, permute_people
from portrayal.stats.tests.permutation import sign_flip, two_sample


def test_one_picture_a_person_is_fishers_test():
    # 9 of 12 of one side and 3 of 12 of the other: margins are equal, so the two-sided p is Fisher's.
    hits = np.r_[np.ones(9), np.zeros(3), np.ones(3), np.zeros(9)][:, None]
    weights = np.repeat([1 / 12, -1 / 12], 12)[:, None]
    found = permute_people(hits, weights, np.ones((24, 1), bool))
    assert found.p == pytest.approx(stats.fisher_exact([[9, 3], [3, 9]]).pvalue)
    assert found.floor == pytest.approx(stats.fisher_exact([[12, 0], [0, 12]]).pvalue)


def test_several_pictures_a_person_by_all_orders():
    random = np.random.default_rng(1)
    hits, weights = random.integers(0, 2, (6, 2)).astype(float), random.normal(0, 1, (6, 2))
    centred = weights - weights.mean(axis=0)
    sums = [abs((hits * centred[list(order)]).sum()) for order in permutations(range(6))]
    exact = np.mean(np.array(sums) >= abs((hits * centred).sum()) - 1e-9)
    assert permute_people(hits, weights, np.ones((6, 2), bool)).p == pytest.approx(exact, abs=0.02)


def test_many_people_are_drawn_until_a_large_effect_shows():
    hits = np.repeat([[1.0, 1.0], [0.0, 0.0]], 20, axis=0)
    weights = hits / 20 - (1 - hits) / 20
    assert permute_people(hits, weights, np.ones((40, 2), bool)).p == 1 / 100_000


def test_nothing_that_varies_is_not_tested():
    flat = np.ones((5, 2))
    assert np.isnan(permute_people(flat, np.random.default_rng(0).normal(size=(5, 2)), flat > 0).p)
    assert np.isnan(permute_people(np.ones((5, 1)), np.arange(5.0)[:, None] - 2, np.ones((5, 1), bool)).p)


def test_missing_pictures_leave_false_alarms_where_they_were():
    random, p = np.random.default_rng(0), []
    for run in range(150):
        there = random.random((14, 4)) < 0.85
        hits = (random.random((14, 4)) < random.beta(2, 2, (14, 1))) * there
        weights = random.normal(0, 1, (14, 4)) * there
        p.append(permute_people(hits.astype(float), weights, there, run).p)
    assert np.mean(np.array(p) <= 0.05) <= 0.1  # more than 15 of 150 at 5% in 1 of 200 tests


def test_labels_equal_the_exact_two_sample_test_column_by_column():
    random = np.random.default_rng(0)
    values, first = random.normal(0, 1, (11, 3)), np.arange(11) < 4
    found = permute_labels(values, first)
    exact = [two_sample(column[first], column[~first], alternative="two-sided").p for column in values.T]
    assert found.p == pytest.approx(exact)
    assert found.floor == pytest.approx([1 / 330] * 3)  # C(11, 4)


def test_labels_leave_out_who_has_no_number_and_what_is_constant():
    values = np.array([[1.0, 5.0, np.nan], [1.0, 5.0, 2.0], [0.0, 5.0, 1.0], [0.0, 5.0, 3.0], [0.0, 5.0, 1.0]])
    found = permute_labels(values, np.array([True, True, False, False, False]))
    assert found.p[0] == pytest.approx(0.1)
    assert np.isnan(found.p[1])
    assert found.floor[2] == 1 / 4  # one of four people


def test_one_picture_of_each_kind_is_a_sign_test():
    first, second = np.array([1, 1, 1, 0, 1, 0, 1, 1]), np.array([0, 0, 0, 1, 0, 0, 0, 1])
    one = np.ones(8)
    found = deal_pictures(first, one, second, one)
    assert found.p == pytest.approx(sign_flip(first - second, alternative="two-sided").p)
    assert found.floor == pytest.approx(2 / 2**6)


def test_one_picture_against_three_by_all_ways():
    alone, placed = np.array([0, 0, 1, 0]), np.array([1, 2, 3, 1])
    found = deal_pictures(placed, np.full(4, 3), alone, np.ones(4))
    # Each person's four pictures hold k = 1, 2, 4, 1 of them; any could be the one alone.
    pictures = [[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 1], [1, 0, 0, 0]]
    sums = np.array([
        sum((sum(own) - own[at]) / 3 - own[at] for own, at in zip(pictures, chosen, strict=True))
        for chosen in product(range(4), repeat=4)
    ])  # fmt: skip
    observed = (placed / 3 - alone).sum()
    assert found.p == pytest.approx(np.mean(np.abs(sums) >= abs(observed) - 1e-9))


def test_people_with_different_numbers_of_pictures():
    found = deal_pictures(np.array([2, 1]), np.array([2, 1]), np.array([0, 0]), np.array([1, 1]))
    # k = 2 of 3 with two in the place: all alone chances 1/3 (0, 1.5 more); k = 1 of 2: 1/2. Only both at once is so far: 1/6.
    assert found.p == pytest.approx(1 / 6)


def test_two_groups_that_do_or_do_not_are_tested_exactly():
    values, groups = np.repeat([1.0, 0.0], 20), np.repeat([0, 1], 20)
    found = level_test(values, groups, np.arange(40))
    assert found == pytest.approx(stats.fisher_exact([[20, 0], [0, 20]]).pvalue)  # 9,999 draws could not go below .0001


def test_terms_of_an_analysis_of_variance_by_all_orders():
    random = np.random.default_rng(3)
    values, group = random.normal(0, 1, 7), np.array([0, 0, 0, 1, 1, 1, 1])
    f = [stats.f_oneway(*(np.array(order)[group == g] for g in (0, 1))).statistic for order in permutations(values)]
    exact = np.mean(np.array(f) >= stats.f_oneway(values[:3], values[3:]).statistic - 1e-9)
    tested = permute_terms(values, {"group": group})
    assert tested.p["group"] == pytest.approx(exact, abs=0.02)
    assert tested.floor == pytest.approx(1 / 35)


def test_people_alike_by_chance_are_no_certainty():
    # Two cells of two, each alike: F has hardly a residual. Of the 6 ways to pair four people 2 are as clean.
    values, group = np.array([0.1, 0.1001, 0.5, 0.5]), np.array([0, 0, 1, 1])
    assert anova(values, {"group": group}).terms[0].p < 1e-6
    assert permute_terms(values, {"group": group}).p["group"] == pytest.approx(1 / 3, abs=0.02)


def test_two_factors_and_their_interaction_are_told_apart():
    first, second = np.repeat([0, 1], 12), np.tile([0, 1], 12)
    noise = np.random.default_rng(0).normal(0, 0.1, 24)
    p = permute_terms(first + noise, {"a": first, "b": second}).p
    assert p["a"] <= 1e-4
    assert p["b"] > 0.05
    crossed = permute_terms((first == second) + noise, {"a": first, "b": second}).p
    assert crossed["a x b"] <= 1e-4


def test_of_many_people_the_counts_without_a_chance_are_left_out():
    # 4,000 people, of whom 2,000 are of the first side and 1,500 show it, 800 of them there.
    hits = np.r_[np.ones(800), np.zeros(1200), np.ones(700), np.zeros(1300)][:, None]
    weights = np.repeat([1 / 2000, -1 / 2000], 2000)[:, None]
    found = permute_people(hits, weights, np.ones((4000, 1), bool))
    every = np.arange(1501)
    chances = stats.hypergeom.pmf(every, 4000, 1500, 2000)
    assert found.p == pytest.approx(chances[np.abs(every - 750) >= 50].sum(), rel=1e-12)
    assert found.floor == chances[[0, 1500]].sum()


def test_many_people_who_are_alike_are_dealt_by_halves(monkeypatch):
    # One picture of each kind and only one of them shows it: the sign test of 1,201 people, 640 of them one way.
    first, one = np.r_[np.ones(640), np.zeros(561)], np.ones(1201)
    found = deal_pictures(first, one, 1 - first, one)
    assert found.p == pytest.approx(2 * stats.binom.cdf(561, 1201, 0.5), rel=1e-12)
    # With others among them, who have two pictures in the place: as dealt one by one.
    firsts = np.r_[one, np.full(60, 2)]
    shown, alone = np.r_[first, np.full(30, 2), np.ones(30)], np.r_[1 - first, np.zeros(60)]
    mixed = deal_pictures(shown, firsts, alone, np.ones(1261))
    monkeypatch.setattr(people_tests, "MANY_ALIKE", 10_000)
    assert mixed.p == pytest.approx(deal_pictures(shown, firsts, alone, np.ones(1261)).p, rel=1e-12)


def test_flipped_whole_steps_by_all_patterns():
    steps = np.array([3.0, -1.0, 2.0, 2.0, 1.0])
    sums = np.array([np.dot(signs, steps) for signs in product((-1, 1), repeat=5)])
    assert sign_flip(steps).p == np.mean(sums >= 7)  # 3 - 1 + 2 + 2 + 1


@pytest.mark.parametrize(("people", "found", "side"), [(8, 3, 4), (60, 20, 31), (12_000, 4_000, 6_100)])
def test_chances_are_those_of_scipy(people: int, found: int, side: int) -> None:
    counts = people_tests._possible(people, found, side)
    ours = people_tests._chances(counts, people, found, side)
    np.testing.assert_allclose(ours, stats.hypergeom.pmf(counts, people, found, side), rtol=1e-8, atol=1e-300)
