"""Agreement coefficients against arithmetic done by hand, published examples and the definitions."""

from itertools import permutations

import numpy as np
import polars as pl
import pytest

from portrayal.errors import PortrayalError
from portrayal.stats.raters import agreement, cohen_kappa, cronbach_alpha, krippendorff_alpha

NAN = np.nan
# Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, section C: 4 observers, 12 units.
KRIPPENDORFF = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
        [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
    ]
).T


@pytest.mark.parametrize(("level", "published"), list({"nominal": 0.743, "ordinal": 0.815, "interval": 0.849}.items()))
def test_krippendorff_equals_the_published_worked_example(level, published):
    assert round(krippendorff_alpha(KRIPPENDORFF, level).value, 3) == published


def test_krippendorff_equals_the_published_binary_example():
    # Krippendorff (2011), section A: two observers, ten units, alpha = 0.095.
    first, second = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    assert round(krippendorff_alpha(np.array([first, second]).T).value, 3) == 0.095


def test_krippendorff_equals_the_definition_on_pairs():
    # Independent route: mean squared difference within items over that of all pairs of judgments.
    rng = np.random.default_rng(3)
    ratings = rng.integers(0, 4, (15, 3)).astype(float)
    within = np.mean([(a - b) ** 2 for row in ratings for a, b in permutations(row, 2)])
    everyone = np.mean([(a - b) ** 2 for a, b in permutations(ratings.ravel(), 2)])
    assert krippendorff_alpha(ratings, "interval").value == pytest.approx(1 - within / everyone)


def test_cronbach_by_hand():
    # Items (1,1,2), (2,3,3), (3,2,4): rater variances 1, 1, 1; sums 4, 8, 9 with mean 7 and variance
    # (9 + 1 + 4) / 2 = 7; alpha = 3/2 (1 - 3/7) = 6/7.
    assert cronbach_alpha(np.array([[1, 1, 2], [2, 3, 3], [3, 2, 4]])).value == pytest.approx(6 / 7)


def test_cronbach_leaves_out_items_not_all_rated():
    ratings = np.array([[1, 1, 2], [2, 3, 3], [3, 2, 4], [9, NAN, 1]])
    assert cronbach_alpha(ratings).value == pytest.approx(6 / 7)


def test_kappa_by_hand():
    # Both yes 20, both no 15, 5 and 10 apart: observed 35/50 = .7; chance .5 * .6 + .5 * .4 = .5;
    # kappa = (.7 - .5) / .5 = .4.
    pairs = np.array([(1, 1)] * 20 + [(1, 0)] * 5 + [(0, 1)] * 10 + [(0, 0)] * 15)
    assert cohen_kappa(*pairs.T).value == pytest.approx(0.4)


def test_weighted_kappa_by_hand():
    # Pairs (1,1), (2,3), (3,3), (3,1). Linear cost 0+1+0+2 = 3, mean 3/4. Marginals 1/4, 1/4, 1/2
    # and 1/2, 0, 1/2: expected |i-j| = 1/4(0+1) + 1/4(1/2+1/2) + 1/2(1+0) = 1; kappa = 1/4.
    pairs = np.array([(1, 1), (2, 3), (3, 3), (3, 1)])
    assert cohen_kappa(*pairs.T, weights="linear").value == pytest.approx(0.25)


def test_quadratic_kappa_is_close_to_interval_alpha_for_many_items():
    rng = np.random.default_rng(0)
    first = rng.integers(1, 6, 5000)
    second = np.clip(first + rng.integers(-1, 2, 5000), 1, 5)
    kappa = cohen_kappa(first, second, "quadratic").value
    alpha = krippendorff_alpha(np.column_stack([first, second]), "interval").value
    assert kappa == pytest.approx(alpha, abs=1e-3)


def test_intervals_hold_the_value_and_narrow_with_items():
    rng = np.random.default_rng(1)

    def width(items):
        truth = rng.random(items) < 0.5
        ratings = np.column_stack([truth ^ (rng.random(items) < 0.1) for _ in range(3)]).astype(float)
        interval = cronbach_alpha(ratings)
        assert interval.low < interval.value < interval.high
        return interval.high - interval.low

    assert width(800) < 0.6 * width(100)


