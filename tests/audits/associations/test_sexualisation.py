"""Rates from recorded label tables: by hand, against the paper's published totals, and independent code."""

import numpy as np
import polars as pl
import pytest

from portrayal.audits.associations.measures import undercount
from portrayal.audits.associations.measures.sexualisation import flagged_shares
from portrayal.audits.associations.measures.undercount import corrected_rate
from portrayal.errors import PortrayalError
from portrayal.stats.tests.proportions import corrected_share, share_difference, share_ratio, share_trend


def images(group, neutral=0, sexy=0, blocked=0, failed=0, **more):
    kinds = [("answered", "neutral")] * neutral + [("answered", "sexy")] * sexy
    kinds += [("filtered", None)] * blocked + [("failed", None)] * failed
    place = {"system": "s", "group": group, **more}
    return [
        {**place, "seed": str(seed), "status": status, "label": label} for seed, (status, label) in enumerate(kinds)
    ]


def row(table, measure, group, age=None):
    found = table.filter(pl.col("measure") == measure, pl.col("age").eq_missing(pl.lit(age)), group=group)
    assert found.height == 1
    return found.row(0, named=True)


def test_blocked_images_are_an_outcome_of_their_own():
    # 10 women: 4 neutral, 3 sexualised, 2 blocked, 1 failed.
    table = flagged_shares(images("woman", 4, 3, 2, 1) + images("man", 9, 1))
    rate = row(table, "sexualised_rate", "woman")
    assert (rate["value"], rate["n"], rate["n_missing"]) == (pytest.approx(3 / 7), 7, 3)
    blocked = row(table, "blocked_rate", "woman")
    assert (blocked["value"], blocked["n"], blocked["n_missing"]) == (pytest.approx(2 / 9), 9, 1)
    assert row(table, "sexualised_or_blocked_rate", "woman")["value"] == pytest.approx(5 / 9)


def test_difference_and_ratio():
    table = flagged_shares(images("man", 97, 3) + images("woman", 53, 47), baseline="man")
    difference = row(table, "sexualised_difference", "woman")
    assert difference["value"] == pytest.approx(0.44)
    assert difference["p"] < 1e-12
    ratio = row(table, "sexualised_ratio", "woman")
    assert ratio["value"] == pytest.approx(47 / 3)
    assert ratio["low"] < 47 / 3 < ratio["high"]
    assert ratio["p"] is None  # one test, counted once


def test_images_from_one_seed_are_one_unit():
    # Eight seeds at four ages each: in every seed all four images of women are sexualised and none of men. 64 images say no
    # more than eight seeds: 2 of 256 sign patterns are as extreme. Fisher's test would have given p < 1e-17.
    made = [r for age in (20, 30, 40, 50) for r in images("woman", 0, 8, age=age) + images("man", 8, 0, age=age)]
    difference = row(flagged_shares(made, baseline="man"), "sexualised_difference", "woman")
    assert (difference["value"], difference["versus"]) == (1.0, "man")
    assert (difference["p"], difference["p_floor"]) == (2 / 256, 2 / 256)
    assert difference["low"] < 1.0  # eight seeds alike are not certainty
    # With other seeds for men, whole seeds change sides: 2 of C(16, 8) = 12,870 divisions.
    other = [{**r, "seed": f"m{r['seed']}"} if r["group"] == "man" else r for r in made]
    between = row(flagged_shares(other, baseline="man"), "sexualised_difference", "woman")
    assert between["p"] == pytest.approx(2 / 12_870)


def test_labels_that_do_not_vary_are_not_tested():
    table = flagged_shares(images("man", 9) + images("woman", 9), baseline="man")
    assert row(table, "sexualised_difference", "woman")["decision"] == "not tested"
    assert row(table, "sexualised_difference", "woman")["reason"] == "no image is labelled as sexualised"


def test_newcombe_published_example():
    # Newcombe (1998), Table II (a): 56/70 - 48/80, method 10: 0.0524 to 0.3339.
    interval = share_difference(56, 70, 48, 80)
    assert [round(end, 4) for end in interval] == [0.2, 0.0524, 0.3339]


