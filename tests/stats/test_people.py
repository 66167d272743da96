"""Permutation tests over people: against all arrangements counted one by one, and their floors."""

import tracemalloc
from functools import reduce
from itertools import combinations, permutations, product

import numpy as np
import pytest
from scipy import stats

from portrayal.stats import permuted
from portrayal.stats.models import groups as groups_module
from portrayal.stats.models.groups import anova, permute_terms
from portrayal.stats.tests import people as people_tests
from portrayal.stats.tests.people import deal_pictures, level_test, permute_labels, permute_people
from portrayal.stats.tests.permutation import sign_flip


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
    centred = hits - hits.mean(axis=0), weights - weights.mean(axis=0)

    def studentised(order) -> float:
        scores = (centred[0] * centred[1][list(order)]).sum(axis=1)
        return abs(scores.sum()) / np.sqrt((scores**2).sum())

    exact = np.mean([studentised(order) >= studentised(range(6)) - 1e-9 for order in permutations(range(6))])
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


def test_labels_are_all_choices_of_welchs_statistic_or_welchs_test_where_its_p_is_larger():
    random = np.random.default_rng(0)
    values, first = random.normal(0, 1, (11, 3)), np.arange(11) < 4
    found = permute_labels(values, first)
    choices = [np.isin(np.arange(11), chosen) for chosen in combinations(range(11), 4)]
    for column, p in zip(values.T, found.p, strict=True):
        own = stats.ttest_ind(column[first], column[~first], equal_var=False)
        every = [abs(stats.ttest_ind(column[one], column[~one], equal_var=False).statistic) for one in choices]
        exact = np.mean(np.array(every) >= abs(own.statistic) - 1e-9)
        assert p == pytest.approx(max(exact, own.pvalue))
    assert found.floor == pytest.approx([1 / 330] * 3)  # C(11, 4)


def test_labels_leave_out_who_has_no_number_and_what_is_constant():
    values = np.array([[1.0, 5.0, np.nan], [1.0, 5.0, 2.0], [0.0, 5.0, 1.0], [0.0, 5.0, 3.0], [0.0, 5.0, 1.0]])
    found = permute_labels(values, np.array([True, True, False, False, False]))
    assert found.p[0] == pytest.approx(0.1)
    assert np.isnan(found.p[1])
    assert np.isnan(found.p[2])  # one person of the first side has a number: none to tell a spread by
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


def test_terms_of_an_analysis_of_variance_by_all_orders_or_by_welch_where_its_p_is_larger():
    for seed in (3, 4):
        random = np.random.default_rng(seed)
        values, group = random.normal(0, 1, 7), np.array([0, 0, 0, 1, 1, 1, 1])
        orders = np.array(list(permutations(values)))
        gaps = np.abs(orders[:, :3].mean(axis=1) - orders[:, 3:].mean(axis=1))  # F rises with them
        exact = np.mean(gaps >= gaps[0] - 1e-9)
        welch = stats.ttest_ind(values[:3], values[3:], equal_var=False).pvalue
        tested = permute_terms(values, {"group": group})
        assert tested.p["group"] == pytest.approx(
            max(exact, welch), abs=0.04
        )  # Hotelling's degrees of freedom differ from Welch's
        assert tested.floor == pytest.approx(1 / 35)


def test_people_alike_by_chance_are_no_certainty():
    # Two cells of three, each nearly alike: F has hardly a residual. Of the 20 ways to divide six people 2 are as clean.
    values, group = np.array([0.1, 0.1001, 0.1, 0.5, 0.5, 0.5]), np.repeat([0, 1], 3)
    assert anova(values, {"group": group}).terms[0].p < 1e-6
    assert permute_terms(values, {"group": group}).p["group"] == pytest.approx(0.1, abs=0.02)


def test_a_group_of_two_is_too_small_to_tell_its_spread():
    assert permute_terms(np.arange(8.0), {"group": np.array([0] * 6 + [1] * 2)}).p == {}


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


