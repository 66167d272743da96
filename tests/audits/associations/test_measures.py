"""The embedding association test: by hand, against a naive recomputation, and what it must obey."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from portrayal.audits.associations.measures import association, eat, effect_interval, effect_size, interval, scweat
from portrayal.errors import PortrayalError
from portrayal.stats.tests.permutation import sign_flip, two_sample
from portrayal.tables import RESULTS
from portrayal.text.formatting import number


def sets(n_x: int = 8, n_y: int = 8, n_a: int = 5, n_b: int = 6, width: int = 12, shift: float = 0.4, seed: int = 0):
    """Draw four sets; X leans towards A's direction by `shift`."""
    rng = np.random.default_rng(seed)
    axis = np.eye(width)[0]
    x, y = rng.normal(size=(n_x, width)) + shift * axis, rng.normal(size=(n_y, width))
    return x, y, rng.normal(size=(n_a, width)) + axis, rng.normal(size=(n_b, width)) - axis


def naive_d(x, y, a, b, ddof: int = 1) -> float:
    """Equations 1 and 2, word by word."""

    def cosine(u, v) -> float:
        return float(u @ v / np.sqrt(u @ u) / np.sqrt(v @ v))

    def s(w) -> float:
        return sum(cosine(w, v) for v in a) / len(a) - sum(cosine(w, v) for v in b) / len(b)

    s_x, s_y = [s(w) for w in x], [s(w) for w in y]
    return (sum(s_x) / len(s_x) - sum(s_y) / len(s_y)) / float(np.std(s_x + s_y, ddof=ddof))


def test_by_hand() -> None:
    # A is the first axis, B the second, so s is the first minus the second entry of the unit vector:
    # (3, 4)/5: -0.2; (4, 3)/5: 0.2; (1, 0): 1; (0, 1): -1.
    x, y = [[4.0, 3.0], [1.0, 0.0]], [[3.0, 4.0], [0.0, 1.0]]
    a, b = [[2.0, 0.0]], [[0.0, 5.0]]
    assert association(x + y, a, b).tolist() == pytest.approx([0.2, 1.0, -0.2, -1.0])
    # means 0.6 and -0.6; squares sum to 2.08, over 3 is 0.69333, its root 0.83267; 1.2 / 0.83267 = 1.44115.
    row = eat(x, y, a, b).row(0, named=True)
    assert row["value"] == pytest.approx(1.2 / np.sqrt(2.08 / 3))
    # Of the six divisions only the observed one has a sum of 1.2.
    assert row["p"] == 1 / 6
    assert row["n"] == 4
    assert eat(x, y, a, b, ddof=0)["value"].item() == pytest.approx(1.2 / np.sqrt(2.08 / 4))
    assert "d = 1.6641" in row["note"]  # the ddof 0 value: 1.2 / 0.7211


@pytest.mark.parametrize("ddof", [0, 1])
def test_equals_the_equations(ddof: int) -> None:
    given_sets = sets()
    assert eat(*given_sets, ddof=ddof)["value"].item() == pytest.approx(naive_d(*given_sets, ddof=ddof), rel=1e-12)


def test_the_row_is_whole() -> None:
    table = eat(*sets())
    assert table.columns == list(RESULTS)
    assert table.height == 1
    row = table.row(0, named=True)
    assert row["low"] < row["value"] < row["high"]
    assert (row["audit"], row["measure"], row["unit"]) == ("associations", "eat", "d")
    for words in ("exact p (one-sided, greater", "ddof=1", "ddof=0", "attributes fixed", "estimand"):
        assert words in row["note"]


def test_the_p_is_the_permutation_of_associations() -> None:
    x, y, a, b = sets(9, 7)
    s_x, s_y = association(x, a, b), association(y, a, b)
    for alternative in ("greater", "less", "two-sided"):
        row = eat(x, y, a, b, alternative=alternative).row(0, named=True)
        assert row["p"] == two_sample(s_x, s_y, alternative=alternative).p
        assert alternative in row["note"]