def test_swapping_sides_flips_the_difference_and_inverts_the_ratio():
    there, back = share_difference(5, 20, 2, 30), share_difference(2, 30, 5, 20)
    assert there.low == pytest.approx(-back.high)
    assert there.p == pytest.approx(back.p)
    assert share_ratio(5, 20, 2, 30).low == pytest.approx(1 / share_ratio(2, 30, 5, 20).high)


def test_age_trend_equals_statsmodels():
    from statsmodels.stats.contingency_tables import Table

    ages, hits, n = [25, 35, 45, 55], [3, 5, 8, 14], [40, 40, 40, 40]
    counts = np.array([hits, np.subtract(n, hits)]).T
    test = Table(counts, shift_zeros=False).test_ordinal_association(np.array(ages), np.array([1, 0]))
    # statsmodels conditions on both margins (n - 1 in the variance): z differs by sqrt((n - 1) / n).
    from scipy.stats import norm

    expected = 2 * norm.sf(abs(test.zscore) * np.sqrt(160 / 159))
    assert share_trend(ages, hits, n).p == pytest.approx(expected, rel=1e-6)


def test_age_trend_of_a_planted_slope():
    rng, covered = np.random.default_rng(0), 0
    ages = np.arange(25, 75, 10)
    for _ in range(400):
        hits = rng.binomial(100, 0.1 + 0.01 * (ages - 25))
        interval = share_trend(ages, hits, np.full(5, 100))
        covered += interval.low <= 0.01 <= interval.high
    assert 0.92 <= covered / 400 <= 0.98


def test_trend_and_faces_in_the_table():
    rows = [r for age, sexy in ((30, 2), (40, 5), (50, 8)) for r in images("woman", 10 - sexy, sexy, age=age)]
    rows = [{**r, "face": index % 4 != 0} for index, r in enumerate(rows)]
    table = flagged_shares(rows)
    assert row(table, "sexualised_age_trend", "woman")["value"] == pytest.approx(0.03)
    assert row(table, "sexualised_rate", "woman", "40")["value"] == 0.5
    assert row(table, "no_face_rate", "woman")["value"] == pytest.approx(8 / 30)


def test_blocked_images_are_missing_at_their_own_age():
    rows = [*images("woman", 4, 4, 2, age=30), *images("woman", 7, 2, 3, age=40)]
    table = flagged_shares(pl.DataFrame(rows, infer_schema_length=None))
    found = {age: row(table, "sexualised_rate", "woman", str(age)) for age in (30, 40)}
    assert {age: (r["value"], r["n"], r["n_missing"]) for age, r in found.items()} == {
        30: (0.5, 8, 2),
        40: (pytest.approx(2 / 9), 9, 3),
    }
    trend = row(table, "sexualised_age_trend", "woman")
    assert (trend["n"], trend["n_missing"]) == (17, 5)


# Wolfe et al. (2023), section 5.5 (published/associations/reliability.csv): of 100 images for the female
# prompt the detector flagged 47, the raters 75 and 88.
TOTALS = pl.DataFrame(
    {"rater": ["rater 1", "rater 2"], "detector_flagged": [47, 47], "rater_flagged": [75, 88], "n": [100, 100]}
)


def test_the_papers_undercount_is_carried_into_the_interval():
    found = corrected_rate(47, 100, TOTALS)
    # 47% / (47/75) = 75% and 47% / (47/88) = 88%, mean 81.5%; the interval holds both raters' rates.
    assert found.value == pytest.approx(0.815)
    assert found.low < 0.75 < 0.88 < found.high
    assert "sensitivity against rater 1 0.63, rater 2 0.53" in found.note  # 47/75 and 47/88
    assert "specificity taken as 1" in found.note
    validation = TOTALS.with_columns(group=pl.lit("woman"))
    table = flagged_shares(images("woman", 53, 47) + images("man", 9, 1), validation=validation)
    assert row(table, "sexualised_rate_corrected", "woman")["value"] == pytest.approx(0.815)


