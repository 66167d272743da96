"""The slopes, tests and flips of the counterfactuals measure: by hand, against scipy and statsmodels, and properties."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import stats

from portrayal.audits.counterfactuals.measures.measure import label_slopes, measure_counterfactuals
from portrayal.audits.counterfactuals.measures.occupations import is_plain, occupation_group
from portrayal.audits.counterfactuals.measures.presence import blocks
from portrayal.audits.counterfactuals.measures.slopes import normalised, normalised_slopes, reversal_scores
from portrayal.audits.counterfactuals.measures.sums import flip_counts
from portrayal.errors import PortrayalError
from portrayal.recorder.ledger import Entry
from portrayal.recorder.responses import read_responses
from portrayal.stats.intervals.intervals import ratio_interval
from portrayal.stats.tests.permutation import sign_flip_columns
from portrayal.systems.core.base import Answer

SEVEN = np.linspace(-2, 2, 7)
SEVEN[3] = 0.0
FIVE = np.linspace(-2, 2, 5)


def answers(
    present: np.ndarray,
    values: np.ndarray,
    labels: list[str],
    attribute: str = "gender",
    system: str = "tagger",
    pictures: int = 2,  # of each person
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Turn source x step x label into stimuli and responses as a study records them."""
    stimuli, responses = [], []
    for picture in range(present.shape[0]):
        for step, value in enumerate(values):
            name = f"{attribute}-{picture}-{step}"
            stimuli.append(
                {"stimulus": name, "picture": f"picture {picture}", "person": f"person {picture // pictures}",
                 "attribute": attribute, "condition": "edited", "value": float(value)}
            )  # fmt: skip
            given = [label for label, there in zip(labels, present[picture, step], strict=True) if there]
            base = {"system": system, "stimulus": name, "repeat": 0, "status": "answered"}
            responses += [{**base, "tag": "Face", "confidence": 0.99}]
            responses += [{**base, "tag": label, "confidence": 0.8} for label in given]
    return pl.DataFrame(stimuli), pl.DataFrame(responses)


@pytest.fixture(scope="module")
def random_present() -> np.ndarray:
    rng = np.random.default_rng(0)
    chance = 0.3 * (1 + 0.2 * SEVEN[:, None] * np.array([1, -1, 0]))
    return (rng.random((60, 7, 3)) < chance).astype(float)


def test_slope_by_hand():
    # Four source images, steps -2 -1 0 1 2. The label is given for 1, 1, 2, 2, 4 of them:
    # y = 1/4, 1/4, 1/2, 1/2, 1 and z = y / y_c = 1/2, 1/2, 1, 1, 2.
    # b = sum a z / sum a^2 = (-1 - 1/2 + 0 + 1 + 4) / (4 + 1 + 0 + 1 + 4) = 3.5 / 10 = 0.35.
    # Residuals from the mean 1 and the line: .2, -.15, 0, -.35, .3; their squares add to .275, so the error is
    # sqrt(.275 / 3 / 10) = .09574 and t = 3.656 with 3 degrees of freedom: p = .0354.
    given = [[1, 1, 1, 1, 1], [0, 0, 1, 1, 1], [0, 0, 0, 0, 1], [0, 0, 0, 0, 1]]
    present = np.array(given, dtype=float)[:, :, None]
    found = normalised_slopes(present, FIVE, ["a", "b", "c", "d"])
    assert found.slope[0] == pytest.approx(0.35)
    assert found.p_paper[0] == pytest.approx(0.0354, abs=5e-5)
    assert found.at_centre[0] == 2
    # Each person's rise is sum a y / 10 = 0, .3, .2, .2 and their base 1, 1, 0, 0: b = .7 / 2. The residuals rise - b x base are
    # -.35, -.05, .2, .2, their squares add to .205; one more person without an effect, whose base would be 1/2, adds
    # (.35 / 2)^2 = .030625. The error is sqrt(4/3 x .235625) / 2 = .28025, t with 3 degrees of freedom 3.18245.
    assert found.low[0] == pytest.approx(0.35 - 3.18245 * 0.28025, abs=5e-5)
    assert found.high[0] == pytest.approx(0.35 + 3.18245 * 0.28025, abs=5e-5)


def test_nine_people_who_answer_alike_are_no_certainty():
    # Everybody gets the label at 0, 1 and 2 and never below: each rise is 3/10 and each base 1, b = .3 without a residual. One
    # more person without an effect adds .3^2, so the error is sqrt(9/8) x .3 / 9 = .035355 and t(8) = 2.30600.
    present = np.zeros((9, 5, 1))
    present[:, 2:] = 1
    found = normalised_slopes(present, FIVE, np.arange(9))
    assert found.slope[0] == pytest.approx(0.3)
    assert (found.low[0], found.high[0]) == pytest.approx((0.3 - 2.306 * 0.035355, 0.3 + 2.306 * 0.035355), abs=5e-6)


