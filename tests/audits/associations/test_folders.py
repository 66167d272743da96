"""Captions, depictions and labels of folders of Parquet files: the rows of memory, counts equal and floats within 1e-12."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from portrayal import PortrayalError, depiction_shares, emotion_word_shares, flagged_shares
from portrayal.audits.associations.measures.emotion_words import emotion_words
from portrayal.tables.batches import Seen

CUTS = [0, 40, 40, 333, 600]  # of 600 rows: the second file is empty
WORDS = {"joy": ["happy", "smile"], "anger": ["angry", "happy"]}
GROUPS = ("woman", "man", "nonbinary person")


def write(folder: Path, table: pl.DataFrame, cuts=CUTS) -> Path:
    folder.mkdir()
    for number, (start, stop) in enumerate(pairwise(cuts)):
        table[start:stop].write_parquet(folder / f"{number:05}.parquet")
    return folder


def drawn(random: np.random.Generator, choices, count: int = 600) -> pl.Series:
    return pl.Series([choices[i] for i in random.integers(0, len(choices), count)], dtype=pl.String)


def captions(seed: int = 0) -> pl.DataFrame:
    """Three conditions, one of them in the last file only; a system that answers nothing; null intensities and captions."""
    random = np.random.default_rng(seed)
    table = pl.DataFrame(
        {
            "system": drawn(random, ["one", "two", "silent"]),
            "person": drawn(random, [f"p{i}" for i in range(7)]),
            "emotion": drawn(random, ["joy", "anger", "neutral"]),
            "intensity": drawn(random, ["weak", "strong", None]),
            "condition": drawn(random, ["shirt", "bare"]),
            "status": drawn(random, ["answered"] * 9 + ["refused"]),
            "caption": drawn(random, ["A happy, HAPPY person.", "a smile", "angry wall", "a wall", "", None]),
        }
    )
    late = pl.int_range(pl.len()) > 550
    silent = pl.col("system") == "silent"
    return table.with_columns(
        condition=pl.when(late).then(pl.lit("hat")).otherwise("condition"),
        status=pl.when(silent).then(pl.lit("failed")).otherwise("status"),
        caption=pl.when(silent).then(None).otherwise("caption"),
    )


def images(seed: int = 0) -> pl.DataFrame:
    """Three groups seen, one in the last file only; a system without an answer; null outcomes."""
    random = np.random.default_rng(seed)
    table = pl.DataFrame(
        {
            "system": drawn(random, ["one", "two", "silent"]),
            "occupation": drawn(random, ["nurse", "plumber", "chef"]),
            "group": drawn(random, ["person", "person", "woman", "man"]),
            "outcome": drawn(random, ["kept"] * 5 + ["blocked", "dropped_age", "no_face", None]),
            "label": drawn(random, ["woman", "man"]),
        }
    )
    late = pl.int_range(pl.len()) > 550
    silent = pl.col("system") == "silent"
    kept = pl.col("outcome") == "kept"
    seen = pl.when(late).then(pl.lit("several")).otherwise("label")
    return table.with_columns(outcome=pl.when(~silent).then("outcome")).with_columns(label=pl.when(kept).then(seen))


def labels(seed: int = 0, ages=(None,), faces: bool = False) -> pl.DataFrame:
    """Three prompted groups, the third in the last file only; a silent system; blocked and failed images; seeds at all ages."""
    random = np.random.default_rng(seed)
    each = [
        (group, str(number), age, system)
        for group in GROUPS
        for number in range(600 // (9 * len(ages)) + 1)
        for age in ages
        for system in ("one", "two", "silent")
    ][:600]
    table = pl.DataFrame(each, schema=["group", "seed", "age", "system"], orient="row")
    status = drawn(random, ["answered"] * 8 + ["filtered", "failed"], table.height)
    label = drawn(random, ["sexy", "Porn", "neutral", "drawing"], table.height)
    face = pl.Series([True, False, None]).gather(random.integers(0, 3, table.height))
    table = table.with_columns(status=status, label=label, face=face).with_columns(
        status=pl.when(pl.col("system") == "silent").then(pl.lit("failed")).otherwise("status")
    )
    table = table.with_columns(label=pl.when(pl.col("status") == "answered").then("label"))
    table = table if faces else table.drop("face")
    return table if ages != (None,) else table.drop("age")


def same(found: pl.DataFrame, expected: pl.DataFrame) -> None:
    assert found.height > 10
    assert_frame_equal(found, expected, abs_tol=1e-12, rel_tol=1e-12)


@pytest.mark.parametrize("rows", [7, 100, 1_000_000])
def test_emotion_words_of_a_folder_are_counted_as_in_memory(tmp_path, rows: int) -> None:
    folder = write(tmp_path / "captions", captions())
    expected = emotion_words(captions(), WORDS, minimum=20, baseline="shirt").results
    same(emotion_word_shares(folder, WORDS, minimum=20, baseline="shirt", rows=rows), expected)
    assert {"bare", "hat"} <= set(expected["group"])
    assert {"emotion_words", "emotion_word_difference", "emotion_word_ratio", "false_mention"} == set(
        expected["measure"]
    )
    silent = expected.filter(system="silent", measure="emotion_words")
    assert silent["n"].to_list() == [0] * silent.height and silent["n_missing"].sum() > 0


@pytest.mark.parametrize("rows", [7, 100, 1_000_000])
def test_depictions_of_a_folder_are_counted_as_in_memory(tmp_path, rows: int) -> None:
    folder = write(tmp_path / "images", images())
    expected = depiction_shares(images())
    same(depiction_shares(folder, rows=rows), expected)
    assert "several" in set(expected["group"]) and "silent" in set(expected["system"])


@pytest.mark.parametrize("rows", [7, 100, 1_000_000])
@pytest.mark.parametrize("more", [{}, {"faces": True}, {"ages": (20, 30, 40)}, {"ages": (20.5, None), "faces": True}])
@pytest.mark.parametrize("baseline", [None, "man"])
def test_labels_of_a_folder_are_counted_as_in_memory(tmp_path, rows: int, more: dict, baseline) -> None:
    """Seeds at several ages are the unit of the difference; without ages Fisher's test counts images."""
    table = labels(**more)
    expected = flagged_shares(table, baseline=baseline)
    same(flagged_shares(write(tmp_path / "labels", table), baseline=baseline, rows=rows), expected)
    notes = expected.filter(measure="sexualised_difference", system="one")["note"].str.contains("Fisher")
    assert notes.all() if "ages" not in more else not notes.any()
    assert "nonbinary person" in set(expected["group"])


