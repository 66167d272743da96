"""Permutation tests: by hand, against published exact p-values, brute force and scipy, and their properties."""

from __future__ import annotations

import time
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from portrayal.errors import PortrayalError
from portrayal.stats.tests import permutation
from portrayal.stats.tests.permutation import ALTERNATIVES, sign_flip, sign_flip_columns, two_sample

# Zea mays: differences in height of crossed and self-fertilised plants in eighths of an inch (Darwin 1876), as in
# Fisher (1935), The Design of Experiments, section 17.
DARWIN = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]


def brute_force(x: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """List every division and count those as extreme as the observed one."""
    pooled = np.concatenate([x, y])
    index = np.array(list(combinations(range(len(pooled)), len(x))))
    left = pooled[index].sum(axis=1)
    differences = left / len(x) - (pooled.sum() - left) / len(y)
    observed, tie = x.mean() - y.mean(), 1e-11 * np.abs(pooled).max()
    return {
        "greater": float(np.mean(differences >= observed - tie)),
        "less": float(np.mean(differences <= observed + tie)),
        "two-sided": float(np.mean(np.abs(differences) >= abs(observed) - tie)),
    }


@pytest.mark.parametrize("n_x", range(1, 9))
@pytest.mark.parametrize("n_y", range(1, 9))
def test_exact_p_equals_brute_force_for_every_size(n_x: int, n_y: int) -> None:
    rng = np.random.default_rng(100 * n_x + n_y)
    tied = rng.integers(0, 4, n_x) * 0.1, rng.integers(0, 4, n_y) * 0.1 + 0.1
    smooth = rng.normal(0.5, 1, n_x), rng.normal(0, 1, n_y)
    for x, y in (tied, smooth):
        expected = brute_force(x, y)
        for alternative in ALTERNATIVES:
            found = two_sample(x, y, alternative=alternative)
            assert found.method == "exact"
            assert found.p == pytest.approx(expected[alternative], abs=1e-15)


@settings(max_examples=60)
@given(
    st.lists(st.integers(-3, 3), min_size=1, max_size=7),
    st.lists(st.integers(-3, 3), min_size=1, max_size=7),
    st.floats(0.001, 1000),
)
def test_ties_count_whatever_the_scale(x: list[int], y: list[int], scale: float) -> None:
    left, right = np.array(x) * scale, np.array(y) * scale
    for alternative, expected in brute_force(np.array(x, float), np.array(y, float)).items():
        assert two_sample(left, right, alternative=alternative).p == pytest.approx(expected, abs=1e-15)


def test_by_hand() -> None:
    # 1, 2 | 3, 4: of the six sums 3, 4, 5, 5, 6, 7 of two numbers only 7 reaches the observed 7.
    assert two_sample([3, 4], [1, 2]).p == 1 / 6
    # |difference| of the six is 2, 1, 0, 0, 1, 2: two reach 2.
    assert two_sample([3, 4], [1, 2], alternative="two-sided").p == 2 / 6
    assert two_sample([3, 4], [1, 2], alternative="less").p == 1.0
    # one against two: 5 | 1, 2: of the three choices only 5 itself reaches 5.
    assert two_sample([5], [1, 2]).p == 1 / 3


def test_fishers_count_of_darwins_plants() -> None:
    # Fisher (1935), The Design of Experiments, section 21: in 863 of the 32,768 sign patterns the total is as great
    # as or greater than the observed 314, in as many as small or smaller; together 5.267 per cent.
    assert sum(DARWIN) == 314
    found = sign_flip(DARWIN)
    assert (found.method, found.arrangements) == ("exact", 32768)
    assert found.p == 863 / 32768
    assert sign_flip(DARWIN, alternative="two-sided").p == 2 * 863 / 32768
    assert round(100 * sign_flip(DARWIN, alternative="two-sided").p, 3) == 5.267


@pytest.mark.parametrize(("u", "published"), [(13, 0.025), (15, 0.041), (16, 0.052)])
def test_mann_and_whitneys_table(u: int, published: float) -> None:
    # On ranks the subset sum is the rank sum. Mann, Whitney (1947), Annals of Mathematical Statistics 18, table for
    # n = 8: P(U <= u) for m = 8. Y takes the ranks whose sum is u above its smallest, 36.
    y = np.arange(1, 9)
    for place in range(7, -1, -1):  # push the largest ranks up until U is reached
        step = min(8, u - int((y - np.arange(1, 9)).sum()))
        y[place] += step
    assert (y - np.arange(1, 9)).sum() == u
    x = np.setdiff1d(np.arange(1, 17), y)
    assert len(set(y)) == 8
    assert round(two_sample(x, y).p, 3) == published


def test_equals_scipys_exact_tests() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.normal(0.5, 1, 6), rng.normal(0, 1, 5)
    for alternative in ALTERNATIVES:
        theirs = stats.permutation_test(
            (x, y), lambda a, b, axis: a.mean(axis) - b.mean(axis), vectorized=True, alternative=alternative
        )
        if alternative != "two-sided":  # scipy doubles the smaller tail there
            assert two_sample(x, y, alternative=alternative).p == pytest.approx(theirs.pvalue)
    ranks = rng.permutation(30)
    theirs = stats.mannwhitneyu(ranks[:17], ranks[17:], alternative="greater", method="exact")
    assert two_sample(ranks[:17], ranks[17:]).p == pytest.approx(theirs.pvalue, rel=1e-12)


def test_twenty_and_twenty_against_the_rank_sum_distribution() -> None:
    ranks = np.random.default_rng(5).permutation(40)
    x, y = ranks[:20] + 2.5, ranks[20:] + 2.5
    theirs = stats.mannwhitneyu(x, y, alternative="less", method="exact")
    found = two_sample(x, y, alternative="less")
    assert found.arrangements == 137_846_528_820
    assert found.p == pytest.approx(theirs.pvalue, rel=1e-12)


@pytest.mark.parametrize(("n_x", "n_y"), [(7, 9), (20, 20), (13, 27), (1, 39), (39, 1)])
def test_swapping_the_sides(n_x: int, n_y: int) -> None:
    rng = np.random.default_rng(n_x)
    x, y = rng.normal(0.3, 1, n_x), rng.normal(0, 1, n_y)
    two = [two_sample(*sides, alternative="two-sided") for sides in ((x, y), (y, x))]
    assert two[0].method == "exact"
    assert two[0].p == pytest.approx(two[1].p, rel=1e-12)
    assert two_sample(x, y, alternative="greater").p == pytest.approx(two_sample(y, x, alternative="less").p, rel=1e-12)


def test_the_tails_share_only_what_ties() -> None:
    rng = np.random.default_rng(9)
    x, y = rng.normal(size=9), rng.normal(size=8)
    both = two_sample(x, y).p + two_sample(x, y, alternative="less").p
    assert both == pytest.approx(1 + 1 / 24310)  # C(17, 9) arrangements; the observed one is in both tails


def test_order_shift_and_scale_do_not_matter() -> None:
    rng = np.random.default_rng(2)
    x, y = rng.normal(0.5, 1, 12), rng.normal(0, 1, 12)
    p = two_sample(x, y).p
    assert two_sample(rng.permutation(x), rng.permutation(y)).p == p
    assert two_sample(3 * x + 7, 3 * y + 7).p == p


@pytest.mark.parametrize("pairs", [30, 60])
def test_order_does_not_matter_to_draws(pairs: int) -> None:
    rng = np.random.default_rng(pairs)
    x, y = rng.normal(0.3, 1, pairs), rng.normal(0, 1, pairs)
    turn = rng.permutation(pairs)
    p = two_sample(x, y, permutations=499).p
    assert two_sample(x[turn], rng.permutation(y), permutations=499).p == p
    assert sign_flip((x - y)[turn], permutations=499).p == sign_flip(x - y, permutations=499).p


def test_forty_values_are_exact_and_forty_one_are_sampled() -> None:
    rng = np.random.default_rng(1)
    values = rng.normal(size=41)
    assert two_sample(values[:10], values[10:40], permutations=99).method == "exact"
    sampled = two_sample(values[:10], values[10:], permutations=999)
    assert (sampled.method, sampled.arrangements) == ("sampled", 999)
    assert round(sampled.p * 1000) == pytest.approx(sampled.p * 1000)  # (k + 1) / (n + 1)


def test_sampling_is_seeded_and_agrees_with_exact_counting(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    x, y = rng.normal(0.4, 1, 14), rng.normal(0, 1, 22)
    exact = {alternative: two_sample(x, y, alternative=alternative).p for alternative in ALTERNATIVES}
    monkeypatch.setattr(permutation, "EXACT_UP_TO", 0)
    for alternative, p in exact.items():
        sampled = two_sample(x, y, alternative=alternative, permutations=40_000, seed=1)
        assert sampled.method == "sampled"
        assert sampled.p == two_sample(x, y, alternative=alternative, permutations=40_000, seed=1).p
        # four standard errors of a share of 40,000 draws
        assert sampled.p == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) / 40_000))


