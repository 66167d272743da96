"""Reifying by looks: features of appearance alone, one person at a time, and quiet where looks decide nothing."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest
from scipy import stats

from portrayal.audits.captions.measures import reifying_looks
from portrayal.audits.captions.reading.appearance import alone, appearance
from portrayal.audits.captions.reading.mentions import read_captions
from portrayal.audits.captions.reading.stages import HUMAN_LABELS, PEOPLE, SYSTEM_CAPTIONS, Options, Stages
from portrayal.audits.captions.world import Account, Scene, as_stages, faithful, make_scenes, text

OPTIONS = Options(permutations=999)


def captioned(say, number: int, seed: int) -> Stages:
    """Scenes with their labels, and what a captioner says of them, through the parser."""
    # Few different sentences, each of which is parsed once.
    made = make_scenes(number, seed)
    scenes = [replace(s, things=("dog",) if "dog" in s.things else (), place="park") for s in made]
    texts = pl.DataFrame({"image": [s.image for s in scenes], "text": [text(say(s)) for s in scenes]})
    stages = as_stages(scenes, seed)
    return stages.with_system(*read_captions(texts, SYSTEM_CAPTIONS, stages.images))


def by_surroundings(scene: Scene) -> Account:
    """Call people by their gender where a dog is, and else persons: their looks have no part in it."""
    said = faithful(scene)
    return said if "dog" in scene.things else replace(said, person="person")


def by_clothes(scene: Scene) -> Account:
    said = faithful(scene)
    return said if scene.worn == "dress" else replace(said, person="person")


def looks_rows(stages: Stages, options: Options = OPTIONS) -> list[dict]:
    return list(reifying_looks.measure(stages, options).rows)


def test_a_captioner_that_goes_by_surroundings_is_not_said_to_go_by_looks() -> None:
    rows = [row for seed in range(6) for row in looks_rows(captioned(by_surroundings, 150, seed))]
    assert len(rows) == 12  # women and men, every time
    assert {row["subject"] for row in rows} <= {"object: dress", "object: jacket"}
    alarms = sum(row["p"] < 0.05 for row in rows)
    assert alarms <= stats.binom.ppf(0.999, len(rows), 0.05)


def test_one_that_goes_by_clothes_is_found_and_they_are_named() -> None:
    rows = looks_rows(captioned(by_clothes, 150, 0))
    assert [row["group"] for row in rows] == ["female", "male"]
    assert all(row["p"] == pytest.approx(1 / 1000) for row in rows)
    assert all(row["low"] > 0.85 for row in rows)
    assert {row["subject"] for row in rows} == {"object: dress"}
    assert all("the surest with more of the term" in row["note"] for row in rows)


def labelled(looks: dict[str, list[tuple]], texts: dict[str, str], group: str = "female") -> Stages:
    """Labels of (kind, subject, word, object) by image, everybody of one group."""
    from portrayal.audits.captions.reading.mentions import with_synsets

    said = [(image, 0, *label) for image, labels in looks.items() for label in labels]
    people = pl.DataFrame([(i, "gender", group, "t") for i in texts], schema=PEOPLE, orient="row")
    stages = Stages(list(texts), with_synsets(said, HUMAN_LABELS), people=people)
    table = pl.DataFrame({"image": list(texts), "text": list(texts.values())})
    return stages.with_system(*read_captions(table, SYSTEM_CAPTIONS, stages.images))


PERSON = ("object", None, "person", None)


def test_features_are_what_is_worn_what_it_is_like_and_adjectives_of_a_person() -> None:
    labels = [
        PERSON, ("object", None, "dress", None), ("attribute", "dress", "red", None), ("attribute", "person", "bald", None),
        ("attribute", "person", "two", None), ("attribute", "person", "sitting", None), ("object", None, "frisbee", None),
        ("relation", "person", "wear", "medal"), ("relation", "person", "hold", "frisbee"), ("attribute", "frisbee", "red", None),
        ("attribute", "person", "elderly", None),
    ]  # fmt: skip
    looks = {str(i): labels if i < 5 else [PERSON] for i in range(10)}
    stages = labelled(looks, dict.fromkeys(looks, "A person."))
    matrix, names = appearance(stages, HUMAN_LABELS, stages.images, Options())
    assert names == ["dress: red", "object: dress", "object: medal", "person: bald"]
    assert matrix.sum(axis=0).tolist() == [5.0] * 4


def test_where_the_truth_says_nothing_of_looks_nothing_is_said() -> None:
    looks = {str(i): [PERSON, ("object", None, "frisbee" if i % 2 else "dog", None)] for i in range(60)}
    texts = {image: "A woman." if int(image) % 2 else "A person." for image in looks}
    outcome = reifying_looks.TECHNIQUE.measure(labelled(looks, texts), Options())
    assert (list(outcome.rows), outcome.missing) == ([], reifying_looks.TECHNIQUE.missing)


def test_who_is_one_of_several_is_left_out() -> None:
    looks = {
        "one": [PERSON],
        "two": [PERSON, ("attribute", "person", "two", None)],
        "people": [("object", None, "people", None)],
        "none": [("object", None, "dog", None)],
    }
    stages = labelled(looks, dict.fromkeys(looks, "A person."))
    assert alone(stages, HUMAN_LABELS) == {"one"}
    boxes = pl.DataFrame(
        [("one", "person.n.01", 0.0, 0.0, 0.2, 0.2), ("one", "woman.n.01", 0.5, 0.0, 0.2, 0.2)],
        schema=stages.boxes.schema,
        orient="row",
    )
    assert alone(replace(stages, boxes=boxes), HUMAN_LABELS) == set()


def test_a_group_without_terms_of_its_own_is_named_by_its_axis() -> None:
    # Skin tones are not said; that race is named goes with a jacket here.
    looks = {str(i): [PERSON, ("object", None, "jacket" if i < 15 else "dress", None)] for i in range(30)}
    texts = {image: "A black man." if int(image) < 15 else "A man." for image in looks}
    stages = labelled(looks, texts, "darker")
    stages = replace(stages, people=stages.people.with_columns(pl.lit("skin").alias("axis")))
    row = looks_rows(stages)[0]
    assert (row["axis"], row["group"], row["n"]) == ("skin", "darker", 30)
    assert row["p"] <= 0.002
