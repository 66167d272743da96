"""Measures on folders of Parquet files: the same rows as in memory, counts equal and floats within 1e-12."""

import os
import subprocess
import sys
import tempfile

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from benchmarks import out_of_core
from portrayal import PortrayalError, mention_shares, tag_shares
from portrayal.audits.captions.measures import erasing, stereotyping_words
from portrayal.audits.captions.measures.audit import measure_system
from portrayal.audits.captions.mention_shares import SUMS
from portrayal.audits.captions.reading.stages import HUMAN_SAME, SYSTEM_CAPTIONS, Options, Stages
from portrayal.audits.contexts.measures.design import Design, stereotypes_of
from portrayal.audits.contexts.measures.pictures import WordLists, coverage_by_system, describe_pictures, unknown_tags
from portrayal.audits.contexts.measures.questions import answer_questions
from portrayal.engine.pool import ONE_THREAD
from portrayal.tables.batches import Seen, hashes_of, whole_units
from portrayal.text.words.typology import load_contexts

KEY = ["system", "measure", "place", "group", "versus", "inferred", "attribute", "background", "factor"]
ESTIMATES = ["value", "low", "high", "n", "n_missing", "unit", "counted"]
# Sums over single pictures and not over people's, or tests that ask which picture is which.
NOT_SUMS = {
    "recognition_independence", "distance", "distance_anova", "distance_tukey", "distance_tukey_factor", "distance_variant",
    "coverage",
}  # fmt: skip
LISTS = WordLists()
GENDERS = {"feminine": ["female"], "masculine": ["male"], "nonbinary": ["nonbinary"]}


@pytest.fixture(scope="module")
def tags(tmp_path_factory):
    """20,000 rows in shards of 7,000 that do not end with a picture, an empty shard, and a third group in the last file only."""
    folder = tmp_path_factory.mktemp("tags") / "tags"
    out_of_core.make_tags(folder, 20_000, shard=7_000)
    rare = out_of_core.stimuli().filter(gender="nonbinary")["stimulus"].implode()
    whole = pl.read_parquet(folder / "*.parquet")
    common, last = whole.filter(~pl.col("stimulus").is_in(rare)), whole.filter(pl.col("stimulus").is_in(rare))
    for number, part in enumerate((common[:5003], common[:0], common[5003:], last)):
        part.write_parquet(folder / f"{number:05}.parquet")
    return folder


def in_memory(responses, genders):
    stimuli = out_of_core.stimuli()
    pictures = describe_pictures(stimuli, responses, WordLists(), list(genders))
    design = Design(genders, "gender", ["gender", "race"], stereotypes_of(load_contexts()), mixed=False)
    return answer_questions(pictures, design)


def same(found, expected, key, columns):
    assert found.select(key).is_duplicated().sum() == 0
    both = [table.select(*key, *columns).sort(key) for table in (found, expected)]
    assert_frame_equal(both[0], both[1], check_dtypes=True, abs_tol=1e-12, rel_tol=1e-12)


@pytest.mark.parametrize("rows", [100, 3_000, 1_000_000])
def test_tags_of_a_folder_are_measured_as_in_memory(tags, rows):
    found = tag_shares(tags, out_of_core.stimuli(), genders=GENDERS, rows=rows)
    expected = in_memory(pl.read_parquet(tags / "*.parquet"), GENDERS)
    assert set(expected["measure"]) - set(found["measure"]) == NOT_SUMS
    assert {"inferred_count", "inferred_of_group", "recognised", "gender_f1", "attribute_between", "congruence"} <= set(
        found["measure"]
    )
    same(found, expected.filter(~pl.col("measure").is_in(list(NOT_SUMS))), KEY, ESTIMATES)
    # The tests over people are those of memory too; that of `inferred_change` deals single pictures and has no p.
    tested = pl.col("measure").is_in(["attribute_between", "attribute_within", "congruence", "expectancy"])
    same(found.filter(tested), expected.filter(tested), KEY, ["p", "p_floor"])
    assert found.filter(measure="inferred_change")["p"].is_null().all()
    assert "nonbinary" in set(found.filter(measure="inferred_of_group")["group"])


def test_lazy_and_whole_tables_give_what_a_folder_gives(tags):
    whole = pl.read_parquet(tags / "*.parquet")
    found = [tag_shares(source, out_of_core.stimuli()) for source in (tags, whole, whole.lazy())]
    assert_frame_equal(found[0], found[1], abs_tol=1e-12)
    assert_frame_equal(found[0], found[2], abs_tol=1e-12)