def test_an_end_that_is_zero_is_exactly_zero():
    # Thirds do not add up to 1 in floating point; without care the slope of a label that never changes is 1e-17.
    present = np.full((9, 7, 1), 1 / 3)
    present[::3] = 2 / 3
    found = normalised_slopes(present, SEVEN, np.repeat(["a", "b", "c"], 3))
    assert found.slope[0] == 0.0 and np.isnan(found.low[0])


def test_the_interval_equals_cochrans_with_one_person_more(random_present: np.ndarray):
    top, bottom = random_present.sum(axis=1), random_present[:, 3] + 0.25
    low, high = ratio_interval(top, bottom, null=1.0)
    for label in range(3):
        x, y = bottom[:, label], top[:, label]
        ratio = y.sum() / x.sum()
        residual = np.append(y - ratio * x, (ratio - 1) * x.mean())
        error = np.sqrt(60 / 59 * (residual**2).sum()) / x.sum()
        ends = stats.t.interval(0.95, 59, ratio, error)
        assert (low[label], high[label]) == pytest.approx(ends)


def test_slope_and_p_equal_scipy(random_present: np.ndarray):
    found = normalised_slopes(random_present, SEVEN, np.arange(60))
    z = normalised(random_present.mean(axis=0), 3)
    for label in range(3):
        expected = stats.linregress(SEVEN, z[:, label])
        assert found.slope[label] == pytest.approx(expected.slope, abs=1e-12)
        assert found.p_paper[label] == pytest.approx(expected.pvalue, rel=1e-9)


def test_the_interval_holds_its_slope_and_shrinks_with_more_images(random_present: np.ndarray):
    small = normalised_slopes(random_present, SEVEN, np.arange(60))
    twice = normalised_slopes(np.concatenate([random_present] * 4), SEVEN, np.arange(240))
    assert np.all(small.low < small.slope) and np.all(small.slope < small.high)
    assert np.all(twice.high - twice.low < 0.7 * (small.high - small.low))


def test_people_shown_three_times_are_no_more_certain_than_once(random_present: np.ndarray):
    once = normalised_slopes(random_present, SEVEN, np.arange(60))
    copied = normalised_slopes(np.repeat(random_present, 3, axis=0), SEVEN, np.repeat(np.arange(60), 3))
    np.testing.assert_allclose(copied.high - copied.low, once.high - once.low, rtol=1e-12)


def test_reversal_never_moves_for_a_constant_label():
    present = np.ones((8, 7, 1))
    assert sign_flip_columns(reversal_scores(present, np.arange(8)))[0] == 1.0


def test_a_person_counts_once_however_many_pictures_there_are():
    # Steps -1, 0, 1. Anna's three pictures rise by 1 in sum, bert's one falls by 1: on the common denominator of 3 their
    # means are 1 (of 3) and -3.
    present = np.zeros((4, 3, 1))
    present[0, 2] = 1
    present[3, 0] = 1
    assert reversal_scores(present, ["anna"] * 3 + ["bert"])[:, 0].tolist() == [1.0, -3.0]


def test_reversal_keeps_its_p_when_the_series_is_read_backwards(random_present: np.ndarray):
    forward = sign_flip_columns(reversal_scores(random_present, np.arange(60)))
    backward = sign_flip_columns(reversal_scores(random_present[:, ::-1], np.arange(60)))
    np.testing.assert_allclose(forward, backward, atol=1e-13)


def test_flips_by_hand():
    # Of four images the label comes in two (0 at -2, 1 at 2), goes in one; the fourth carries it in the middle
    # only: it changes without coming or going between the ends. So 2/4, 1/4 and 4/4.
    given = [[0, 0, 0, 1, 1], [0, 1, 1, 1, 1], [1, 1, 0, 0, 0], [0, 0, 1, 0, 0]]
    present = np.array(given, dtype=float)[:, :, None]
    assert [count[0] for count in flip_counts(present >= 0.5, ["a", "b", "c", "d"])] == [2, 1, 4]
    rows = measure_counterfactuals(*answers(present, FIVE, ["nurse"], pictures=1)).results
    shares = dict(rows.filter(pl.col("label") == "nurse").select("measure", "value").iter_rows())
    assert [shares[f"flip_{kind}"] for kind in ("comes", "goes", "changes")] == [0.5, 0.25, 1.0]
    assert rows.filter(measure="any_flip")["value"].to_list() == [1.0]
    # Wilson for 2 of 4: centre (1/2 + z^2/8) / (1 + z^2/4) = 1/2, half width .3499.
    assert rows.filter(measure="flip_comes", label="nurse")["low"][0] == pytest.approx(0.1500, abs=5e-5)


