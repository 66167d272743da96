"""The slopes, tests and flips of the counterfactuals measure: by hand, against scipy and statsmodels, and properties."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import optimize, stats

from portrayal.audits.counterfactuals.measures.flips import any_flip, label_flips, share
from portrayal.audits.counterfactuals.measures.labels import is_plain, occupation_group
from portrayal.audits.counterfactuals.measures.logistic import conditional_logistic
from portrayal.audits.counterfactuals.measures.measure import label_slopes, measure_counterfactuals
from portrayal.audits.counterfactuals.measures.presence import blocks
from portrayal.audits.counterfactuals.measures.rows import Options
from portrayal.audits.counterfactuals.measures.slopes import normalised, normalised_slopes, reversal_scores
from portrayal.errors import PortrayalError
from portrayal.record.ledger import Entry
from portrayal.record.responses import read_responses
from portrayal.stats.intervals import wilson
from portrayal.stats.permutation import sign_flip_columns
from portrayal.systems.base import Answer

SEVEN = np.linspace(-2, 2, 7)
SEVEN[3] = 0.0
FIVE = np.linspace(-2, 2, 5)


def answers(
    present: np.ndarray,
    values: np.ndarray,
    labels: list[str],
    attribute: str = "gender",
    system: str = "tagger",
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Turn source x step x label into stimuli and responses as a study records them."""
    stimuli, responses = [], []
    for picture in range(present.shape[0]):
        for step, value in enumerate(values):
            name = f"{attribute}-{picture}-{step}"
            stimuli.append(
                {"stimulus": name, "picture": f"picture {picture}", "person": f"person {picture // 2}",
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
    found = normalised_slopes(present, FIVE, ["a", "b", "c", "d"], draws=99)
    assert found.slope[0] == pytest.approx(0.35)
    assert found.p_paper[0] == pytest.approx(0.0354, abs=5e-5)
    assert found.at_centre[0] == 2
    assert np.isnan(found.low[0])  # two images at the centre are too few for an interval


def test_slope_and_p_equal_scipy(random_present: np.ndarray):
    found = normalised_slopes(random_present, SEVEN, np.arange(60), draws=9)
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


def test_clusters_of_copies_are_no_more_certain_than_one_of_each(random_present: np.ndarray):
    once = normalised_slopes(random_present, SEVEN, np.arange(60))
    copied = normalised_slopes(np.repeat(random_present, 3, axis=0), SEVEN, np.repeat(np.arange(60), 3))
    np.testing.assert_allclose(copied.high - copied.low, once.high - once.low, rtol=1e-12)


def test_reversal_never_moves_for_a_constant_label():
    present = np.ones((8, 7, 1))
    assert sign_flip_columns(reversal_scores(present, np.arange(8)))[0] == 1.0


def test_reversal_keeps_its_p_when_the_series_is_read_backwards(random_present: np.ndarray):
    forward = sign_flip_columns(reversal_scores(random_present, np.arange(60)))
    backward = sign_flip_columns(reversal_scores(random_present[:, ::-1], np.arange(60)))
    np.testing.assert_allclose(forward, backward, atol=1e-13)


def test_logistic_slope_equals_statsmodels(random_present: np.ndarray):
    from statsmodels.discrete.conditional_models import ConditionalLogit

    found = conditional_logistic(random_present, SEVEN, np.arange(60))
    for label in range(3):
        y = random_present[:, :, label].ravel()
        groups = np.repeat(np.arange(60), 7)
        changing = np.isin(groups, np.flatnonzero(np.ptp(random_present[:, :, label], axis=1)))
        model = ConditionalLogit(y[changing], np.tile(SEVEN, 60)[changing, None], groups=groups[changing])
        assert found.slope[label] == pytest.approx(model.fit(disp=False, method="bfgs").params[0], abs=1e-4)
        assert found.low[label] < found.slope[label] < found.high[label]


def test_two_images_have_a_logistic_interval_by_hand():
    # Steps -1, 0, 1. One image carries the label at 1 alone and one at 0 alone, so the chance of step v is e^(bv) over
    # e^-b + 1 + e^b, and its mean must be 1/2. The error is that of the residuals, 1/2 and -1/2, over the information,
    # times 2/1.
    present = np.zeros((2, 3, 1))
    present[[0, 1], [2, 1]] = 1
    steps = np.array([-1.0, 0.0, 1.0])

    def chances(slope: float) -> np.ndarray:
        return np.exp(slope * steps) / np.exp(slope * steps).sum()

    slope = optimize.brentq(lambda at: chances(at) @ steps - 1 / 2, 0, 5, xtol=1e-12)
    information = 2 * (chances(slope) @ steps**2 - 1 / 4)
    half = stats.t.ppf(0.975, 1) * np.sqrt(2 * (1 / 4 + 1 / 4)) / information
    found = conditional_logistic(present, steps, np.arange(2))
    assert (found.slope[0], found.low[0], found.high[0]) == pytest.approx((slope, slope - half, slope + half))
    assert found.n.tolist() == [2]
    one_person = conditional_logistic(present, steps, np.zeros(2))
    assert np.isnan([one_person.low[0], one_person.high[0]]).all()


def test_a_label_only_ever_at_one_end_has_no_finite_logistic_slope():
    present = np.zeros((5, 5, 1))
    present[:, 4] = 1
    assert conditional_logistic(present, FIVE, np.arange(5)).slope[0] == np.inf
    assert np.isnan(conditional_logistic(np.ones((5, 5, 1)), FIVE, np.arange(5)).slope[0])


def test_flips_by_hand():
    # Of four images the label comes in two (0 at -2, 1 at 2), goes in one; the fourth carries it in the middle
    # only: it changes without coming or going between the ends. So 2/4, 1/4 and 4/4.
    given = [[0, 0, 0, 1, 1], [0, 1, 1, 1, 1], [1, 1, 0, 0, 0], [0, 0, 1, 0, 0]]
    present = np.array(given, dtype=float)[:, :, None]
    flips = next(label_flips(present, ["a", "b", "c", "d"]))
    assert [ends.value for ends in flips] == [0.5, 0.25, 1.0]
    assert any_flip(present, ["a", "b", "c", "d"]).value == 1.0
    # Wilson for 2 of 4: centre (1/2 + z^2/8) / (1 + z^2/4) = 1/2, half width .3499.
    assert flips.comes.low == pytest.approx(0.1500, abs=5e-5)


def test_no_flip_in_few_clusters_is_no_certainty():
    ends = share(np.zeros(6, dtype=bool), ["a", "a", "b", "b", "c", "c"])
    assert (ends.value, ends.low) == (0.0, 0.0)
    assert ends.high == pytest.approx(0.5615, abs=5e-5)  # Wilson for 0 of 3


def test_blocks_leave_out_broken_series_and_count_them(random_present: np.ndarray):
    stimuli, responses = answers(random_present[:6], SEVEN, ["nurse", "model", "chef"])
    failed = responses.with_columns(
        pl.when(pl.col("stimulus") == "gender-2-0").then(pl.lit("failed")).otherwise("status").alias("status")
    )
    block = next(blocks(stimuli, failed))
    assert (len(block.pictures), block.n_missing) == (5, 1)
    assert "picture 2" not in block.pictures


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
    assert (block.empty, block.n_missing) == (1, 0)
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
    assert (block.n_missing, block.empty) == (0, 100)


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
        options = Options(cluster="person", repeats=repeats, draws=99, seed=5, method="holm")
        labels = measure_counterfactuals(stimuli, responses, options)[1]["labels"]
        found = label_slopes(stimuli.to_dicts(), responses, cluster="person", draws=99, seed=5, method="holm")
        assert found.equals(labels)


def test_a_label_absent_at_the_centre_is_reported_with_raw_rates():
    present = np.zeros((12, 7, 1))
    present[:3, 6] = 1
    stimuli, responses = answers(present, SEVEN, ["boxer"])
    results, _, _ = measure_counterfactuals(stimuli, responses)
    slope = results.filter((pl.col("measure") == "slope") & (pl.col("contrast") == "boxer")).row(
        0, named=True
    )
    assert slope["value"] is None and "absent at the centre" in slope["note"]
    rate = results.filter((pl.col("measure") == "rate") & pl.col("contrast").str.ends_with("+2"))
    assert rate["value"].to_list() == [0.25]


def test_a_rare_label_has_a_slope_but_no_interval():
    present = np.zeros((20, 7, 1))
    present[:9] = 1
    stimuli, responses = answers(present, SEVEN, ["boxer"])
    results, _, _ = measure_counterfactuals(stimuli, responses)
    row = results.filter((pl.col("measure") == "slope") & (pl.col("contrast") == "boxer")).row(0, named=True)
    assert (row["value"], row["low"]) == (0.0, None)
    assert "9 source images only" in row["note"]


def test_every_estimate_has_n_and_row_order_never_matters(random_present: np.ndarray):
    stimuli, responses = answers(random_present, SEVEN, ["nurse", "model", "chef"])
    results, tables, _ = measure_counterfactuals(stimuli, responses, Options(cluster="person", draws=199))
    again, _, _ = measure_counterfactuals(
        stimuli.sample(fraction=1, shuffle=True, seed=1), responses.sample(fraction=1, shuffle=True, seed=2),
        Options(cluster="person", draws=199),
    )  # fmt: skip
    assert results.equals(again)
    assert results.filter(pl.col("value").is_not_null())["n"].null_count() == 0
    assert tables["labels"].height == 4 and tables["rates"].height == 28


def test_relabelling_only_relabels(random_present: np.ndarray):
    plain = measure_counterfactuals(*answers(random_present, SEVEN, ["a", "b", "c"]))[0]
    renamed = measure_counterfactuals(*answers(random_present, SEVEN, ["x", "y", "z"]))[0]
    names = {"a": "x", "b": "y", "c": "z"}
    moved = plain.with_columns(pl.col("contrast").replace(names))
    assert moved.sort("measure", "contrast").equals(renamed.sort("measure", "contrast"))


def test_swapping_the_poles_flips_the_sign_and_keeps_p(random_present: np.ndarray):
    there = measure_counterfactuals(*answers(random_present, SEVEN, ["a", "b", "c"]))[1]["labels"]
    back = measure_counterfactuals(*answers(random_present[:, ::-1], SEVEN, ["a", "b", "c"]))[1]["labels"]
    np.testing.assert_allclose(there["slope"], -back["slope"].to_numpy(), atol=1e-12)
    np.testing.assert_allclose(there["p"], back["p"], atol=1e-13)


def test_a_placebo_that_moves_labels_is_a_warning():
    present = np.zeros((40, 7, 3))
    present[:30, 3:] = 1
    stimuli, responses = answers(present, SEVEN, ["a", "b", "c"], attribute="placebo")
    results, _, warnings = measure_counterfactuals(stimuli, responses)
    assert len(warnings) == 1 and "placebo" in warnings[0]
    assert "slope" not in results["measure"].to_list()  # a placebo's slope is in no family of tests
    assert "placebo_slope" in results["measure"].to_list()


def test_the_placebo_counts_the_labels_that_move():
    # The first label follows the value in all pictures, the others come and go as they like.
    present = np.random.default_rng(5).integers(0, 2, (40, 7, 3)).astype(float)
    present[:, :, 0] = SEVEN > -0.5
    results, tables, _ = measure_counterfactuals(
        *answers(present, SEVEN, ["a", "b", "c"], attribute="placebo")
    )
    row = results.filter(pl.col("measure") == "placebo_labels_moved").row(0, named=True)
    assert dict(tables["labels"].select("label", pl.col("p") < 0.05).iter_rows())["a"] is True
    # Of a, b, c and the label that every picture carries only a moves.
    assert (row["value"], row["n"]) == (0.25, 4)
    assert row["low"] == pytest.approx(wilson(1, 4).low)


def test_occupations_are_grouped(random_present: np.ndarray):
    results = measure_counterfactuals(*answers(random_present, SEVEN, ["Nurse", "surgeon", "chef"]))[0]
    groups = results.filter(pl.col("measure") == "occupation_group_slope")
    assert groups["contrast"].to_list() == ["health", "office and service"]
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