def test_many_people_are_dealt_by_halves():
    # One picture of each kind and only one of them shows it: the sign test of 1,201 people, 640 of them one way.
    first, one = np.r_[np.ones(640), np.zeros(561)], np.ones(1201)
    found = deal_pictures(first, one, 1 - first, one)
    assert found.p == pytest.approx(2 * stats.binom.cdf(561, 1201, 0.5), rel=1e-12)
    # With others among them, who have two pictures in the place: as dealt one by one.
    firsts, seconds, whole = np.r_[one, np.full(60, 2)], np.ones(1261), np.r_[one, np.full(30, 2), np.ones(30)]
    counted = people_tests._counts(firsts, seconds, whole, np.ones(1261, dtype=bool))
    of_each = [stats.hypergeom.pmf(np.arange(3), 2 if n == 1 else 3, k, n) for n, k in zip(firsts, whole, strict=True)]
    np.testing.assert_allclose(counted, reduce(np.convolve, of_each)[: len(counted)], rtol=1e-9, atol=1e-300)


def test_flipped_whole_steps_by_all_patterns():
    steps = np.array([3.0, -1.0, 2.0, 2.0, 1.0])
    sums = np.array([np.dot(signs, steps) for signs in product((-1, 1), repeat=5)])
    assert sign_flip(steps).p == np.mean(sums >= 7)  # 3 - 1 + 2 + 2 + 1


@pytest.mark.parametrize(("people", "found", "side"), [(8, 3, 4), (60, 20, 31), (12_000, 4_000, 6_100)])
def test_chances_are_those_of_scipy(people: int, found: int, side: int) -> None:
    counts = people_tests._possible(people, found, side)
    ours = people_tests._chances(counts, people, found, side)
    np.testing.assert_allclose(ours, stats.hypergeom.pmf(counts, people, found, side), rtol=1e-8, atol=1e-300)


def dealt(people: int, repeats: int, refused: float, seed: int = 0) -> list[np.ndarray]:
    """First pictures that show it, first pictures, second ones that show it, second ones; some are refused."""
    rng = np.random.default_rng(seed)
    firsts, seconds = (np.maximum(rng.binomial(repeats, 1 - refused, people), 1) for _ in range(2))
    return [rng.binomial(firsts, 0.4), firsts, rng.binomial(seconds, 0.4), seconds]


@pytest.mark.parametrize(("people", "drawn"), [(24, False), (200, True), (1000, True)])
def test_ten_repeats_with_a_tenth_refused_fit_into_memory(people: int, drawn: bool):
    tracemalloc.start()
    tested = deal_pictures(*dealt(people, 10, 0.1))
    assert tracemalloc.get_traced_memory()[1] < 500e6  # every distinct step beside every other asked for 17 GiB
    tracemalloc.stop()
    assert tested.drawn == drawn
    assert 0 < tested.p <= 1


def test_pictures_on_a_lattice_are_dealt_as_by_hand(monkeypatch):
    numbers = dealt(7, 3, 0.3)
    exact = deal_pictures(*numbers)
    monkeypatch.setattr(people_tests, "MOST_STEPS", 0)
    assert deal_pictures(*numbers).p == pytest.approx(exact.p, abs=0.015)  # three errors of 9,999 draws
    assert deal_pictures(*numbers).drawn


def test_a_group_refused_85_times_in_100_gives_no_false_findings(monkeypatch):
    monkeypatch.setattr(permuted, "DRAWS", 499)
    monkeypatch.setattr(permuted, "NEAR", 0)
    # 48 people, no effect, 200 attributes; one gender has 3 or 4 answers and was judged as if it had 24.
    rng = np.random.default_rng(0)
    values, first = rng.normal(size=(48, 200)), np.arange(48) < 24
    for column in values.T:
        column[first & (rng.random(48) < 0.85)] = np.nan
        column[:2] = rng.normal(size=2)
    assert np.nanmean(permute_labels(values, first).p < 0.05) <= 0.09  # of 200 at 5%: 19 or more in 1 of 100


def test_a_rare_group_that_spreads_more_gives_no_false_findings(monkeypatch):
    monkeypatch.setattr(groups_module, "DRAWS", 499)
    rng, group = np.random.default_rng(0), np.repeat([0, 1, 2], [40, 20, 5])
    p = [
        permute_terms(rng.normal(size=65) * np.array([1, 1, 3])[group], {"group": group}).p["group"] for _ in range(200)
    ]
    assert np.mean(np.array(p) < 0.05) <= 0.09
    labels = permute_labels(rng.normal(size=(45, 200)) * np.where(np.arange(45) < 5, 3, 1)[:, None], np.arange(45) < 5)
    assert np.mean(labels.p < 0.002) <= 0.02
