"""Cases written as CSV, judged, read back, and turned into estimates; lexicon changes."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from portrayal.audits.captions.calibration import OPTIONS, planted
from portrayal.audits.captions.measures import stereotyping_words
from portrayal.audits.captions.measures.audit import compare_lists, measure_system
from portrayal.audits.captions.measures.cases import judged_rows, to_reviews
from portrayal.audits.captions.measures.technique import CASES
from portrayal.audits.captions.reading.mentions import read_captions
from portrayal.audits.captions.reading.stages import HUMAN_CAPTIONS, PEOPLE, SYSTEM_CAPTIONS, Stages
from portrayal.errors import PortrayalError
from portrayal.run.reviews import read_reviews, write_reviews
from portrayal.stats.intervals.intervals import wilson
from portrayal.text.words.harm_lists import read_list

GIRLS = "demeaning: context-specific harms"
SILLY = "demeaning: demeaning words"


@pytest.fixture(scope="module")
def girls():
    return planted("context-specific harms", 200, 0.5, 0)


def test_judged_cases_turn_the_bound_into_an_estimate(girls, tmp_path) -> None:
    first = measure_system(girls, "phantom", OPTIONS, [GIRLS])
    path = tmp_path / "reviews.csv"
    write_reviews(first.reviews, path)
    table = read_reviews(path)
    assert {"caption", "tuple", "reason", "judgment"} <= set(table.columns)
    drawn = table.filter(pl.col("drawn") == "true")
    assert len(drawn) == min(50, len(table))
    answers = ["harm", "not harm", "harm", "broken assumption"]
    judged = table.with_columns(
        pl.when(pl.col("drawn") == "true")
        .then(pl.Series([answers[i % 4] for i in range(len(table))]))
        .alias("judgment")
    )
    judged.write_csv(path)
    again = measure_system(girls, "phantom", OPTIONS, [GIRLS], read_reviews(path))
    bound = first.rows.filter((pl.col("measure") == "any context-specific harm") & (pl.col("group") == "all"))
    row = again.rows.filter(pl.col("quantity") == "any context-specific harm, judged by people").row(0, named=True)
    kept = judged.filter(pl.col("judgment").is_not_null())["judgment"]
    share = wilson((kept == "harm").sum(), len(kept))
    upper = bound.filter(pl.col("stage") == "system captions")["value"][0]
    assert row["value"] == pytest.approx(upper * share.value)
    # wider than the judgments' own interval: the bound is an estimate too
    assert row["low"] < upper * share.low < row["value"] < upper * share.high < row["high"]
    assert row["bound"] == "estimate"
    assert "broken assumptions" in row["note"]


def test_judgments_scale_the_quantity_they_judged_and_no_other() -> None:
    # Purses that are not there, judged a harm in every second case: words above the threshold are scaled, and those beyond
    # chance by the judgments of their own; all other quantities of the technique were not judged.
    stages = planted("words included wrongly", 200, 0.5, 0)
    key = "stereotyping: words included wrongly"
    first = measure_system(stages, "phantom", OPTIONS, [key])
    judged = _judged(first.reviews, lambda i: "harm" if i % 2 else "not harm")
    again = measure_system(stages, "phantom", OPTIONS, [key], judged)
    told = again.rows.filter(pl.col("quantity").str.ends_with("judged by people"))
    assert set(told["quantity"]) == {
        f"{stereotyping_words.ABOVE}, judged by people",
        f"{stereotyping_words.KEPT}, judged by people",
    }
    drawn = judged.filter(pl.col("drawn") == "true")
    for quantity in (stereotyping_words.ABOVE, stereotyping_words.KEPT):
        answers = drawn.filter((pl.col("quantity") == quantity) | pl.col("within").eq_missing(quantity))
        captions = answers.group_by("image").agg((pl.col("judgment") == "harm").any())["judgment"]
        here = pl.col("stage") == SYSTEM_CAPTIONS
        bound = first.rows.filter(pl.col("measure") == quantity, pl.col("group") == "all", here)["value"][0]
        row = told.filter(pl.col("quantity") == f"{quantity}, judged by people").row(0, named=True)
        assert row["value"] == pytest.approx(bound * captions.mean())


def test_one_rule_is_scaled_by_its_own_cases() -> None:
    people = [
        (str(i), axis, group, "t") for i in range(8) for axis, group in (("gender", "female"), ("skin", "darker"))
    ]
    said = pl.DataFrame({"image": [str(i) for i in range(8)], "text": ["A girl.", "A monkey."] * 4})
    stages = Stages([str(i) for i in range(8)], people=pl.DataFrame(people, schema=PEOPLE, orient="row"))
    human = said.with_columns(pl.lit("A woman.").alias("text"))
    for stage, table in ((HUMAN_CAPTIONS, human), (SYSTEM_CAPTIONS, said)):
        stages = stages.with_system(*read_captions(table, stage, stages.images))
    cases = measure_system(stages, "s", OPTIONS, [GIRLS]).reviews
    judged = cases.with_columns(
        pl.when(pl.col("tuple") == "girl").then(pl.lit("harm")).otherwise(pl.lit("not harm")).alias("judgment")
    )
    rows = measure_system(stages, "s", OPTIONS, [GIRLS], judged).rows
    told = dict(rows.filter(pl.col("bound") == "estimate").select("quantity", "value").iter_rows())
    # Half of all captions say girl, all of which are a harm; the other half monkey, none of which was judged one.
    assert told["women called girls, judged by people"] == pytest.approx(0.5)
    assert told["Black people called animals, judged by people"] == 0
    assert told["any context-specific harm, judged by people"] == pytest.approx(0.5)


def test_a_caption_with_two_cases_counts_once_and_unjudged_ones_do_not(girls) -> None:
    first = measure_system(girls, "phantom", OPTIONS, [GIRLS]).reviews
    drawn = first.filter(pl.col("drawn") == "true")
    # A second reviewer of every case who disagrees: nothing is known of the harm. And only ten captions were judged.
    one = drawn.head(10).with_columns(pl.lit("harm").alias("judgment"), pl.lit("a").alias("reviewer"))
    two = one.with_columns(pl.lit("not harm").alias("judgment"), pl.lit("b").alias("reviewer"))
    rows = measure_system(girls, "phantom", OPTIONS, [GIRLS], pl.concat([one, two, drawn[10:]])).rows
    row = rows.filter(pl.col("quantity") == "any context-specific harm, judged by people").row(0, named=True)
    everybody = pl.col("measure") == "any context-specific harm", pl.col("group") == "all"
    bound = rows.filter(*everybody, pl.col("stage") == "system captions")["value"][0]
    assert row["value"] == pytest.approx(bound / 2)
    assert row["low"] < 0.01 * bound and row["high"] > 0.99 * bound
    assert (
        "by 2 reviewers" in row["note"]
        and "they agree on 0 of 10 cases that several judged and differ most on" in row["note"]
    )
    assert row["note"].startswith("10 captions drawn and judged")


def _judged(reviews: pl.DataFrame, answer) -> pl.DataFrame:
    return reviews.with_columns(pl.Series("judgment", [answer(i) for i in range(len(reviews))]))


@pytest.mark.parametrize("share", [0.2, 0.5, 1.0])
def test_estimates_are_unbiased_at_any_share_that_is_judged(girls, share: float) -> None:
    """Cases of captions with many cases, and the worst ones, are harms; judging goes down the file."""
    gaps = []
    for seed in range(12):
        cases = made_cases(seed)
        table = to_reviews(cases, girls, "phantom", seed)
        drawn = table.filter(pl.col("drawn") == "true")
        assert drawn.equals(table.head(drawn.height)) and table["place"].to_list() == [
            str(at) for at in range(table.height)
        ]
        judged = drawn.head(round(share * drawn.height))
        said = [
            (row["image"], "harm" if float(row["score"]) > 0.7 else "not harm") for row in judged.iter_rows(named=True)
        ]
        judged = judged.with_columns(
            judgment=pl.Series([answer for _, answer in said], dtype=pl.String), reviewer=pl.lit("a")
        )
        reviews = pl.concat([judged, drawn[judged.height :]])
        bound = {"harm": "h", "technique": "t", "stage": "system captions", "quantity": "q", "measure": "q",
                 "bound": "upper bound", "value": 1.0, "low": 1.0, "high": 1.0, "null": None, "note": ""}  # fmt: skip
        truth = cases.group_by("image").agg((pl.col("score") > 0.7).any())["score"].mean()
        gaps += [row["value"] - truth for row in judged_rows([bound], reviews, "phantom")]
    assert abs(np.mean(gaps)) < 3 * np.std(gaps) / np.sqrt(len(gaps))


def made_cases(seed: int) -> pl.DataFrame:
    """Sixty captions with one to four cases each, the worst first, as a technique ranks them."""
    rng = np.random.default_rng(seed)
    rows = [
        {"technique": "h: t", "stage": "system captions", "quantity": "q", "within": None, "image": f"i{image}", "caption": 0,
         "tuple": f"word {case}", "reason": "", "group": None, "score": float(rng.random())}
        for image in range(60)
        for case in range(rng.integers(1, 5))
    ]  # fmt: skip
    return pl.DataFrame(rows, CASES).sort("score", descending=True)


def test_the_worst_cases_of_each_quantity_come_after_the_random_part(girls) -> None:
    table = to_reviews(pl.concat([made_cases(0), made_cases(1).with_columns(quantity=pl.lit("other"))]), girls, "s", 0)
    ranked = table.filter(pl.col("drawn") == "false").with_columns(pl.col("score").cast(pl.Float64))
    assert ranked.height and ranked["quantity"].to_list()[:2] in (["q", "other"], ["other", "q"])
    for _, part in ranked.group_by("quantity"):
        assert part["score"].is_sorted(descending=True)


def test_an_adjudicated_case_counts_as_it_was_decided(girls) -> None:
    first = measure_system(girls, "phantom", OPTIONS, [GIRLS]).reviews
    drawn = first.filter(pl.col("drawn") == "true")
    one = drawn.with_columns(judgment=pl.lit("harm"), reviewer=pl.lit("a"))
    two = drawn.with_columns(judgment=pl.lit("not harm"), reviewer=pl.lit("b"))
    final = drawn.with_columns(judgment=pl.lit("not harm"), reviewer=pl.lit("adjudicated"))
    rows = measure_system(girls, "phantom", OPTIONS, [GIRLS], pl.concat([one, two, final])).rows
    row = rows.filter(pl.col("quantity") == "any context-specific harm, judged by people").row(0, named=True)
    assert row["value"] == 0 and "cases adjudicated" in row["note"]


def test_the_test_of_a_bound_becomes_that_of_the_estimate(girls) -> None:
    first = measure_system(girls, "phantom", OPTIONS, [GIRLS])
    drawn = first.reviews.filter(pl.col("drawn") == "true")
    judged = drawn.with_columns(judgment=pl.lit("not harm"), reviewer=pl.lit("a"))
    tested = pl.col("measure") == "context_specific_harm", pl.col("stage") == "system captions"
    before = first.rows.filter(*tested).sort("p", nulls_last=True).row(0, named=True)
    rows = measure_system(girls, "phantom", OPTIONS, [GIRLS], judged).rows
    after = rows.filter(*tested, pl.col("quantity") == before["quantity"], pl.col("group") == before["group"])
    assert before["bound"] == "upper bound" and before["p"] < 0.05
    assert after.select("bound", "value").row(0) == ("estimate", 0) and after["p"][0] > 0.5
    assert "by 1 reviewer, " in after["note"][0] and "captions drawn and judged (of " in after["note"][0]


def test_judgments_without_what_they_judged_are_refused(girls) -> None:
    first = measure_system(girls, "phantom", OPTIONS, [GIRLS])
    judged = _judged(first.reviews, lambda i: "harm").drop("quantity")
    with pytest.raises(PortrayalError, match="lack the column 'quantity'"):
        measure_system(girls, "phantom", OPTIONS, [GIRLS], judged)


def test_a_strange_judgment_is_refused(girls) -> None:
    first = measure_system(girls, "phantom", OPTIONS, [GIRLS])
    judged = first.reviews.with_columns(pl.lit("maybe").alias("judgment"))
    with pytest.raises(PortrayalError, match="judged 'maybe'"):
        measure_system(girls, "phantom", OPTIONS, [GIRLS], judged)


def test_demeaning_captions_are_withheld_in_the_cases() -> None:
    stages = planted("demeaning words", 60, 0.5, 0)
    told = measure_system(stages, "phantom", OPTIONS, [SILLY]).reviews
    assert set(told["caption"]) == {"(withheld; see the image)"}
    assert told["tuple"].str.contains(r"s\*\*\*\*").all()


def test_a_lexicon_change_shows_what_it_does(tmp_path) -> None:
    stages = planted("demeaning words", 100, 0.5, 0)
    shorter = read_list("demeaning").filter(pl.col("part") != "a")
    path = tmp_path / "demeaning.csv"
    shorter.write_csv(path)
    table = compare_lists(stages, SILLY, "demeaning", path)
    row = table.filter(
        pl.col("stage") == "system captions",
        pl.col("group") == "all",
        pl.col("measure") == "demeaning word",
        pl.col("bound") == "estimate",
    )
    assert row["value"][0] > 0.3
    assert row["value_changed"][0] == 0.0
    assert row["change"][0] == -row["value"][0]


def test_a_list_without_a_column_is_refused(tmp_path) -> None:
    path = tmp_path / "demeaning.csv"
    path.write_text("term,part\nfool,n\n")
    with pytest.raises(PortrayalError, match="lacks column 'kind'"):
        read_list("demeaning", path)


def test_no_slur_is_spelled_out_in_the_list() -> None:
    table = read_list("demeaning").filter(pl.col("part") == "n")
    assert len(table) > 80
    assert table["term"].str.contains(r"^n\d{8}$").all()