def test_tags_nobody_knows_are_counted_in_a_folder_too(tags):
    """Against a plain count: `zqx` is the one word of WORDS that no list holds."""
    whole = pl.read_parquet(tags / "*.parquet")
    used = whole.drop_nulls("tag")
    assert unknown_tags(tags, LISTS).rows() == [("zqx", used.filter(tag="zqx").height, "s0, s1, s2")]
    of_first = used.filter(system="s0")
    found = coverage_by_system(tags, LISTS)
    assert found["system"].to_list() == whole["system"].unique(maintain_order=True).to_list()
    read = (of_first["tag"] != "zqx").mean()
    assert found.filter(system="s0").rows() == [("s0", of_first.height, read, 14, 13 / 14)]


def test_a_picture_in_two_places_is_refused(tags):
    whole = pl.read_parquet(tags / "*.parquet")
    scattered = pl.concat([whole[1:], whole[:1]])
    with pytest.raises(
        PortrayalError,
        match=r"the rows of s0, 0@None, 0 lie in two places\. Sort the table by system, stimulus, repeat",
    ):
        tag_shares(scattered, out_of_core.stimuli(), rows=500)


@pytest.mark.parametrize("place", [60, 15_000])
def test_a_picture_in_two_places_is_told_past_those_in_memory(tags, tmp_path, monkeypatch, place):
    """Hashes of 64 pictures are in memory, the others in files: found at once, or at the end."""
    monkeypatch.setattr(Seen, "HELD", 64)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    whole = pl.read_parquet(tags / "*.parquet")
    keys = ["system", "stimulus", "repeat"]
    batches = list(whole_units(whole, keys, [*keys, "tag"], rows=1000))
    assert pl.concat(batches).equals(whole.select(*keys, "tag"))
    moved = whole.select(keys).row(place)
    scattered = pl.concat([whole, whole[place : place + 1]])
    seen = []
    with pytest.raises(PortrayalError, match=f"the rows of {', '.join(map(str, moved))} lie in two places"):
        seen += (batch.height for batch in whole_units(scattered, keys, keys, rows=1000))
    assert list(tmp_path.iterdir()) == []  # the hashes' files are gone


def test_a_hash_that_two_units_share_is_no_unit_in_two_places():
    units = [pl.DataFrame({"unit": [name]}) for name in ("a", "b", "a")]
    hashes = np.concatenate([hashes_of(table) for table in units])
    for tables, repeated, unit in ((units[:2], hashes, None), (units, hashes, ("a",)), (units, hashes[:0], None)):
        seen = Seen()
        seen._waiting = [repeated, repeated]  # as if each hash had come twice
        assert seen.in_two(tables) == unit


@pytest.mark.parametrize("measure", [lambda f: tag_shares(f, out_of_core.stimuli()), lambda f: unknown_tags(f, LISTS)])
def test_files_with_other_columns_are_named(tags, tmp_path, measure):
    """A column of nulls has any type, and a further column in one file is not read."""
    whole = pl.read_parquet(tags / "*.parquet")
    first, last = tmp_path / "0.parquet", tmp_path / "1.parquet"
    whole[:4000].write_parquet(first)
    whole[4000:].drop("tag").write_parquet(last)
    with pytest.raises(
        PortrayalError, match=r"1.parquet lacks column 'tag' \(found: system, stimulus, repeat, status\)"
    ):
        measure(tmp_path)
    whole[4000:].with_columns(tag=pl.int_range(pl.len())).write_parquet(last)
    with pytest.raises(PortrayalError, match=r"column 'tag' is Int64 in .*1.parquet and String in 0.parquet"):
        measure(tmp_path)
    whole[4000:].with_columns(tag=None, more=pl.lit(1)).write_parquet(last)
    changed = whole.with_columns(tag=pl.when(pl.int_range(pl.len()) < 4000).then("tag"))
    assert_frame_equal(measure(tmp_path), measure(changed), abs_tol=1e-12)