def test_over_forty_targets_are_sampled_and_seeded() -> None:
    given_sets = sets(21, 20)
    row = eat(*given_sets, permutations=500, seed=4)
    assert "sampled p" in row["note"].item()
    assert "500 arrangements" in row["note"].item()
    assert row.equals(eat(*given_sets, permutations=500, seed=4))
    assert "exact p" in eat(*sets(20, 20))["note"].item()
    assert "exact p" in eat(*sets(35, 5), permutations=500)["note"].item()


def test_swapping_targets_flips_the_sign_and_keeps_the_two_sided_p() -> None:
    x, y, a, b = sets(9, 6)
    one, other = (eat(*s, alternative="two-sided").row(0, named=True) for s in ((x, y, a, b), (y, x, a, b)))
    assert other["value"] == pytest.approx(-one["value"])
    assert other["p"] == pytest.approx(one["p"])
    swapped = eat(x, y, b, a, alternative="two-sided").row(0, named=True)
    assert swapped["value"] == pytest.approx(-one["value"])
    assert swapped["p"] == pytest.approx(one["p"])


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.floats(1e-3, 1e3))
def test_row_order_and_length_of_vectors_never_matter(seed: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    given_sets = sets(6, 7, seed=seed)
    shuffled = [rng.permutation(part) * scale for part in given_sets]
    one, other = eat(*given_sets).row(0, named=True), eat(*shuffled).row(0, named=True)
    assert other["value"] == pytest.approx(one["value"], rel=1e-9)
    assert other["p"] == one["p"]
    assert (other["low"], other["high"]) == pytest.approx((one["low"], one["high"]), rel=1e-6)


def test_row_order_does_not_matter_to_sampled_tests_or_people() -> None:
    rng = np.random.default_rng(0)
    x, y, a, b = sets(25, 25)
    people = np.arange(25)
    turn, other = rng.permutation(25), rng.permutation(25)
    for cluster, turned in ((None, None), ((people, people), (people[turn], people[other]))):
        one = eat(x, y, a, b, permutations=999, cluster=cluster).row(0, named=True)
        two = eat(x[turn], y[other], a, b, permutations=999, cluster=turned).row(0, named=True)
        for column in ("value", "low", "high", "p"):
            assert two[column] == pytest.approx(one[column], rel=1e-6)


def test_turning_the_space_changes_nothing() -> None:
    given_sets = sets()
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(12, 12)))[0]
    one, other = eat(*given_sets), eat(*(part @ turn for part in given_sets))
    assert other["value"].item() == pytest.approx(one["value"].item(), rel=1e-9)
    assert other["high"].item() == pytest.approx(one["high"].item(), rel=1e-6)


def test_people_in_both_sets() -> None:
    rng = np.random.default_rng(3)
    people = rng.normal(size=(12, 10)) * 2
    x, y = people + rng.normal(size=(12, 10)) * 0.3, people + rng.normal(size=(12, 10)) * 0.3
    x[:, 0] += 0.4
    a, b = np.eye(10)[:1] + 0.01, -np.eye(10)[:1] + 0.01
    ids = [f"person {number}" for number in range(12)]
    row = eat(x, y, a, b, cluster=(ids, ids)).row(0, named=True)
    free = eat(x, y, a, b).row(0, named=True)
    differences = association(x, a, b) - association(y, a, b)
    assert row["p"] == pytest.approx(sign_flip(differences).p)
    assert row["value"] == free["value"]
    assert row["p"] < free["p"]  # the same person on both sides: their own difference is clear
    assert row["high"] - row["low"] < free["high"] - free["low"]
    assert "within person" in row["note"]
    assert f"unpaired p = {number(free['p'])} (exact, as in the paper)" in row["note"]
    assert "unpaired" not in free["note"]


def test_the_three_forms_of_cluster_agree() -> None:
    x, y, a, b = sets(6, 6)
    ids = list("abcdef")
    pair, flat, same = (eat(x, y, a, b, cluster=form) for form in ((ids, ids), ids + ids, np.array(ids)))
    assert pair.equals(flat)
    assert pair.equals(same)
    shuffled = [3, 1, 0, 5, 4, 2]  # pairs are found by id, not by place
    moved = eat(x, y[shuffled], a, b, cluster=(ids, [ids[i] for i in shuffled]))
    assert moved["p"].item() == pytest.approx(pair["p"].item())
    assert moved["high"].item() == pytest.approx(pair["high"].item())