def test_no_flip_in_few_people_is_no_certainty():
    rows = measure_counterfactuals(*answers(np.zeros((6, 5, 1)), FIVE, ["nurse"])).results
    ((value, low, high, n),) = rows.filter(measure="any_flip").select("value", "low", "high", "n").rows()
    assert (value, low, n) == (0.0, 0.0, 3)
    assert high == pytest.approx(0.5615, abs=5e-5)  # Wilson for 0 of 3


def test_blocks_leave_out_broken_series_and_count_them(random_present: np.ndarray):
    stimuli, responses = answers(random_present[:6], SEVEN, ["nurse", "model", "chef"])
    failed = responses.with_columns(
        pl.when(pl.col("stimulus") == "gender-2-0").then(pl.lit("failed")).otherwise("status").alias("status")
    )
    block = next(blocks(stimuli, failed))
    # Picture 2 shows person 1, who is still there with picture 3: nobody is missing, one source image is.
    assert (len(block.pictures), block.lost, block.n_missing) == (5, 1, 0)
    assert "picture 2" not in block.pictures
    alone = next(blocks(*answers(random_present[:6], SEVEN, ["nurse", "model", "chef"], pictures=1)[:1], failed))
    assert (len(alone.pictures), alone.lost, alone.n_missing) == (5, 1, 1)


@pytest.mark.parametrize("blank", [None, "", " "])
def test_a_step_that_shows_nobody_by_name_is_refused(random_present: np.ndarray, blank: str | None):
    stimuli, responses = answers(random_present[:3], SEVEN, ["nurse", "model", "chef"])
    second = pl.col("stimulus") == "gender-1-0"
    unnamed = stimuli.with_columns(pl.when(second).then(pl.lit(blank)).otherwise("person").alias("person"))
    with pytest.raises(PortrayalError, match="'gender-1-0' has no `person`"):
        list(blocks(unnamed, responses))


def test_an_empty_answer_is_counted_and_every_label_is_absent_in_it(random_present: np.ndarray):
    stimuli, responses = answers(random_present[:4], SEVEN, ["nurse", "model", "chef"])
    rest = responses.filter(pl.col("stimulus") != "gender-1-3")
    empty = {
        "system": "tagger",
        "stimulus": "gender-1-3",
        "repeat": 0,
        "status": "empty",
        "tag": None,
        "confidence": None,
    }
    block = next(blocks(stimuli, pl.concat([rest, pl.DataFrame([empty], schema=rest.schema)])))
    assert (block.empty, block.lost) == (1, 0)
    assert block.present[1, 3].tolist() == [0.0] * len(block.labels)


def test_a_classifier_that_says_nurse_or_nothing_has_the_slope_that_was_planted():
    # Forty source images, steps -2 -1 0 1 2; 38, 29, 20, 11 and 2 of the answers are ["Nurse"], the others []. The shares over
    # the centre's are 1.9, 1.45, 1, .55 and .1: a line of slope -.45.
    given = [38, 29, 20, 11, 2]
    steps = [(picture, step) for picture in range(40) for step in range(5)]
    stimuli = pl.DataFrame(
        {"stimulus": f"{picture}-{step}", "hash": f"{picture}-{step}", "picture": str(picture), "person": str(picture),
         "attribute": "gender", "condition": "edited", "value": float(FIVE[step])}
        for picture, step in steps
    )  # fmt: skip
    entries = [
        Entry(name := f"{picture}-{step}", "binary", name, 0, "tagger", "plain", {}, "done",
              Answer(b'["Nurse"]' if picture < given[step] else b"[]"), None)
        for picture, step in steps
    ]  # fmt: skip
    responses = read_responses(entries, stimuli, "tagger")
    found = label_slopes(stimuli, responses).row(0, named=True)
    assert (found["label"], found["n"]) == ("Nurse", 40)
    assert found["slope"] == pytest.approx(-0.45)
    assert found["p"] < 1e-6
    block = next(blocks(stimuli, responses))
    assert (block.lost, block.empty) == (0, 100)


