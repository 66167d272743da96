"""ANOVA, Tukey and Welch against statsmodels and scipy, and by hand."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from portrayal.errors import PortrayalError
from portrayal.stats.models.groups import anova, critical, share_interval, survival, tukey, welch


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


def test_tukey_on_cells_equals_scipy_and_statsmodels():
    from statsmodels.stats.multicomp import pairwise_tukeyhsd

    frame = unbalanced(4, effect=0.03)
    cells = (frame.gender + frame.race).to_numpy()
    model = ours(frame)
    found = tukey(frame.y.to_numpy(), cells, model.residual_variance, model.residual_df)
    names = sorted(set(cells))
    theirs = stats.tukey_hsd(*[frame.y[cells == name] for name in names])
    ends = theirs.confidence_interval()
    again = pairwise_tukeyhsd(frame.y, cells)
    assert len(found) == 28
    for place, (difference, (i, j)) in enumerate(zip(found, combinations(range(8), 2), strict=True)):
        assert difference.value == pytest.approx(theirs.statistic[i, j], abs=1e-12)
        assert difference.p == pytest.approx(theirs.pvalue[i, j], abs=1e-8)
        assert difference.low == pytest.approx(ends.low[i, j], abs=1e-8)
        assert difference.p == pytest.approx(again.pvalues[place], abs=1e-6)  # statsmodels interpolates


@pytest.mark.parametrize(("groups", "df"), [(2, 3), (3, 1), (4, 6), (8, 589), (8, 10), (20, 40), (28, 9e4)])
def test_studentised_range_equals_scipy(groups, df):
    q = np.array([0.05, 0.5, 1.7, 3.3, 4.4, 8.0])
    assert survival(q, groups, df) == pytest.approx(stats.studentized_range.sf(q, groups, df), abs=1e-8)


def test_critical_value_inverts_the_survival_function():
    assert survival(critical(8, 589), 8, 589)[0] == pytest.approx(0.05, abs=1e-9)


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
    found = {(d.first, d.second): d for d in tukey(values, groups, 1.0, 4)}
    assert found["a", "b"].value == -3
    assert found["a", "c"].note == "a group under 3 people is not compared: c has 1"
    assert np.isnan(found["b", "c"].p)


def test_planted_effects_are_found_with_their_sign():
    frame = unbalanced(7, effect=0.2)
    model = ours(frame)
    cells = (frame.gender + frame.race).to_numpy()
    found = {
        (d.first, d.second): d for d in tukey(frame.y.to_numpy(), cells, model.residual_variance, model.residual_df)
    }
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


@pytest.mark.parametrize("groups", [2, 3, 8, 12, 13])
def test_the_series_of_the_normal_range_is_its_integral(groups):
    """Held against the quadrature it stands for, from no width to wider than anything."""
    from portrayal.stats.models.groups import _interpolated, _normal_range

    width = np.linspace(0, 25, 500)
    assert np.abs(_interpolated(width, min(groups, 12)) - _normal_range(width, min(groups, 12))).max() < 1e-12
    # scipy integrates the same twice, with nothing in common.
    expected = stats.studentized_range.sf([0.5, 3.0, 4.5], groups, 60)
    assert np.allclose(survival(np.array([0.5, 3.0, 4.5]), groups, 60), expected, atol=1e-9)
