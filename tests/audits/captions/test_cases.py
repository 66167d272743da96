"""Cases written as CSV, judged, read back, and turned into estimates; lexicon changes."""

from __future__ import annotations

import polars as pl
import pytest

from portrayal.audits.captions.calibration.planted import OPTIONS, planted
from portrayal.audits.captions.measures.audit import measure_system
from portrayal.audits.captions.measures.lexicon_change import compare, words_changed
from portrayal.errors import PortrayalError
from portrayal.runs.reviews import read_reviews, write_reviews
from portrayal.stats.intervals import wilson
from portrayal.text.harm_lists import read_list

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
    row = again.rows.filter(pl.col("quantity") == "any context-specific harm, judged by people").row(
        0, named=True
    )
    kept = judged.filter(pl.col("judgment").is_not_null())["judgment"]
    share = wilson((kept == "harm").sum(), len(kept))
    upper = bound.filter(pl.col("stage") == "system captions")["value"][0]
    assert row["value"] == pytest.approx(upper * share.value)
    assert (row["low"], row["high"]) == (pytest.approx(upper * share.low), pytest.approx(upper * share.high))
    assert row["bound"] == "estimate"
    assert "broken assumptions" in row["note"]


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
    table = compare(stages, SILLY, "demeaning", path)
    row = table.filter(
        pl.col("stage") == "system captions",
        pl.col("group") == "all",
        pl.col("measure") == "demeaning word",
        pl.col("bound") == "estimate",
    )
    assert row["value"][0] > 0.3
    assert row["value_changed"][0] == 0.0
    assert row["change"][0] == -row["value"][0]
    assert ("removed", "s****") in words_changed("demeaning", path).rows()
    assert ("removed", "silly") in words_changed("demeaning", path, show=True).rows()


def test_a_list_without_a_column_is_refused(tmp_path) -> None:
    path = tmp_path / "demeaning.csv"
    path.write_text("term,part\nfool,n\n")
    with pytest.raises(PortrayalError, match="lacks column 'kind'"):
        read_list("demeaning", path)


def test_no_slur_is_spelled_out_in_the_list() -> None:
    table = read_list("demeaning").filter(pl.col("part") == "n")
    assert len(table) > 80
    assert table["term"].str.contains(r"^n\d{8}$").all()