def test_repeats_become_shares(random_present: np.ndarray):
    stimuli, responses = answers(random_present[:4], SEVEN, ["nurse", "model", "chef"])
    nurses = responses.filter(pl.col("tag") != "nurse").with_columns(pl.lit(1, pl.Int64).alias("repeat"))
    block = next(blocks(stimuli, pl.concat([responses, nurses])))
    nurse = block.present[:, :, block.labels.index("nurse")]
    np.testing.assert_allclose(nurse, random_present[:4, :, 0] / 2)


def test_label_slopes_are_those_of_the_audit_and_see_repeats_by_themselves(random_present: np.ndarray):
    stimuli, once = answers(random_present[:8], SEVEN, ["nurse", "model", "chef"])
    again = once.filter(pl.col("tag") != "chef").with_columns(pl.lit(1, pl.Int64).alias("repeat"))
    for responses, repeats in ((once, 1), (pl.concat([once, again]), 2)):
        labels = measure_counterfactuals(stimuli, responses, repeats).tables["labels"]
        found = label_slopes(stimuli.to_dicts(), responses, seed=5)
        assert found.select(labels.columns).equals(labels)
        assert found.columns[found.get_column_index("p") + 1 :][:5] == [
            "p_adjusted", "decision", "raw_slope", "raw_low", "raw_high"
        ]  # fmt: skip
        assert found["decision"].null_count() == 0


def test_a_label_absent_at_the_centre_is_reported_with_raw_rates():
    present = np.zeros((12, 7, 1))
    present[:3, 6] = 1
    results = measure_counterfactuals(*answers(present, SEVEN, ["boxer"], pictures=1)).results
    mine = results.filter(pl.col("label") == "boxer")
    assert "slope" not in mine["measure"].to_list()
    # Three of twelve get it at 2 alone: each rise is 2 / sum a^2 = 2 / (112 / 9), and their mean .25 of that.
    raw = mine.filter(pl.col("measure") == "raw_slope").row(0, named=True)
    assert raw["value"] == pytest.approx(0.25 * 2 * 9 / 112)
    assert raw["note"] == "nobody gets it at the centre: no normalised slope"
    assert (raw["decision"], raw["reason"]) == (
        "not tested", "fewer than 6 people get it more often towards one end than towards the other"
    )  # fmt: skip
    rate = mine.filter(pl.col("measure") == "rate", pl.col("step") == "+2")
    assert rate["value"].to_list() == [0.25]


def test_a_label_that_never_changes_has_a_slope_but_no_interval_and_is_not_tested():
    present = np.zeros((20, 7, 1))
    present[:9] = 1
    results = measure_counterfactuals(*answers(present, SEVEN, ["boxer"])).results
    row = results.filter(pl.col("measure") == "slope", pl.col("label") == "boxer").row(0, named=True)
    assert (row["value"], row["low"]) == (0.0, None)
    raw = results.filter(pl.col("measure") == "raw_slope", pl.col("label") == "boxer").row(0, named=True)
    assert (raw["value"], raw["low"], raw["p"], raw["decision"]) == (0.0, None, None, "not tested")


def test_every_estimate_has_n_and_row_order_never_matters(random_present: np.ndarray):
    stimuli, responses = answers(random_present, SEVEN, ["nurse", "model", "chef"])
    measured = measure_counterfactuals(stimuli, responses)
    again = measure_counterfactuals(
        stimuli.sample(fraction=1, shuffle=True, seed=1), responses.sample(fraction=1, shuffle=True, seed=2)
    )
    results, tables = measured.results, measured.tables
    assert results.equals(again.results)
    estimates = results.filter(pl.col("value").is_not_null())
    assert estimates["n"].null_count() == 0 and set(estimates["counted"]) == {"people", "answers"}
    assert set(estimates.filter(pl.col("counted") == "people")["n"]) == {30}  # sixty pictures of thirty people
    assert tables["labels"].height == 4 and tables["rates"].height == 28


def test_relabelling_only_relabels(random_present: np.ndarray):
    plain = measure_counterfactuals(*answers(random_present, SEVEN, ["a", "b", "c"])).results
    renamed = measure_counterfactuals(*answers(random_present, SEVEN, ["x", "y", "z"])).results
    names = {"a": "x", "b": "y", "c": "z"}
    moved = plain.with_columns(pl.col("label").replace(names))
    assert moved.sort("measure", "label").equals(renamed.sort("measure", "label"))


