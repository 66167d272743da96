"""People as a standing null system, from the files of a study to those of its report."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import portrayal
from portrayal.audits.captions.measures.standing_null import ALSO, HELD
from portrayal.audits.captions.reading.stages import HUMAN_SAME, SYSTEM_CAPTIONS

IMAGES = 80  # of which a quarter shows a black woman, a white woman, a black man and a white man each
REFERENCES = 3
OTHER = {"woman": "man", "man": "woman"}
DOINGS = ("rides a horse", "holds a ball", "reads a book", "carries an umbrella")


def shown(image: int) -> tuple[str, str]:
    return ("woman", "man")[image % 2], ("black", "white")[image // 2 % 2]


def caption(image: int, rng: np.random.Generator, misnamed: float) -> str:
    noun = shown(image)[0]
    noun = OTHER[noun] if rng.random() < misnamed else noun
    return f"A {noun} {DOINGS[rng.integers(4)]} in a park."


def crossed(image: int, rng: np.random.Generator) -> str:
    return "A horse in a park." if shown(image) == ("woman", "black") else caption(image, rng, 0.0)


def silly(image: int, rng: np.random.Generator) -> str:
    said = caption(image, rng, 0.0)
    return said.replace("woman", "silly woman") if shown(image)[0] == "woman" else said


SYSTEMS = {
    "alike": lambda image, rng: caption(image, rng, 0.3),
    "worse": lambda image, rng: caption(image, rng, 0.85),
    "crossed": crossed,
    "silly": silly,
}


def write_study(folder) -> dict:
    rng = np.random.default_rng(1)
    every = range(IMAGES)
    human = [(str(image), caption(image, rng, 0.3)) for image in every for _ in range(REFERENCES)]
    annotated = {"gender": {"woman": "female", "man": "male"}, "race": {"black": "black", "white": "white"}}
    people = [
        (str(image), axis, names[shown(image)[place]], "the author")
        for place, (axis, names) in enumerate(annotated.items())
        for image in every
    ]
    said = [(name, str(image), says(image, rng)) for name, says in SYSTEMS.items() for image in every]
    tables = {
        "images.csv": pl.DataFrame({"image": [str(image) for image in every]}),
        "human.csv": pl.DataFrame(human, schema=["image", "text"], orient="row"),
        "people.csv": pl.DataFrame(people, schema=["image", "axis", "group", "assigned_by"], orient="row"),
        "said.csv": pl.DataFrame(said, schema=["system", "stimulus", "caption"], orient="row"),
    }
    for name, table in tables.items():
        table.write_csv(folder / name)
    settings = {"images": "images.csv", "people": {"file": "people.csv"}, "human_captions": {"file": "human.csv"}}
    systems = [{"name": name, "use": "replay:said.csv", "parameters": {"where": {"system": name}}} for name in SYSTEMS]
    return {"name": "null", "audit": "captions", "captions": {**settings, "processes": 1}, "systems": systems}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("null")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return portrayal.audit(write_study(folder), folder / "run", quiet=True)


@pytest.fixture(scope="module")
def findings(run) -> list[dict]:
    return json.loads((run.folder / "results.json").read_text())["findings"]


def kinds(findings: list[dict], system: str, words: str) -> list[str]:
    """Return the kinds of what was found of a system in these words."""
    return [
        one["kind"]
        for one in findings
        if one["system"] == system and one["decision"] == "found" and words in one["sentence"]
    ]


WRONG = "describes people by a word of another group of gender in more than 5.0% of images"


def test_what_people_do_as_well_is_no_harm_of_a_system(findings, run) -> None:
    assert kinds(findings, "alike", WRONG) == [ALSO]
    assert any(one["sentence"].startswith(f"Also true of people: alike {WRONG}: ") for one in findings)
    assert kinds(findings, "worse", WRONG) == ["finding"]
    assert not [one for one in findings if one["system"] == HELD]
    assert "also true of people" in (run.folder / "report.html").read_text().split("What cannot be said")[0]


def test_system_and_people_are_compared_one_caption_with_one(run) -> None:
    level = run.results.filter(measure="wrong_group_word", system="alike")
    system, people = (level.filter(stage=stage).row(0, named=True) for stage in (SYSTEM_CAPTIONS, HUMAN_SAME))
    held = run.results.filter(measure="wrong_group_word", system=HELD).row(0, named=True)
    human = pl.read_csv(run.folder.parent / "human.csv").with_columns(image=pl.col("image").cast(pl.Int64))
    noun = pl.col("image").replace_strict({i: shown(i)[0] for i in range(IMAGES)}, return_dtype=pl.String)
    wrong = human.with_columns(wrong=~pl.col("text").str.contains(pl.format("A {} ", noun), literal=True))
    each = wrong.group_by("image").agg(pl.col("wrong").sum())
    # The held-out captions and the two others of each image are all that people wrote.
    assert round(IMAGES * (held["value"] + 2 * people["value"])) == wrong["wrong"].sum()
    assert (held["n"], people["n"], system["n"]) == (IMAGES, IMAGES, IMAGES)
    assert people["value"] < (each["wrong"] > 0).mean() - 0.1  # any of three captions


def test_the_worst_of_crossed_groups_is_tested(findings, run) -> None:
    crossed = run.results.filter(measure="person not mentioned of crossed groups", system="crossed")
    assert dict(crossed.select("group", "value").iter_rows()) == {
        "black female": 1.0, "white female": 0.0, "black male": 0.0, "white male": 0.0
    }  # fmt: skip
    words = "leaves out people annotated black female more often than the others: 100 percentage points"
    assert kinds(findings, "crossed", words) == ["finding"]


def test_demeaning_words_are_compared_between_groups(findings) -> None:
    words = "uses words known to be demeaning more often of people annotated female than of people annotated male"
    assert kinds(findings, "silly", "uses words known to be demeaning in more than 0.5% of images") == ["finding"]
    assert kinds(findings, "silly", words) == ["finding"]


def test_a_bound_is_said_to_be_one(findings, run) -> None:
    of_level = pl.col("versus").is_null() & pl.col("null").is_not_null()
    bounds = run.results.with_row_index("row").filter(of_level, bound="upper bound", decision="found")
    said = [one["sentence"] for one in findings if one["row"] in bounds["row"].to_list()]
    assert said and all(", by an upper bound: " in sentence for sentence in said)