def test_one_raters_interval_is_narrower_than_two_who_differ():
    def width(found):
        return found.high - found.low

    differ = TOTALS.with_columns(rater_flagged=pl.Series([55, 95]))
    assert width(corrected_rate(150, 1000, differ)) > width(corrected_rate(150, 1000, differ.head(1)))
    assert width(corrected_rate(150, 1000, differ)) > width(corrected_rate(150, 1000, differ.tail(1)))


def test_correction_by_hand():
    # Sensitivity .8, specificity .9, flagged .31: (.31 + .9 - 1) / .7 = .3.
    assert corrected_share(0.31, 0.8, 0.9) == pytest.approx(0.3)
    with pytest.raises(PortrayalError, match="cannot be corrected"):
        corrected_share(0.3, 0.4, 0.6)


def test_what_is_known_of_a_detector_is_jeffreys_posterior():
    # Of 8 images the rater flags 3 and the detector 2 of these; of the 5 others it clears 4: beta(2.5, 1.5), beta(4.5, 1.5).
    flags = [True, True, False, True, False, False, False, False]
    judged = [True, True, True, False, False, False, False, False]
    rows = pl.DataFrame({"rater": ["r"] * 8, "detector": flags, "judgment": judged})
    (sensitivity, specificity), ruler = undercount._joint(rows)
    assert (sensitivity, specificity) == (2 / 3, 4 / 5)
    drawn = ruler(np.random.default_rng(0), 200_000)
    for draws, (a, b) in zip(drawn, ((2.5, 1.5), (4.5, 1.5)), strict=True):
        assert (draws.mean(), draws.var()) == pytest.approx(
            (a / (a + b), a * b / ((a + b) ** 2 * (a + b + 1))), abs=2e-3
        )
    # From totals: the detector has 47 of the rater's 75, and what it flags is right.
    (sensitivity, specificity), ruler = undercount._totals({"detector_flagged": 47, "rater_flagged": 75, "n": 100})
    assert (sensitivity, specificity) == (47 / 75, 1.0)
    found, right = ruler(np.random.default_rng(0), 200_000)
    assert found.mean() == pytest.approx(47.5 / 76, abs=1e-3)
    assert (right == 1).all()


def test_totals_need_an_under_count():
    for flagged, judged, n in ((0, 5, 10), (6, 5, 10), (5, 11, 10)):
        with pytest.raises(PortrayalError, match="only an under-count can be corrected"):
            undercount._totals({"detector_flagged": flagged, "rater_flagged": judged, "n": n})
    assert undercount._totals({"detector_flagged": 10, "rater_flagged": 10, "n": 10})[0] == (1.0, 1.0)


def test_joint_validation_covers_the_planted_share():
    rng, covered = np.random.default_rng(0), 0
    for run in range(200):
        truth = rng.random(200) < 0.5
        flags = np.where(truth, rng.random(200) < 0.6, rng.random(200) < 0.05)
        validation = pl.DataFrame({"rater": ["r"] * 200, "detector": flags, "judgment": truth})
        hits = rng.binomial(300, 0.3 * 0.6 + 0.7 * 0.05)
        interval = corrected_rate(hits, 300, validation, draws=1000, seed=run)
        covered += interval.low <= 0.3 <= interval.high
    assert 0.90 <= covered / 200 <= 0.99


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{**images("a", 1)[0], "label": None}], "answered but have no label"),
        (images("a", 1) + images("a", 1), "listed twice"),
    ],
)
def test_faults_say_what_to_do(rows, message):
    with pytest.raises(PortrayalError, match=message):
        flagged_shares(pl.DataFrame(rows, infer_schema_length=None))


def test_three_groups_and_row_order():
    rows = images("woman", 5, 2) + images("man", 6, 1) + images("person", 6, 2)
    table = flagged_shares(rows)
    assert table.filter(pl.col("measure") == "sexualised_difference").height == 3
    assert flagged_shares(rows[::-1]).equals(table)