def test_swapping_the_poles_flips_the_sign_and_keeps_p(random_present: np.ndarray):
    there = measure_counterfactuals(*answers(random_present, SEVEN, ["a", "b", "c"])).tables["labels"]
    back = measure_counterfactuals(*answers(random_present[:, ::-1], SEVEN, ["a", "b", "c"])).tables["labels"]
    np.testing.assert_allclose(there["slope"], -back["slope"].to_numpy(), atol=1e-12)
    np.testing.assert_allclose(there["p"], back["p"], atol=1e-13)


def test_a_placebo_that_moves_labels_is_a_warning():
    present = np.zeros((40, 7, 3))
    present[:30, 3:] = 1
    stimuli, responses = answers(present, SEVEN, ["a", "b", "c"], attribute="placebo")
    measured = measure_counterfactuals(stimuli, responses)
    assert len(measured.warnings) == 1 and "placebo" in measured.warnings[0]
    slopes = measured.results.filter(pl.col("measure") == "slope")
    assert set(slopes["family"]) == {"exploratory"}  # a placebo's slope is in no family of tests


def test_the_placebo_counts_the_labels_that_move():
    # The first label follows the value in all pictures, the others come and go as they like.
    present = np.random.default_rng(5).integers(0, 2, (40, 7, 3)).astype(float)
    present[:, :, 0] = SEVEN > -0.5
    measured = measure_counterfactuals(*answers(present, SEVEN, ["a", "b", "c"], attribute="placebo"))
    row = measured.results.filter(pl.col("measure") == "placebo_labels_moved").row(0, named=True)
    # Of a, b and c only a follows; that every picture carries Face, a plain concept, does not count.
    assert (row["value"], row["n"], row["note"]) == (1.0, 3, "a")


def test_nothing_is_said_of_a_system_that_follows_the_placebo():
    present = np.zeros((40, 7, 3))
    present[:30, 3:] = 1
    parts = [answers(present, SEVEN, ["a", "b", "c"], attribute=name) for name in ("gender", "placebo")]
    measured = measure_counterfactuals(*(pl.concat(tables) for tables in zip(*parts, strict=True)))
    slopes = measured.results.filter(pl.col("measure") == "raw_slope", pl.col("attribute") == "gender")
    assert set(slopes["decision"]) == {"not measurable"}
    assert slopes["reason"][0] == "its labels follow a random direction of the face too (the placebo)"


def test_occupations_are_grouped(random_present: np.ndarray):
    results = measure_counterfactuals(*answers(random_present, SEVEN, ["Nurse", "surgeon", "chef"])).results
    groups = results.filter(pl.col("measure") == "occupation_group_slope")
    assert groups["occupation"].to_list() == ["health", "office and service"]
    assert groups["note"][0] == "any of: Nurse, surgeon"


def test_labels_have_kinds():
    assert is_plain("Face") and is_plain("Red color") and not is_plain("nurse")
    assert occupation_group(" Nurse ") == "health" and occupation_group("cloud") is None


def test_a_series_without_a_centre_is_refused(random_present: np.ndarray):
    stimuli, responses = answers(random_present[:3], SEVEN + 0.5, ["a", "b", "c"])
    with pytest.raises(PortrayalError, match="centre at 0"):
        list(blocks(stimuli, responses))


@pytest.mark.parametrize("values", [[-1, 0, 1, 2], [-2, 0, 1], [-2, -0.5, 0, 0.5, 2]])
def test_lopsided_or_uneven_steps_are_refused(values: list[float]):
    stimuli, responses = answers(np.ones((3, len(values), 1)), np.array(values, dtype=float), ["Nurse"])
    with pytest.raises(PortrayalError, match="symmetric around 0 and evenly spaced"):
        list(blocks(stimuli, responses))


def test_values_written_with_two_decimals_are_evenly_spaced():
    stimuli, responses = answers(np.ones((3, 7, 1)), SEVEN.round(2), ["Nurse"])
    assert len(next(iter(blocks(stimuli, responses))).values) == 7


def test_a_table_without_steps_is_refused():
    with pytest.raises(PortrayalError, match="stimuli lacks column 'picture'"):
        list(blocks(pl.DataFrame({"stimulus": ["a"]}), pl.DataFrame()))


def test_the_band_of_a_curve_is_one_at_its_centre_and_wide_elsewhere(random_present: np.ndarray):
    rates = measure_counterfactuals(*answers(random_present, SEVEN, ["a", "b", "c"])).tables["rates"]
    centre = rates.filter(pl.col("value") == 0).select("normalised", "low", "high")
    assert set(centre.rows()) == {(1.0, 1.0, 1.0)}
    apart = rates.filter(pl.col("value") != 0, pl.col("label") != "Face")
    assert (apart["low"] < apart["normalised"]).all() and (apart["normalised"] < apart["high"]).all()
