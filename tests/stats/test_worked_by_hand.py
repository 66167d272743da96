"""Statistics of cases small enough to be worked out by hand, or printed in the paper that gives the formula."""

from __future__ import annotations

import numpy as np
import polars as pl
from scipy import sparse

from portrayal.stats.decisions.decision import flipped_share
from portrayal.stats.decisions.multiplicity import adjust
from portrayal.stats.decisions.paired import paired_difference
from portrayal.stats.decisions.specification import curve_test, specifications, support
from portrayal.stats.estimate import Estimate
from portrayal.stats.intervals.intervals import clustered_rate, over_tolerance, placements, wilson
from portrayal.stats.models.groups import is_constant, permute_terms
from portrayal.stats.models.logistic import alike
from portrayal.stats.permuted import sequential_p
from portrayal.stats.power.power import power_of_two_groups, power_of_two_shares
from portrayal.stats.raters import cohen_kappa, cronbach_alpha, krippendorff_alpha
from portrayal.stats.tests.max_t import flip_jointly, max_t_p
from portrayal.stats.tests.people import deal_pictures, level_test, permute_labels, permute_people
from portrayal.stats.tests.permutation import Permutation, sign_flip, sign_flip_columns, two_sample
from portrayal.stats.tests.proportions import ratio_of_sums, share_difference
from portrayal.stats.tests.squared_distance import squared_distance


def test_corrections() -> None:
    assert (flipped_share(30, 10), flipped_share(1, 99), flipped_share(0, 5)) == (0.75, 0.5, 0.0)
    assert adjust([0.01, 0.04, 0.03]).round(3).tolist() == [0.03, 0.06, 0.06]


def test_paired_difference_is_mcnemars_exact_test() -> None:
    ones, others = np.repeat([1.0, 0.0], [12, 28]), np.repeat([0.0, 1.0, 0.0], [12, 2, 26])
    found = paired_difference(ones, others)  # 12 against 2 discordant pairs: 2 (1 + 14 + 91) / 2^14
    assert (round(found.value, 3), round(found.p, 5)) == (0.25, 0.01294)


def test_specification_curves() -> None:
    choices = {"prompt": ["all"], "article": ["right", "printed"]}
    taken = [{"prompt": "all", "article": "right"}, {"prompt": "all", "article": "printed"}]
    assert specifications(choices) == taken
    found = curve_test(np.array([2.0, -2.0]), np.zeros((2, 99)), "two-sided")
    assert (found.supports.tolist(), found.median, found.joint_p) == ([True, False], 0.0, 1.0)
    table = pl.DataFrame({"value": [0.2, 0.9, 0.7], "supports": [False, True, True]})
    assert support(table)["share"].round(3).to_list() == [0.667]


def test_intervals() -> None:
    assert Estimate(0.25, 0.1, 0.5, n=12, unit="share").row("recognised", system="a tagger")["n"] == 12
    assert placements(np.array([0.9, 0.4]), np.array([0.1, 0.4])).tolist() == [1.0, 0.75]
    assert [round(end, 4) for end in wilson(0, 10)] == [0.0, 0.0, 0.2775]
    found = over_tolerance(2, 10, 0.005)
    assert (found.value, round(found.low, 3), round(found.high, 3), round(found.p, 4)) == (0.2, 0.025, 0.556, 0.0011)
    assert [round(end, 3) for end in clustered_rate([1, 3], [10, 10])] == [0.2, 0.0, 1.471]


def test_models() -> None:
    tested = permute_terms(np.arange(8.0), {"group": np.arange(8) // 4})  # 2 of 70 ways are as far apart
    assert tested and 0.02 < tested.p["group"] < 0.04 and round(1 / tested.floor) == 70
    assert (is_constant(np.array([0.0, 2.2e-16])), is_constant(np.array([0.0, 1e-9]))) == (True, False)
    first, kind = alike(np.array([[0, 1], [1, 0], [0, 1]]))
    assert (first.tolist(), kind.tolist()) == ([0, 1], [0, 1, 0])


def test_power() -> None:
    assert round(power_of_two_groups(0.8, 20, 20), 2) == 0.8
    # Every pair of counts with scipy's Fisher test; the z test of large counts adds a little.
    assert round(power_of_two_shares(0.5, 0.1, 40, 40, 0.05, fisher=True), 6) == 0.97575
    assert round(power_of_two_shares(0.5, 0.1, 40, 40, 0.05), 6) == 0.976359


def test_agreement() -> None:
    assert round(cronbach_alpha(np.array([[1, 1], [2, 3], [3, 2]])).value, 4) == 0.6667
    a, b = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    assert round(krippendorff_alpha(np.array([a, b]).T).value, 3) == 0.095
    pairs = [(1, 1)] * 20 + [(1, 0)] * 5 + [(0, 1)] * 10 + [(0, 0)] * 15
    assert round(cohen_kappa(*np.array(pairs).T).value, 3) == 0.4


def test_many_tests_at_once() -> None:
    eight = flip_jointly(np.ones((8, 1)))
    assert float(eight.p[0]) == float(eight.adjusted[0]) == 2 / 256
    column = sparse.csr_matrix(np.repeat([[1.0], [0.0]], 5, axis=0))
    assert max_t_p([column], np.repeat([1, 0], 5), 999, 0)[0] < 0.02
    rng = np.random.default_rng(0)
    assert float(sequential_p(lambda count: rng.random((count, 1)), np.array([2.0]), 999)[0]) == 0.001


def test_permutations_of_people() -> None:
    hits, weights = np.repeat([[1.0], [0.0]], 3, axis=0), np.repeat([[1 / 3], [-1 / 3]], 3, axis=0)
    tested = permute_people(hits, weights, np.ones((6, 1), bool))
    assert (round(tested.p, 9), round(tested.floor, 9)) == (0.1, 0.1)  # 2 of the 20 ways to deal three hits to six
    assert permute_labels(hits, np.arange(6) < 3).p.round(3).tolist() == [0.1]  # 2 of 20 choices
    assert level_test(np.repeat([1.0, 0.0], 6), np.repeat([0, 1], 6), np.arange(12)) < 0.01
    one = np.ones(3)
    assert deal_pictures(one, one, 0 * one, one).p == 0.25  # of the eight ways +++ and --- are as far apart


def test_permutations_of_values() -> None:
    assert two_sample([3, 4], [1, 2]) == Permutation(p=1 / 6, method="exact", arrangements=6)
    assert sign_flip([1.0, 2.0, 3.0]).p == 0.125  # only the observed one of the eight sign patterns reaches 6
    assert sign_flip_columns(np.array([[3], [3], [3]])).round(12).tolist() == [0.25]  # +++ and --- reach 9


def test_shares_and_distances() -> None:
    newcombe = [0.2, 0.0524, 0.3339]  # his Table II, example (a), method 10
    assert [round(end, 4) for end in share_difference(56, 70, 48, 80)] == newcombe
    assert ratio_of_sums(np.repeat([1.0, 0.0], [30, 70]), np.repeat([0.0, 1.0], [30, 70])).value == 0.42857142857142855
    rows = sparse.csr_matrix(np.array([[1.0], [1.0], [0.0], [0.0], [0.0], [1.0]]))
    distance = squared_distance(rows, np.array([1, 1, 1, 0, 0, 0])).value
    assert round(distance, 4) == -0.1111  # (1/3)^2 - 2 (1/3) / 3