def test_sampling_takes_every_subset_alike() -> None:
    # Of five values every pair must come up equally often: ten pairs with distinct sums.
    values = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
    centred = values - values.mean()
    sums = permutation._sampled_sums(centred, 2, 20_000, np.random.default_rng(0))
    counts = np.unique(sums.round(6), return_counts=True)[1]
    assert len(counts) == 10
    assert stats.chisquare(counts).pvalue > 0.001


def test_a_sampled_p_is_never_zero() -> None:
    x, y = np.arange(100.0, 130.0), np.arange(30.0)
    assert two_sample(x, y, permutations=99).p == 1 / 100


def test_equal_values_give_one() -> None:
    for alternative in ALTERNATIVES:
        assert two_sample([0.1] * 5, [0.1] * 6, alternative=alternative).p == 1.0


def test_sign_flips_equal_wilcoxons_exact_distribution() -> None:
    ranks = np.arange(1, 26) * np.random.default_rng(0).choice([-1, 1], 25)
    theirs = stats.wilcoxon(ranks, alternative="greater", method="exact")
    assert sign_flip(ranks).p == pytest.approx(theirs.pvalue, rel=1e-12)


def test_sign_flip_of_ones_is_the_exact_sign_test() -> None:
    # 8 up, 2 down: two-sided binomial p = 2 * (1 + 10 + 45) / 1024 = .109375. Zeros change nothing.
    found = sign_flip([1.0] * 8 + [-1.0] * 2 + [0.0] * 5, alternative="two-sided")
    assert found == (112 / 1024, "exact", 2**15)
    assert sign_flip(np.zeros(4), alternative="two-sided").p == 1.0