def test_parts_with_other_columns_are_named(mentions, tmp_path):
    for name in ("mentions", "captions", "people"):
        (tmp_path / name).mkdir()
        for file in sorted((mentions / name).glob("*.parquet"))[:2]:
            pl.read_parquet(file).write_parquet(tmp_path / name / file.name)
    bad = tmp_path / "people" / "00001.parquet"
    pl.read_parquet(bad).drop("group").write_parquet(bad)
    with pytest.raises(PortrayalError, match=r"people: .*00001.parquet lacks column 'group'"):
        mention_shares(tmp_path)
    other = tmp_path / "captions" / "00001.parquet"
    pl.read_parquet(other).with_columns(stage=pl.lit(1)).write_parquet(other)
    with pytest.raises(PortrayalError, match=r"captions: column 'stage' is Int32 in .*00001.parquet and String in"):
        mention_shares(tmp_path)


def test_batches_hold_whole_units_and_all_rows(tags):
    whole = pl.read_parquet(tags / "*.parquet")
    keys = ["system", "stimulus", "repeat"]
    batches = list(whole_units(tags, keys, [*keys, "tag"], rows=1000))
    assert len(batches) > 5
    assert pl.concat(batches).equals(whole.select(*keys, "tag"))
    units = pl.concat([batch.select(keys).unique().with_columns(batch=pl.lit(i)) for i, batch in enumerate(batches)])
    assert units.select(keys).is_duplicated().sum() == 0


def test_what_is_missing_is_said(tmp_path, tags):
    with pytest.raises(PortrayalError, match="holds no Parquet file"):
        tag_shares(tmp_path, out_of_core.stimuli())
    with pytest.raises(PortrayalError, match="lacks column 'tag'"):
        tag_shares(pl.read_parquet(tags / "*.parquet").drop("tag"), out_of_core.stimuli())


@pytest.fixture(scope="module")
def mentions(tmp_path_factory):
    """24,000 mentions in parts, one of them empty; a third group in one part, one part without human captions."""
    folder = tmp_path_factory.mktemp("mentions") / "mentions"
    out_of_core.make_mentions(folder, 24_000, shard=6_000)
    for name in ("mentions", "captions", "people"):
        parts = sorted((folder / name).glob("*.parquet"))
        pl.read_parquet(parts[0])[:0].write_parquet(folder / name / "00009.parquet")
    people = folder / "people" / "00001.parquet"
    table = pl.read_parquet(people)
    third = pl.when(pl.int_range(pl.len()) % 3 == 0).then(pl.lit("nonbinary")).otherwise("group").alias("group")
    table.with_columns(third)[5:].write_parquet(people)
    for name in ("mentions", "captions"):
        file = folder / name / "00002.parquet"
        pl.read_parquet(file).filter(stage=SYSTEM_CAPTIONS).write_parquet(file)
    nobody = folder / "people" / "00003.parquet"
    pl.read_parquet(nobody)[:0].write_parquet(nobody)
    for file in sorted((folder / "mentions").glob("*.parquet")):
        _with_artifacts(pl.read_parquet(file), ambiguous=file.name == "00000.parquet").write_parquet(file)
    return folder


def _with_artifacts(table: pl.DataFrame, ambiguous: bool) -> pl.DataFrame:
    """Say hijab of some trees, and in system captions scarf; "judge" is a thing in the first part, elsewhere a person."""
    place, tree = pl.int_range(pl.len()), (pl.col("word") == "tree") & (pl.col("kind") == "object")
    shown = pl.when(pl.col("stage") == SYSTEM_CAPTIONS).then(pl.lit("scarf")).otherwise(pl.lit("hijab"))
    worn, judge, rather = tree & (place % 3 == 0), tree & (place % 3 == 1), place % 7 < 5
    thing = pl.lit("tree.n.01" if ambiguous else "judge.n.01")
    described = (pl.col("kind") == "attribute") & (pl.col("subject") == "tree") & (place % 3 == 1)
    return table.with_columns(
        word=pl.when(worn & rather).then(shown).when(worn).then(pl.lit("hijab")).when(judge).then(pl.lit("judge"))
        .when(described).then(pl.lit("local")).otherwise("word"),
        synset=pl.when(worn & rather).then(pl.format("{}.n.01", shown)).when(worn).then(pl.lit("hijab.n.01"))
        .when(judge).then(thing).otherwise("synset"),
        subject=pl.when(described).then(pl.lit("judge")).otherwise("subject"),
        subject_synset=pl.when(described).then(thing).otherwise("subject_synset"),
    )  # fmt: skip