def test_labels_are_corrected_by_raters_as_in_memory(tmp_path) -> None:
    raters = pl.DataFrame(
        {"group": "woman", "rater": ["a", "b"], "detector_flagged": 4, "rater_flagged": [5, 8], "n": 10}
    )
    expected = flagged_shares(labels(), validation=raters)
    same(flagged_shares(write(tmp_path / "labels", labels()), validation=raters, rows=50), expected)
    assert "sexualised_rate_corrected" in set(expected["measure"])


def test_lazy_and_whole_tables_give_what_a_folder_gives(tmp_path) -> None:
    for measure, table in ((depiction_shares, images()), (flagged_shares, labels())):
        folder = write(tmp_path / measure.__name__, table)
        for source in (table, table.lazy(), str(folder)):
            same(measure(source, rows=90), measure(folder))


def test_seeds_past_those_in_memory_are_still_told_apart(tmp_path, monkeypatch) -> None:
    """With a handful of hashes in memory the others lie in files: a seed listed twice is found in the end, and so are ages."""
    monkeypatch.setattr(Seen, "HELD", 8)
    late = labels(ages=(20,))[:500]
    other = late.with_row_index().with_columns(
        age=pl.when(pl.col("index") == 499).then(30).otherwise("age"),
        seed=pl.when(pl.col("index") == 499).then(pl.col("seed").shift(3)).otherwise("seed"),
        system=pl.when(pl.col("index") == 499).then(pl.col("system").shift(3)).otherwise("system"),
    ).drop("index")  # fmt: skip
    same(flagged_shares(write(tmp_path / "ages", other, [0, 499, 500]), rows=60), flagged_shares(other))
    twice = pl.concat([late, late[450:451]])
    named = f"seed {late['seed'][450]!r} of group {late['group'][450]!r} is listed twice"
    for rows in (60, 10_000):
        with pytest.raises(PortrayalError, match=named):
            flagged_shares(twice, rows=rows)


def test_what_is_wrong_with_a_folder_is_said_in_a_line(tmp_path) -> None:
    (tmp_path / "empty").mkdir()
    for measure in (emotion_word_shares, depiction_shares, flagged_shares):
        with pytest.raises(PortrayalError, match="holds no Parquet file"):
            measure(tmp_path / "empty")
    with pytest.raises(PortrayalError, match="no caption has condition 'scarf'. Found: [a-z, ]+. Set `baseline`"):
        emotion_word_shares(write(tmp_path / "bare", captions(), [0, 600]), WORDS, baseline="scarf")
    assert emotion_word_shares(write(tmp_path / "nothing", captions()[:0], [0, 0]), WORDS, baseline="hat").is_empty()
    assert depiction_shares(images()[:0]).height == flagged_shares(labels()[:0]).height == 0
    nobody = captions().with_columns(person=pl.when(pl.int_range(pl.len()) == 99).then(None).otherwise("person"))
    with pytest.raises(PortrayalError, match="row 100 of captions does not say who is shown"):
        emotion_word_shares(nobody, WORDS, baseline="shirt", rows=30)
    bare = labels().with_columns(label=None)
    with pytest.raises(PortrayalError, match=r"\d+ image\(s\) are answered but have no label"):
        flagged_shares(bare)
    with pytest.raises(PortrayalError, match="no image has group 'nobody'"):
        flagged_shares(labels(), baseline="nobody")


def test_files_of_a_folder_must_have_the_same_columns(tmp_path) -> None:
    table = labels(ages=(20, 30))
    folder = write(tmp_path / "labels", table)
    last = folder / "00003.parquet"
    table[333:].drop("age").write_parquet(last)
    with pytest.raises(PortrayalError, match=r"labels: .*00003.parquet lacks column 'age' \(found: "):
        flagged_shares(folder)
    table[333:].with_columns(pl.col("age").cast(pl.String)).write_parquet(last)
    said = r"labels: column 'age' is String in .*00003.parquet and Int64 in 00000.parquet. Write all files of a folder with"
    with pytest.raises(PortrayalError, match=said):
        flagged_shares(folder)
    # A column that is null in one file is of no kind there, and a further column is nobody's business.
    table[333:].with_columns(label=None, status=pl.lit("failed"), more=pl.lit(1)).write_parquet(last)
    whole = pl.concat(
        [table[:333], table[333:].with_columns(label=None, status=pl.lit("failed"))], how="vertical_relaxed"
    )
    same(flagged_shares(folder), flagged_shares(whole))
