"""ANOVA, pairs and Welch against statsmodels and scipy, and by hand."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from portrayal.errors import PortrayalError
from portrayal.stats.models.groups import anova, compare_pairs, share_interval, welch


def unbalanced(seed: int, effect: float = 0.0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    n = 173
    frame = pd.DataFrame(
        {"gender": rng.choice(["w", "m"], n), "race": rng.choice(list("ABLW"), n, p=[0.2, 0.4, 0.1, 0.3])}
    )
    frame["y"] = rng.normal(0.1, 0.05, n) + effect * (frame.gender == "w") * (frame.race == "B")
    return frame


def ours(frame: pd.DataFrame):
    return anova(frame.y.to_numpy(), {"gender": frame.gender.to_numpy(), "race": frame.race.to_numpy()})


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_anova_equals_statsmodels_type_two(seed):
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    frame = unbalanced(seed, effect=0.02)
    theirs = anova_lm(ols("y ~ C(gender) * C(race)", frame).fit(), typ=2)
    for term, row in zip(ours(frame).terms, ["C(gender)", "C(race)", "C(gender):C(race)"], strict=True):
        assert term.sum_of_squares == pytest.approx(theirs.loc[row, "sum_sq"], abs=1e-10)
        assert term.f == pytest.approx(theirs.loc[row, "F"], abs=1e-8)
        assert term.p == pytest.approx(theirs.loc[row, "PR(>F)"], abs=1e-8)
        assert term.low <= term.value <= term.high


def test_one_factor_equals_scipy():
    frame = unbalanced(3)
    (term,) = anova(frame.y.to_numpy(), {"race": frame.race.to_numpy()}).terms
    theirs = stats.f_oneway(*[part.y for _, part in frame.groupby("race")])
    assert (term.f, term.p) == (pytest.approx(theirs.statistic, abs=1e-8), pytest.approx(theirs.pvalue, abs=1e-8))


def test_pairs_are_welchs_tests_corrected_over_the_pairs():
    frame = unbalanced(4, effect=0.03)
    cells = (frame.gender + frame.race).to_numpy()
    found = compare_pairs(frame.y.to_numpy(), cells)
    names = sorted(set(cells))
    assert len(found) == 28
    for difference, (first, second) in zip(found, combinations(names, 2), strict=True):
        theirs = stats.ttest_ind(*(frame.y[cells == name] for name in (first, second)), equal_var=False)
        ends = theirs.confidence_interval(0.95 ** (1 / 28))
        assert difference.p == pytest.approx(1 - (1 - theirs.pvalue) ** 28, abs=1e-10)
        assert (difference.low, difference.high) == pytest.approx((ends.low, ends.high), abs=1e-10)


def test_pairs_of_a_rare_group_that_spreads_more_are_not_found_by_chance():
    # Sizes 40, 20 and 5 with deviations 1, 1 and 3: by the residual variance of all, Tukey's test found a pair in 27 of 100.
    rng, group, found = np.random.default_rng(0), np.repeat([0, 1, 2], [40, 20, 5]), 0
    for _ in range(300):
        values = rng.normal(size=65) * np.array([1, 1, 3])[group]
        found += min(pair.p for pair in compare_pairs(values, group)) < 0.05
    assert found <= 25  # of 300 at 5%: 15 expected, 25 in 1 of 200


def test_welch_equals_its_formula():
    rng = np.random.default_rng(5)
    first, second = rng.normal(0, 1, 31), rng.normal(0.4, 3, 17)
    one, two = first.var(ddof=1) / 31, second.var(ddof=1) / 17
    df = (one + two) ** 2 / (one**2 / 30 + two**2 / 16)
    error = np.sqrt(one + two)
    found = welch(first, second)
    assert found.value == pytest.approx(first.mean() - second.mean())
    assert (found.statistic, found.df) == pytest.approx((found.value / error, df), abs=1e-10)
    assert found.high - found.value == pytest.approx(stats.t.ppf(0.975, df) * error, abs=1e-10)
    assert found.p == pytest.approx(2 * stats.t.sf(abs(found.value / error), df), abs=1e-10)


def test_welch_by_hand():
    # Means 2 and 5; variances 1 and 1; error sqrt(1/3 + 1/3) = .81650; t = -3 / .81650 = -3.67423; df = 4.
    found = welch(np.array([1, 2, 3]), np.array([4, 5, 6]))
    assert (found.value, found.n) == (pytest.approx(-3), 6)
    assert (found.statistic, found.df) == (pytest.approx(-3.674235, abs=1e-6), pytest.approx(4))


def test_welch_where_one_side_or_both_are_constant():
    # Means 2 and 5; variances 1 and 0: error sqrt(1/3), df = 2, since only the first side's variance is uncertain.
    found = welch(np.array([1, 2, 3]), np.array([5, 5, 5]))
    assert (found.statistic, found.df) == (pytest.approx(-3 / np.sqrt(1 / 3)), pytest.approx(2))
    still = welch(np.full(3, 0.5), np.full(4, 0.25))
    assert still.value == 0.25
    assert np.isnan([still.low, still.high, still.p]).all()


def test_welch_needs_two_values_on_either_side():
    # Two values are enough: means 1 and 5, variances 2 and 2, error sqrt(1 + 1), t = -4 / sqrt(2), df = 2.
    found = welch(np.array([0.0, 2.0]), np.array([4.0, 6.0]))
    assert (found.value, found.statistic, found.df) == pytest.approx((-4, -4 / np.sqrt(2), 2))
    half = stats.t.ppf(0.975, 2) * np.sqrt(2)
    assert (found.low, found.high) == pytest.approx((-4 - half, -4 + half))
    assert found.p == pytest.approx(2 * stats.t.sf(4 / np.sqrt(2), 2))
    for first, second in (([1.0], [4.0, 6.0]), ([4.0, 6.0], [1.0])):
        found = welch(np.array(first), np.array(second))
        assert found.value == np.mean(first) - np.mean(second)
        assert np.isnan([found.low, found.high, found.p, found.statistic, found.df]).all()
    assert np.isnan(list(welch(np.array([]), np.array([4.0, 6.0])))).all()
    assert np.isnan(list(welch(np.array([4.0, 6.0]), np.array([])))).all()


def test_welch_without_any_variance_gives_the_difference_alone():
    found = welch(np.array([2.0, 2.0]), np.array([5.0, 5.0]))
    assert found.value == -3
    assert np.isnan([found.low, found.high, found.p, found.statistic, found.df]).all()
    # One side that varies is enough.
    found = welch(np.array([2.0, 2.0]), np.array([5.0, 6.0]))
    assert np.isfinite([*found, found.p, found.statistic, found.df]).all()


def test_an_empty_cell_is_said_in_the_interaction_row():
    frame = unbalanced(6)
    frame = frame[~((frame.gender == "w") & (frame.race == "L"))]
    gender, race, interaction = ours(frame).terms
    assert np.isnan(interaction.p)
    assert "2 of 3 degrees of freedom" in interaction.note
    assert 0 <= gender.p <= 1
    assert 0 <= race.p <= 1


def test_one_level_and_no_residual_are_said():
    values = np.array([1.0, 2.0, 3.0])
    single = anova(values, {"gender": np.array(["w", "w", "w"])}).terms[0]
    assert single.note == "a factor has a single level here"
    full = anova(values, {"person": np.array(["a", "b", "c"])}).terms[0]
    assert full.note == "no degrees of freedom are left for the residual"


def test_small_groups_are_named_not_compared():
    values, groups = np.array([1.0, 2, 3, 4, 5, 6, 9]), np.array(["a"] * 3 + ["b"] * 3 + ["c"])
    found = {(d.first, d.second): d for d in compare_pairs(values, groups)}
    assert found["a", "b"].value == -3
    assert found["a", "c"].note == "a group under 3 people is not compared: c has 1"
    assert np.isnan(found["b", "c"].p)


def test_planted_effects_are_found_with_their_sign():
    frame = unbalanced(7, effect=0.2)
    model, cells = ours(frame), (frame.gender + frame.race).to_numpy()
    found = {(d.first, d.second): d for d in compare_pairs(frame.y.to_numpy(), cells)}
    assert found["mB", "wB"].value < 0
    assert found["mB", "wB"].p < 1e-6
    assert all(term.p < 0.001 for term in model.terms)


def test_share_interval_is_zero_for_a_tiny_f():
    assert share_interval(1e-6, 2, 100)[0] == 0.0


def test_three_factors_are_refused():
    with pytest.raises(PortrayalError, match="got 3 factors"):
        anova(np.zeros(4), {name: np.array(list("abab")) for name in "xyz"})


def test_the_interval_holds_an_estimate_of_almost_nothing():
    # Group means 2.01 and 2 with a spread of 1: F is far below 1, and no noncentrality has so small an F in 2.5 of 100.
    values = np.array([1.01, 2.01, 3.01, 1.0, 2.0, 3.0])
    (term,) = anova(values, {"group": np.array(list("aaabbb"))}).terms
    assert 0 < term.value < 1e-3
    assert term.low == 0
    assert term.high == term.value
