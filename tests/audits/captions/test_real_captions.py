"""Three real captioners on COCO images: the published gender-word errors, and every technique their stages allow."""

from __future__ import annotations

import polars as pl
import pytest

from portrayal import flow
from portrayal.audits.captions.measures.group_words import RIGHT, WRONG, outcomes
from portrayal.audits.captions.reading.stages import CAPTIONS, HUMAN_SAME, PEOPLE, SYSTEM_CAPTIONS, Options, Stages
from portrayal.text.words.harm_lists import lists_of_groups

# ../shared/data/captions/coco_systems/README.md, "A quick check": n, wrong gender and neither, in percent.
PUBLISHED = {
    ("nic", "female"): (3410, 28.86, 28.39),
    ("nic", "male"): (7076, 8.63, 32.96),
    ("transformer", "female"): (3772, 8.72, 21.16),
    ("transformer", "male"): (8034, 2.41, 20.61),
    ("oscar", "female"): (3772, 2.17, 24.87),
    ("oscar", "male"): (8034, 0.70, 23.79),
}
IMAGES = 150


@pytest.fixture(scope="module")
def captions(shared) -> pl.DataFrame:
    table = pl.read_csv(shared("data/captions/coco_systems/captions.csv.gz"))
    return table.with_columns(pl.col("image_id").cast(pl.String))


def test_gender_word_errors_are_the_published_ones(captions) -> None:
    for (system, group), (n, wrong, neither) in PUBLISHED.items():
        part = captions.filter((pl.col("system") == system) & (pl.col("gender") == group))
        images = part["image_id"].to_list()
        texts = [(i, SYSTEM_CAPTIONS, 0, t) for i, t in part.select("image_id", "caption").iter_rows()]
        people = [(i, "gender", group, "words of the human captions (Tang et al. 2021)") for i in images]
        stages = Stages(
            images,
            captions=pl.DataFrame(texts, schema=CAPTIONS, orient="row"),
            people=pl.DataFrame(people, schema=PEOPLE, orient="row"),
        )
        old = Options(lists=lists_of_groups("hendricks2018"))
        told = outcomes(stages, SYSTEM_CAPTIONS, "gender", old)["outcome"]
        assert len(told) == n
        assert round(100 * (told == WRONG).mean(), 2) == wrong
        assert round(100 * (~told.is_in([RIGHT, WRONG])).mean(), 2) == neither


@pytest.fixture(scope="module")
def run(captions, shared, tmp_path_factory):
    """A study on images that all three systems, the human captions and both annotations share."""
    folder = tmp_path_factory.mktemp("coco")
    ages = pl.read_csv(shared("data/captions/coco_systems/age_dataset.csv.gz")).with_columns(
        pl.col("image_id").cast(pl.String)
    )
    labelled = captions.filter(pl.col("gender").is_in(["female", "male"]))
    by_all = labelled.group_by("image_id").agg(pl.col("system").n_unique()).filter(pl.col("system") == 3)
    both = ages.select("image_id", "age").unique().join(by_all, on="image_id").sort("image_id").head(IMAGES)
    genders = labelled.select("image_id", "gender").unique("image_id").join(both, on="image_id")
    genders.select(pl.col("image_id").alias("image")).sort("image").write_csv(folder / "images.csv")
    people = pl.concat(
        genders.select(
            pl.col("image_id").alias("image"),
            pl.lit(axis).alias("axis"),
            pl.col(axis).alias("group"),
            pl.lit("words of the human captions").alias("assigned_by"),
        )
        for axis in ("gender", "age")
    )
    people.write_csv(folder / "people.csv")
    human = ages.filter(pl.col("source") == "human").join(both.select("image_id"), on="image_id")
    human.select(pl.col("image_id").alias("image"), pl.col("caption").alias("text")).write_csv(folder / "human.csv")
    captions.join(both.select("image_id"), on="image_id").write_csv(folder / "captions.csv")
    study = [
        'name = "coco"\naudit = "captions"\n[captions]\nimages = "images.csv"\nprocesses = 1\nbootstraps = 50\n'
        'permutations = 99\nhuman_captions = { file = "human.csv" }\npeople = { file = "people.csv" }\n'
    ]
    study += [
        f'[[systems]]\nname = "{system}"\nuse = "replay:captions.csv"\n'
        f'parameters = {{ columns = {{ stimulus = "image_id" }}, where = {{ system = "{system}" }} }}\n'
        for system in ("nic", "transformer", "oscar")
    ]
    (folder / "study.toml").write_text("\n".join(study))
    flow.record(folder / "study.toml", folder / "run", quiet=True)
    return flow.measure(folder / "run")


def test_every_technique_the_stages_allow_is_measured(run) -> None:
    rows = run.tables["rows"]
    measured = set(rows.select(pl.format("{}: {}", "harm", "technique")).to_series())
    # No human labels and no boxes: objects cannot be controlled for size and place, and say so.
    assert set(run.tables["missing"]["technique"]) >= {"stereotyping: objects correctly mentioned"}
    assert {
        "stereotyping: words included wrongly",
        "stereotyping: differing tuples",
        "stereotyping: differing tuples across stages",
        "demeaning: demeaning words",
        "demeaning: people not mentioned",
        "demeaning: context-specific harms",
        "demeaning: identity adjectives used as nouns",
        "denying self-identification: identity terms imposed",
        "reifying: markedness",
        "beside every harm: group words",
    } <= measured
    assert set(rows["system"]) == {"nic", "transformer", "oscar", "human captions", "held-out human captions"}


def test_error_and_omission_stand_side_by_side_by_group(run) -> None:
    rows = run.tables["rows"].filter(
        (pl.col("technique") == "group words") & pl.col("versus").is_null() & (pl.col("measure") == pl.col("quantity"))
    )
    assert set(rows["quantity"]) == {"right group word", "wrong group word", "neutral wording", "person not mentioned"}
    for _, part in rows.group_by("system", "axis", "group"):
        assert part["value"].sum() == pytest.approx(1.0)
        assert part["low"].null_count() == 0


def test_only_what_was_compared_with_the_human_captions_says_so(run) -> None:
    rows = run.results.filter(pl.col("stage") == SYSTEM_CAPTIONS)
    girls = rows.filter(pl.col("subject") == "women called girls")
    assert set(girls["truth"]) == {None}  # nobody asked whether a human caption says girl too
    compared = rows.filter(pl.col("measure") == "tuples_change_difference")
    assert set(compared["truth"]) == {"human captions"}
    # ... but the same is counted in the human captions of the same images, and stands beside it.
    beside = run.results.filter(
        pl.col("stage") == HUMAN_SAME,
        pl.col("measure") == "context_specific_harm",
        pl.col("subject") == "women called girls",
    )
    tested = girls.filter(pl.col("measure") == "context_specific_harm")
    assert sorted(beside["system"]) == sorted(tested["system"]) == ["nic", "oscar", "transformer"]
    assert beside["n"].to_list() == tested["n"].to_list()
    assert set(beside["decision"]) == {"not tested"}
