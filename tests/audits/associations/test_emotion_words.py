"""Emotion words in captions: the recorded SOBEM captions, arithmetic by hand, and the shared properties."""

import numpy as np
import polars as pl
import pytest

from portrayal.audits.associations.datasets import sobem
from portrayal.audits.associations.measures.emotion_words import emotion_words
from portrayal.errors import PortrayalError
from portrayal.stats.intervals.intervals import clustered_rate, paired_rate_ratio

WORDS = {"joy": ["happy", "smile"], "anger": ["angry"]}


def caption(person, condition, text, emotion="joy", status="answered", intensity=""):
    place = {"system": "s", "person": person, "emotion": emotion, "intensity": intensity}
    return {**place, "condition": condition, "status": status, "caption": text}


def value(table, measure, emotion, condition, intensity=None):
    of = pl.col("intensity").eq_missing(pl.lit(intensity))
    row = table.filter(pl.col("measure") == measure, of, emotion=emotion, group=condition)
    assert row.height == 1
    return row.row(0, named=True)


def small():
    return [
        caption("1", "shirt", "A happy, HAPPY person."),
        caption("1", "shirt", "A smile."),
        caption("1", "bare", "A wall"),
        caption("1", "bare", "happy"),
        caption("2", "shirt", "smile"),
        caption("2", "bare", "unhappy"),
        caption("2", "bare", None, status="refused"),
        caption("1", "shirt", "an angry smile", emotion="neutral"),
    ]


def test_counts_by_hand():
    table = emotion_words(small(), WORDS, minimum=0, baseline="shirt").results
    shirt = value(table, "emotion_words", "joy", "shirt")
    # Two in the first caption, one in each of the two others: 4 occurrences in 3 captions.
    assert (shirt["value"], shirt["n"]) == (pytest.approx(4000 / 3), 3)
    bare = value(table, "emotion_words", "joy", "bare")
    # "unhappy" is not "happy"; the refused caption is missing, not a caption without the word.
    assert (bare["value"], bare["n"], bare["n_missing"]) == (pytest.approx(1000 / 3), 3, 1)
    assert value(table, "emotion_word_ratio", "joy", "bare")["value"] == pytest.approx(1 / 4)
    assert value(table, "false_mention", "anger", "shirt")["value"] == 1000
    # Person 1: 1 of 2 bare, 3 of 2 with a shirt; person 2: 0 of 1 and 1 of 1. Both differ by -1,000 per 1,000 captions.
    difference = value(table, "emotion_word_difference", "joy", "bare")
    assert (difference["value"], difference["versus"]) == (-1000, "shirt")
    assert (difference["n"], difference["counted"], difference["p"]) == (2, "people", 0.5)  # 2 of 4 sign patterns
    assert difference["low"] < -1000 < difference["high"]  # two persons alike are not certainty


def test_single_intensities_are_outside_the_family():
    made = [
        caption(str(person), condition, "happy", intensity=level)
        for person in range(3)
        for condition in ("shirt", "bare")
        for level in ("low", "high")
    ]
    table = emotion_words(made, WORDS, 0, "shirt").results
    tested = table.filter(pl.col("measure") == "emotion_word_difference", pl.col("emotion") == "joy")
    assert dict(zip(tested["intensity"], tested["family"], strict=True)) == {
        None: None,
        "high": "exploratory",
        "low": "exploratory",
    }


def test_a_caption_of_nobody_is_an_error_that_names_the_row():
    made = small()
    made[3]["person"] = " "
    with pytest.raises(PortrayalError, match=r"row 4 of captions does not say who is shown"):
        emotion_words(made, WORDS, 0, "shirt")


def test_rare_words_are_left_out_and_listed():
    found = emotion_words(small(), WORDS, minimum=4, baseline="shirt")
    listed = dict(found.words.select("word", "counted").iter_rows())
    assert listed == {"happy": False, "smile": False, "angry": False}
    found = emotion_words(small(), WORDS, minimum=3, baseline="shirt")
    assert value(found.results, "emotion_words", "joy", "shirt")["value"] == pytest.approx(4000 / 3)


def test_row_order_never_matters_and_renaming_conditions_only_renames():
    rows = small()
    table = emotion_words(rows, WORDS, 0, "shirt").results
    assert emotion_words(rows[::-1], WORDS, 0, "shirt").results.equals(table)
    renamed = [{**row, "condition": {"shirt": "c", "bare": "d"}[row["condition"]]} for row in rows]
    other = emotion_words(renamed, WORDS, 0, "c").results
    assert sorted(other["value"].drop_nulls()) == sorted(table["value"].drop_nulls())


def test_captions_of_people_who_have_none_are_missing_too():
    # Person 2 has two captions in the bare condition and both are refused: the rate is that of person 1 alone, one of two.
    made = [
        {**row, "status": "refused"} if (row["person"], row["condition"]) == ("2", "bare") else row for row in small()
    ]
    table = emotion_words(made, WORDS, 0, "shirt").results
    bare = value(table, "emotion_words", "joy", "bare")
    assert (bare["value"], bare["n"], bare["n_missing"]) == (500, 2, 2)
    assert value(table, "emotion_word_ratio", "joy", "bare")["n_missing"] == 2
    difference = value(table, "emotion_word_difference", "joy", "bare")
    assert (difference["n"], difference["n_missing"]) == (1, 1)  # people


def test_unknown_baseline_says_what_there_is():
    with pytest.raises(PortrayalError, match=r"no caption has condition 'x'\. Found: bare, shirt"):
        emotion_words(small(), WORDS, baseline="x")