def test_differences_of_a_common_fraction_are_exact_for_any_number() -> None:
    # All 120 go up by a third: one pattern of 2^120.
    found = sign_flip(np.full(120, 1 / 3))
    assert (found.p, found.method) == (2.0**-120, "exact")


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@given(st.lists(st.sampled_from([-1, -2 / 3, -1 / 3, 0, 1 / 3, 2 / 3, 0.1]), min_size=2, max_size=9).filter(any))
def test_sign_flip_counts_every_flip(alternative: str, values: list[float]) -> None:
    differences = np.array(values)
    flips = 2 * ((np.arange(2 ** len(values))[:, None] >> np.arange(len(values))) & 1) - 1
    fold = {"greater": np.positive, "less": np.negative, "two-sided": np.abs}[alternative]
    naive = np.mean(fold(flips @ differences) >= fold(differences.sum()) - 1e-9)
    found = sign_flip(differences, alternative=alternative)
    assert found.p == pytest.approx(naive)
    # The same differences on a scale no fraction fits are counted by halves.
    assert sign_flip(np.pi * differences, alternative=alternative).p == pytest.approx(naive)


def test_columns_of_sign_flips_equal_one_by_one() -> None:
    scores = np.random.default_rng(1).integers(-6, 7, size=(13, 5)).astype(float)
    expected = [sign_flip(np.pi * column, alternative="two-sided").p for column in scores.T]
    np.testing.assert_allclose(sign_flip_columns(scores), expected, atol=1e-12)
    assert sign_flip_columns(np.ones((90, 1)))[0] == 1e-14  # 2^-89 is under what the transform resolves


def test_many_pairs_are_sampled() -> None:
    rng = np.random.default_rng(0)
    differences = rng.normal(0.1, 1, 80)
    found = sign_flip(differences, permutations=9_999, seed=3)
    assert found.method == "sampled"
    normal = stats.norm.sf(differences.sum() / np.sqrt((differences**2).sum()))
    assert found.p == pytest.approx(normal, abs=0.02)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: two_sample([1, 2], [3], alternative="more"), "no alternative 'more'"),
        (lambda: two_sample([], [3]), "x has shape"),
        (lambda: two_sample([1.0, np.nan], [3]), "x holds a value that is not a number"),
        (lambda: sign_flip([]), "differences has shape"),
        (lambda: sign_flip([1.0], alternative="more"), "no alternative"),
    ],
)
def test_bad_input_is_one_line(call, message: str) -> None:
    with pytest.raises(PortrayalError, match=message) as error:
        call()
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(("side", "limit"), [(10, 0.010), (20, 0.5)])
def test_exact_counting_is_fast(side: int, limit: float) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=side), rng.normal(size=side)
    assert min(_seconds(lambda: two_sample(x, y)) for _ in range(3)) < limit


def test_sampling_beats_a_plain_loop_five_times() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=30), rng.normal(size=30)
    pooled = np.concatenate([x, y])

    def loop() -> None:
        for _ in range(500):
            shuffled = rng.permutation(pooled)
            shuffled[:30].mean() - shuffled[30:].mean()

    plain = 20 * min(_seconds(loop) for _ in range(3))
    assert plain > 5 * min(_seconds(lambda: two_sample(x, y, permutations=10_000)) for _ in range(3))


def _seconds(call) -> float:
    """Return the processor's time, which other processes on the machine do not lengthen."""
    start = time.process_time()
    call()
    return time.process_time() - start


def test_sums_are_those_of_all_subsets_by_size():
    values = np.random.default_rng(0).normal(size=9).round(1)  # some alike
    subsets = [[sum(chosen) for chosen in combinations(values.tolist(), size)] for size in range(8)]
    for found, expected in zip(permutation.sums_by_size(values, 7), subsets, strict=True):
        np.testing.assert_allclose(found, np.sort(expected), atol=1e-12)
    assert permutation.count_subsets(values, 5, 0.3) == sum(one >= 0.3 for one in subsets[5])