def test_mentions_of_a_folder_are_measured_as_in_memory(mentions):
    found = mention_shares(mentions, system="s")
    tables = {name: pl.read_parquet(mentions / name / "*.parquet") for name in ("mentions", "captions", "people")}
    stages = Stages(sorted(set(tables["captions"]["image"]) | set(tables["people"]["image"])), **tables)
    rows = measure_system(stages, "s", Options(permutations=99), list(SUMS)).rows
    # Rows of memory that are no sums: tests of differences, ratios, single words, and what stands beside a test.
    sums = rows.filter(
        ~pl.col("measure").str.ends_with("_difference"), pl.col("unit") != "ratio", pl.col("stage") != HUMAN_SAME,
        (pl.col("technique") != "identity adjectives used as nouns") | pl.col("quantity").str.starts_with("any "),
        ~pl.col("quantity").is_in([stereotyping_words.ABOVE, stereotyping_words.KEPT, erasing.EXCESS]),
    )  # fmt: skip
    key = [
        "system",
        "measure",
        "harm",
        "technique",
        "quantity",
        "stage",
        "truth",
        "axis",
        "share_of",
        "bound",
        "group",
        "versus",
    ]
    same(found, sums, key, ["value", "low", "high", "p", "n", "n_missing", "unit", "counted"])
    assert {
        "stereotyping", "demeaning", "erasing", "denying self-identification", "reifying", "beside every harm"
    } == set(found["harm"])  # fmt: skip
    assert {"artifacts", "person words", "identity attributes"} <= set(found.filter(harm="erasing")["share_of"])
    assert found.filter(quantity="non-imageable word", group="all")["value"].item() > 0
    assert "nonbinary" in set(found["group"]) | set(found["versus"])


def test_parts_must_hold_whole_images_and_all_files(mentions, tmp_path):
    for name in ("mentions", "captions", "people"):
        (tmp_path / name).mkdir()
        table = pl.read_parquet(mentions / name / "00000.parquet")
        for number in (0, 1):
            table.write_parquet(tmp_path / name / f"{number}.parquet")
    with pytest.raises(PortrayalError, match="is in two parts"):
        mention_shares(tmp_path)
    (tmp_path / "people" / "0.parquet").unlink()
    with pytest.raises(PortrayalError, match="there is no"):
        mention_shares(tmp_path)


def test_techniques_that_are_no_sums_are_refused(mentions):
    with pytest.raises(PortrayalError, match="is no sum over images"):
        mention_shares(mentions, techniques=["stereotyping: leakage"])


@pytest.mark.parametrize(
    ("job", "rows"),
    [("tags", 2_000_000), ("series", 2_000_000), ("mentions", 400_000), ("lists", 400_000), ("flags", 2_000_000)],
)
@pytest.mark.usefixtures("small_pages")
def test_peak_memory_does_not_grow_with_the_rows(job, rows, tmp_path, monkeypatch):
    """A quarter of the rows and all of them, in files of a sixteenth: a process that held them all would take four times as much.

    One thread reads: each keeps memory of its own, and of 64 more of them have work where there are more rows."""
    for name, count in ONE_THREAD.items():
        monkeypatch.setenv(name, count)
    few, many = (out_of_core.run(job, count, tmp_path, shard=rows // 16)["peak"] for count in (rows // 4, rows))
    assert many < 1.2 * few


def test_the_benchmark_runs(tmp_path):
    # Rows of results: of lists there are 23, a few measures of three systems; of the others a row for each label or word.
    least = {
        "tags": 50,
        "mentions": 50,
        "series": 50,
        "lists": 20,
        "queries": 20,
        "emotions": 20,
        "depictions": 50,
        "flags": 20,
    }
    for job in out_of_core.JOBS:
        found = out_of_core.run(job, 40_000, tmp_path)
        assert found["results"] > least[job]
        assert 0 < found["peak"] < 8


def test_a_peak_is_the_process_own():
    """A process that is started by a large one has not been large itself."""
    held = np.ones(80_000_000)  # 0.64 GB
    code = "from benchmarks.out_of_core import peak_memory; print(peak_memory())"
    path = os.pathsep.join(filter(None, sys.path))
    said = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": path}, check=True, capture_output=True, text=True
    )
    assert out_of_core.peak_memory() > held.nbytes / 1e9 > float(said.stdout) > 0.05