def judgments(rng: np.random.Generator, items: int, share: float, seen: float, wrongly: float) -> np.ndarray:
    """Return what three raters say of a trait that so many items have."""
    chance = np.where(rng.random(items) < share, seen, wrongly)
    return (rng.random((items, 3)) < chance[:, None]).astype(float)


@pytest.mark.parametrize(
    ("items", "share", "seen", "wrongly"), [(10, 0.3, 0.85, 0.15), (20, 0.05, 0.8, 0.03), (20, 0.3, 0.9, 0.1)]
)
def test_intervals_of_few_items_and_rare_traits_cover_or_are_not_given(items, share, seen, wrongly):
    # By percentiles over resampled items alpha held its value in 34 of 100 at 10 items and a rare trait, kappa in 22.
    rng, held = np.random.default_rng(0), {"alpha": [], "kappa": []}
    whole = judgments(rng, 100_000, share, seen, wrongly)
    truth = {"alpha": krippendorff_alpha(whole).value, "kappa": cohen_kappa(whole[:, 0], whole[:, 1]).value}
    for _ in range(150):
        table = judgments(rng, items, share, seen, wrongly)
        found = {"alpha": krippendorff_alpha(table), "kappa": cohen_kappa(table[:, 0], table[:, 1])}
        for name, one in found.items():
            if not np.isnan(one.low):
                assert -1 <= one.low <= one.value <= one.high <= 1
                held[name].append(one.low <= truth[name] <= one.high)
    assert all(np.mean(each or [True]) >= 0.9 - 2.3 * (0.09 / max(len(each), 1)) ** 0.5 for each in held.values())
    assert share < 0.1 or len(held["alpha"]) >= 75


def test_no_variation_is_undefined_not_one():
    same = np.ones((10, 2))
    assert np.isnan(krippendorff_alpha(same).value)
    assert np.isnan(cronbach_alpha(same).value)
    assert np.isnan(cohen_kappa(*same.T).value)


def reviews(judgments):
    rows = [
        {"item": item, "question": "sexualised", "reviewer": rater, "judgment": judgment, "note": None}
        for rater, given in judgments.items()
        for item, judgment in enumerate(given)
    ]
    return pl.DataFrame(rows).with_columns(pl.col("item").cast(pl.String))


def test_agreement_of_people_and_a_classifier_from_a_reviews_table():
    table = agreement(
        reviews({"ann": ["yes", "no", "yes", "no"], "bo": ["yes", "no", "no", None], "cnn": ["yes", "no", "no", "no"]})
    )
    kappa = table.filter((pl.col("measure") == "cohen_kappa") & (pl.col("group") == "bo + cnn"))
    assert kappa["value"].to_list() == [1.0]
    assert kappa["n"].to_list() == [3]
    assert kappa["n_missing"].to_list() == [1]
    assert set(table["group"]) == {"ann + bo + cnn", "ann + bo", "ann + cnn", "bo + cnn"}
    assert set(table["measure"]) == {"krippendorff_alpha", "cronbach_alpha", "cohen_kappa"}


def test_renaming_categories_changes_nothing_nominal():
    given = {"a": ["x", "y", "z", "x"], "b": ["x", "z", "z", "x"]}
    renamed = {rater: [{"x": "q", "y": "a", "z": "m"}[j] for j in values] for rater, values in given.items()}
    assert agreement(reviews(given))["value"].to_list() == pytest.approx(agreement(reviews(renamed))["value"].to_list())


def test_row_order_never_matters():
    table = reviews({"a": ["1", "2", "3", "1"], "b": ["1", "3", "3", "2"]})
    turned = table.reverse()
    assert agreement(table, level="ordinal").equals(agreement(turned, level="ordinal"))


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        ({"a": ["x", "y"]}, {}, "holds 1 rater"),
        ({"a": ["x", "y"], "b": ["x", "y"]}, {"level": "ordinal"}, "Give their numbers"),
        ({"a": ["x", "y"], "b": ["x", "y"]}, {"values": {"x": 1.0}}, "'y' has no number"),
        ({"a": ["x", "y"], "b": ["x", "y"]}, {"question": "age"}, "no question 'age'"),
    ],
)
def test_faults_say_what_to_do(table, options, message):
    with pytest.raises(PortrayalError, match=message):
        agreement(reviews(table), **options)