def test_people_on_one_side_only_are_permuted_whole() -> None:
    x, y, a, b = sets(8, 8)
    people = ([1, 1, 2, 2, 3, 3, 4, 4], [5, 5, 6, 6, 7, 7, 8, 8])
    row = eat(x, y, a, b, cluster=people).row(0, named=True)
    means = [association(side, a, b).reshape(4, 2).mean(axis=1) for side in (x, y)]
    assert row["p"] == pytest.approx(two_sample(*means).p)
    assert "between persons" in row["note"]


def test_regions_that_may_cover_too_little_are_named() -> None:
    assert "low coverage" in eat(*sets(8, 30))["note"].item()
    # Between 12 and 24 a side only heavy tails are covered too rarely (docs/associations_calibration.md), and the note says that.
    for few in (12, 24):
        assert "fewer than 25 on a side, if associations are heavy-tailed" in eat(*sets(few, 40))["note"].item()
    assert "low coverage" not in eat(*sets(25, 25))["note"].item()
    far = eat(*sets(15, 15, shift=9.0)).row(0, named=True)
    assert far["value"] > 1.5
    assert "|d| above 1.5" in far["note"]


def test_equal_associations_have_no_d() -> None:
    x = [[1.0, 0.0, 1.0], [1.0, 0.0, -1.0]]
    row = eat(x, x, [[0.0, 1.0, 0.0]], [[0.0, 2.0, 0.0]]).row(0, named=True)
    assert (row["value"], row["low"], row["high"], row["p"]) == (None, None, None, 1.0)
    assert "undefined" in row["note"]


def test_the_single_category_test() -> None:
    # Cosines of (1, 0) with A: 1, 0.6; with B: 0, -1. Difference of means 0.8 + 0.5 = 1.3.
    a, b = [[1.0, 0.0], [3.0, 4.0]], [[0.0, 1.0], [-1.0, 0.0]]
    row = scweat([1.0, 0.0], a, b).row(0, named=True)
    assert row["value"] == pytest.approx(1.3 / np.std([1, 0.6, 0, -1], ddof=1))
    assert row["p"] == 1 / 6
    assert (row["measure"], row["n"]) == ("scweat", 4)
    assert "target fixed" in row["note"]
    # Several rows of one category: the mean cosine with each attribute.
    pair = scweat([[1.0, 0.0], [0.0, 1.0]], a, b)["value"].item()
    assert pair == pytest.approx(effect_size(np.array([0.5, 0.7]), np.array([0.5, -0.5])))


BAD = np.array([[1.0, np.nan], [1.0, 2.0]])
GOOD = np.array([[1.0, 2.0], [2.0, 1.0]])


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((BAD, GOOD, GOOD, GOOD), {}, "x has a vector with NaN"),
        ((GOOD, GOOD, GOOD, [[np.inf, 1.0]]), {}, "b has a vector with NaN or infinity"),
        ((GOOD, [[0.0, 0.0], [1.0, 1.0]], GOOD, GOOD), {}, r"y has a vector of length zero \(row 0\)"),
        ((GOOD, GOOD, [[1.0, 2.0, 3.0]], GOOD), {}, "a has vectors of width 3, x of width 2"),
        ((GOOD, GOOD, [[1.0, 2.0], [1.0]], GOOD), {}, "a is not a table of numbers, or its vectors differ"),
        ((GOOD[:1], GOOD, GOOD, GOOD), {}, "x has 1 stimulus"),
        ((GOOD, GOOD[:1], GOOD, GOOD), {}, "y has 1 stimulus"),
        ((GOOD, GOOD, [], GOOD), {}, "a has shape"),
        (([1.0, 2.0], GOOD, GOOD, GOOD), {}, "x has shape"),
        ((GOOD, GOOD, [["one", "two"]], GOOD), {}, "a is not a table of numbers"),
        ((GOOD, GOOD, GOOD, GOOD), {"alternative": "more"}, "no alternative"),
        ((GOOD, GOOD, GOOD, GOOD), {"ddof": 2}, "ddof is 2"),
        ((GOOD, GOOD, GOOD, GOOD), {"cluster": [1, 2, 3]}, "cluster does not fit"),
    ],
)
def test_bad_input_is_one_line(arguments, options, message: str) -> None:
    with pytest.raises(PortrayalError, match=message) as error:
        eat(*arguments, **options)
    assert "\n" not in str(error.value)