def test_clustered_rate_by_hand():
    # Counts 1 and 3 of 10 each: rate .2; deviations -1 and 1, over 20: variance 2/1 * 2/400 = .01; t(1) =
    # 12.706.
    interval = clustered_rate([1, 3], [10, 10])
    assert interval.value == pytest.approx(0.2)
    assert interval.high == pytest.approx(0.2 + 12.7062 * 0.1, abs=1e-4)
    assert interval.low == 0


def test_no_event_has_an_upper_end():
    # Poisson: exp(-m) = .025 at m = 3.689; over 100 occasions.
    assert clustered_rate([0, 0], [50, 50]).high == pytest.approx(0.03689, abs=1e-5)
    assert np.isnan(paired_rate_ratio([0, 0], [5, 5], [1, 2], [5, 5]).low)
    assert np.isnan(paired_rate_ratio([1, 0], [5, 5], [0, 0], [5, 5]).value)


def test_ratio_interval_covers_with_ten_persons():
    # Ten persons, each with a rate of her own; the condition halves it. Coverage of a 95% interval, 400 runs.
    rng, covered = np.random.default_rng(0), 0
    for _ in range(400):
        own = rng.gamma(4, 0.025, 10)
        base, other = rng.poisson(own * 1000), rng.poisson(own * 1000 / 2)
        interval = paired_rate_ratio(other, np.full(10, 1000), base, np.full(10, 1000))
        covered += interval.low <= 0.5 <= interval.high
    assert 0.92 <= covered / 400 <= 0.98


@pytest.fixture(scope="module")
def recorded(shared):
    captions = sobem.recorded_captions(shared("data/captions/sobem/captions.jsonl.gz"))
    return captions.with_columns(system=pl.lit("Antarctic Captions, CLIP ViT-B/32"))


@pytest.fixture(scope="module")
def measured(recorded):
    return emotion_words(recorded, sobem.emotion_lexicon())


# Counts per 1,000 of the recorded captions by the authors' rule, counted once with grep-like code.
PER_1000 = {
    ("anger", "high", "nonobjectified"): 287.15,
    ("anger", "high", "objectified"): 0.1,
    ("anger", "low", "nonobjectified"): 122.7,
    ("anger", "low", "objectified"): 0.1,
    ("sadness", "high", "nonobjectified"): 373.3,
    ("sadness", "high", "objectified"): 173.7,
    ("sadness", "low", "nonobjectified"): 134.5,
    ("sadness", "low", "objectified"): 19.15,
    ("happiness", "high", "nonobjectified"): 67.45,
    ("happiness", "high", "objectified"): 15.75,
    ("happiness", "low", "nonobjectified"): 47.5,
    ("happiness", "low", "objectified"): 6.45,
}


def test_recorded_captions_give_the_counts(measured):
    table = measured.results
    found = {cell: value(table, "emotion_words", cell[0], cell[2], cell[1])["value"] for cell in PER_1000}
    assert found == pytest.approx(PER_1000)


def test_as_the_paper_states(measured):
    # Wolfe et al. (2023), section 5.3: anger under once per 1,000 for objectified individuals, in both
    # intensities; every emotion at most half as often.
    table = measured.results
    for intensity in ("high", "low"):
        assert value(table, "emotion_words", "anger", "objectified", intensity)["value"] < 1
    for emotion in ("anger", "sadness", "happiness"):
        for level in (None, "high", "low"):
            assert value(table, "emotion_word_ratio", emotion, "objectified", level)["value"] <= 0.5
        # Ten women: at best 2 of 1,024 sign patterns are as extreme.
        assert value(table, "emotion_word_difference", emotion, "objectified")["p"] == pytest.approx(2 / 1024)
    # All listed words reach the paper's 100 occurrences: that is how the list came about.
    assert measured.words["counted"].all()


def test_an_independent_count_of_two_cells(recorded, measured):
    cell = recorded.filter(emotion="sadness", intensity="low", condition="objectified")["caption"].to_list()
    listed = set(sobem.emotion_lexicon()["sadness"])
    count = sum(word in listed for text in cell for word in text.lower().replace(".", "").replace(",", "").split(" "))
    row = value(measured.results, "emotion_words", "sadness", "objectified", "low")
    assert (row["value"], row["n"]) == (pytest.approx(count / len(cell) * 1000), len(cell))


def test_sobem_has_280_photographs_and_280000_captions(recorded):
    assert recorded.height == 280_000  # the paper prints 28,000 once
    stimuli = sobem.caption_stimuli(recorded)
    assert stimuli.height == 280
    assert stimuli.group_by("person").len()["len"].to_list() == [28] * 10


def test_photographs_are_read_in_place(tmp_path):
    for name in ("1_AN1_NO_1.jpg", "1_AN1_O_1.jpg", "notes.txt", "other.jpg"):
        (tmp_path / name).write_bytes(name.encode())
    stimuli = sobem.photographs(tmp_path)
    assert stimuli["stimulus"].to_list() == ["1_AN1_NO_1", "1_AN1_O_1"]
    assert stimuli["condition"].to_list() == ["nonobjectified", "objectified"]
    assert stimuli["content"][0] == str(tmp_path / "1_AN1_NO_1.jpg")
    with pytest.raises(PortrayalError, match="asked for from its creators"):
        sobem.photographs(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(PortrayalError, match="holds no photograph"):
        sobem.photographs(tmp_path / "empty")


def test_a_photographs_name_holds_its_factors() -> None:
    assert sobem.factors("10_AN1_NO_2")["emotion"] == "anger"
    assert sobem.factors("3_NE_O_1")["condition"] == "objectified"