def test_huge_and_tiny_vectors_have_cosines() -> None:
    x, y, a, b = sets()
    one = eat(x, y, a, b)["value"].item()
    assert eat(x * 1e200, y * 1e-200, a * 1e-300, b)["value"].item() == pytest.approx(one)


def test_the_interval_is_that_of_resampled_targets() -> None:
    # An independent route to the same kind of interval: noncentral t for normal values of equal spread.
    rng = np.random.default_rng(0)
    x, y = rng.normal(0.8, 1, 400), rng.normal(0, 1, 400)
    found = effect_interval(x, y, seed=1)
    within = (x.mean() - y.mean()) / np.sqrt((x.var(ddof=1) + y.var(ddof=1)) / 2)
    error = np.sqrt(2 / 400 + within**2 / (2 * 800))
    ends = [c / np.sqrt(1 + c**2 / 4) for c in (within - 1.96 * error, within + 1.96 * error)]
    assert (found.low, found.high) == pytest.approx(ends, abs=0.02)
    assert stats.norm.sf(within / error) < 0.001


def test_the_interval_stays_within_its_bound() -> None:
    found = effect_interval(np.array([1.0, 1.1, 1.2]), np.array([0.0, 0.1, 0.2]))
    assert -2 <= found.low < found.high <= 2


def test_swapping_the_sides_turns_the_interval_and_nothing_else():
    rng = np.random.default_rng(3)
    x, y = rng.normal(0.1, 1, 9), rng.normal(0.4, 2, 7)
    people = np.array([*range(9), *range(7)])  # seven of them stand on both sides
    for clusters, turned in ((None, None), (people, np.roll(people, 7))):
        d, low, high = effect_interval(x, y, clusters=clusters)
        assert tuple(effect_interval(y, x, clusters=turned)) == pytest.approx((-d, -high, -low), abs=1e-12)


def test_the_interval_is_around_d_and_its_error_is_what_each_target_adds() -> None:
    # The error squared is the sum of squared derivatives of d with respect to each target's weight, here by differences.
    rng = np.random.default_rng(4)
    x, y = rng.normal(0.6, 1, 9), rng.normal(0, 2, 6)
    assert effect_interval(x, y).value == pytest.approx(effect_size(x, y, 0))
    assert effect_interval(y, x).value == pytest.approx(effect_size(y, x, 0))
    standard = (np.concatenate([x, y]) - np.concatenate([x, y]).mean()) / np.concatenate([x, y]).std()
    in_x = np.arange(15) < 9
    moments = interval._moments(standard, in_x, np.arange(15), np.where(in_x, 1, 2), 9 / 15)
    assert moments.stretch == pytest.approx(np.where(in_x, 9 / 8, 6 / 5))
    d, _, error = (found[0] for found in interval._estimates(moments, np.ones((1, 15))))
    up, down = (interval._estimates(moments, 1 + step * np.eye(15))[0] for step in (1e-6, -1e-6))
    derivatives = (up - down) / 2e-6
    assert d == pytest.approx(effect_size(x, y, 0))
    assert error == pytest.approx(np.sqrt(np.sum(moments.stretch * derivatives**2)), rel=1e-6)


def test_one_attribute_word_of_one_number_is_enough_and_none_is_refused() -> None:
    # The cosine of 2 with 3 is 1, with -5 it is -1: the association is 1 - (-1).
    assert association([[2.0]], [[3.0]], [[-5.0]]) == pytest.approx([2.0])
    for empty in (np.zeros((0, 2)), np.zeros((2, 0)), [1.0, 2.0]):
        with pytest.raises(PortrayalError, match="has shape"):
            association(empty, [[1.0, 2.0]], [[2.0, 1.0]])
