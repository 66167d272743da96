"""Ground truth: the study's choice, people's boxes apart from the system's, labelled images only."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from portrayal import flow
from portrayal.audits.captions.inputs import read_inputs, stages_of
from portrayal.audits.captions.measures import (
    demeaning_people,
    self_identification,
    stereotyping_tuples,
    stereotyping_words,
)
from portrayal.audits.captions.measures.audit import measure_system
from portrayal.audits.captions.measures.demeaning_people import person_areas
from portrayal.audits.captions.reading.mentions import read_captions, with_synsets
from portrayal.audits.captions.reading.scenarios import scenarios
from portrayal.audits.captions.reading.stages import (
    HUMAN_CAPTIONS,
    HUMAN_LABELS,
    SYSTEM_CAPTIONS,
    SYSTEM_LABELS,
    Options,
    Stages,
    check_stages,
)
from portrayal.errors import PortrayalError
from portrayal.study.study_file import read_study

TEXTS = {"1": "A woman rides a brown horse.", "2": "A tall man holds a cup on a table.", "3": "A man sits on a bench."}


def stages_with(labels: list[tuple], stage: str = HUMAN_LABELS, texts: dict[str, str] = TEXTS) -> Stages:
    """Labels (image, kind, subject, word, object), and the system's captions through the parser."""
    said = [(image, 0, *rest) for image, *rest in labels]
    people = [(image, "gender", "female" if int(image) % 2 else "male", "test") for image in texts]
    stages = Stages(
        list(texts),
        with_synsets(said, stage),
        people=pl.DataFrame(people, schema=["image", "axis", "group", "assigned_by"], orient="row"),
    )
    table = pl.DataFrame({"image": list(texts), "text": list(texts.values())})
    return stages.with_system(*read_captions(table, SYSTEM_CAPTIONS, list(texts)))


OBJECTS = [("1", "object", None, "woman", None), ("2", "object", None, "man", None), ("3", "object", None, "man", None)]


def test_a_kind_that_nobody_labelled_is_not_judged() -> None:
    stages = stages_with(OBJECTS)
    found = scenarios(stages, SYSTEM_CAPTIONS, HUMAN_LABELS, Options())
    others = found.filter(pl.col("kind") != "object")
    assert len(others) >= 5
    assert others.filter(pl.col("hallucinated") | pl.col("too specific")).is_empty()
    assert "horse" in found.filter(pl.col("hallucinated"))["word"].to_list()  # objects are labelled, and no horse
    told = stereotyping_words.TECHNIQUE.measure(stages, Options()).missing
    assert told == "the human labels have no attributes and no relations, so none is judged"


def test_a_kind_is_judged_in_the_images_where_it_was_labelled() -> None:
    stages = stages_with([*OBJECTS, ("2", "attribute", "man", "short", None)])
    found = scenarios(stages, SYSTEM_CAPTIONS, HUMAN_LABELS, Options()).filter(pl.col("kind") == "attribute")
    told = dict(found.select("image", "hallucinated").unique().iter_rows())
    assert told == {"1": False, "2": True}  # 'brown' cannot be judged, 'tall' can
    assert (
        stereotyping_words.TECHNIQUE.measure(stages, Options()).missing
        == "the human labels have no relations, so none is judged"
    )


def test_captions_as_the_truth_judge_what_their_writers_could_have_said() -> None:
    human = pl.DataFrame({"image": list(TEXTS), "text": ["A woman and a horse.", "A man.", "A man on a bench."]})
    stages = stages_with([]).with_system(*read_captions(human, HUMAN_CAPTIONS, list(TEXTS)))
    found = scenarios(stages, SYSTEM_CAPTIONS, HUMAN_CAPTIONS, Options())
    assert found.filter(pl.col("kind") == "attribute", pl.col("hallucinated"))["word"].to_list()[:2] == [
        "brown",
        "tall",
    ]


def test_labels_that_name_no_identity_say_nothing_of_who_may_be_named() -> None:
    people = [(image, "object", None, "person", None) for image in TEXTS]
    outcome = self_identification.TECHNIQUE.measure(stages_with(people), Options())
    assert (list(outcome.rows), outcome.missing) == ([], self_identification.UNNAMED)
    judged = self_identification.TECHNIQUE.measure(
        stages_with([*people, ("1", "object", None, "woman", None)]), Options()
    )
    quantities = {row["quantity"] for row in judged.rows}
    assert quantities == {self_identification.ANY, "gender term imposed"}  # nobody's age was labelled


def test_no_change_is_measured_against_a_kind_that_nobody_labelled() -> None:
    texts = {str(i): "A woman holds a red cup on a table." if i % 2 else "A man holds a cup." for i in range(12)}
    labels = [(image, "object", None, word, None) for image in texts for word in ("person", "cup")]
    rows = stereotyping_tuples.measure_across(stages_with(labels, texts=texts), Options(least_images=2)).rows
    assert {row["quantity"] for row in rows} == {"object tuples against human labels"}


def test_the_cases_of_captions_with_ids_of_their_own_hold_the_captions() -> None:
    # COCO's annotation ids are no numbers from 0 on.
    stages = stages_with(OBJECTS)
    human = pl.DataFrame(
        {"image": ["1", "1", "2"], "caption": [770337, 771687, 9], "text": ["A horse.", "A woman.", "A cup."]}
    )
    stages = stages.with_system(*read_captions(human, HUMAN_CAPTIONS, list(TEXTS)))
    cases = demeaning_people.TECHNIQUE.measure(stages, Options()).cases.filter(pl.col("stage") == HUMAN_CAPTIONS)
    assert sorted(cases.select("image", "caption").rows()) == [("1", 770337), ("2", 9)]
    reviews = measure_system(stages, "s", Options(), ["demeaning: people not mentioned"]).reviews
    told = reviews.filter(pl.col("stage") == HUMAN_CAPTIONS).sort("image")["caption"].to_list()
    assert told == ["A horse.", "A cup."]


BOXES = "image,object,left,top,width,height,image_width,image_height\n"


@pytest.fixture
def study_path(tmp_path: Path) -> Path:
    """Three images; people drew a person in the first, the vision model in the others."""
    (tmp_path / "images.csv").write_text("image\n1\n2\n3\n")
    (tmp_path / "human.csv").write_text("image,kind,word\n1,object,person\n2,object,cup\n3,object,cup\n")
    (tmp_path / "system.csv").write_text("image,kind,word\n2,object,person\n3,object,person\n")
    (tmp_path / "human_boxes.csv").write_text(f"{BOXES}1,person,0,0,50,50,100,100\n")
    (tmp_path / "system_boxes.csv").write_text(f"{BOXES}2,person,0,0,80,50,100,100\n3,person,0,0,50,50,100,100\n")
    (tmp_path / "people.csv").write_text(
        "image,axis,group,assigned_by\n1,gender,female,t\n2,gender,male,t\n3,gender,male,t\n"
    )
    captions = [
        {"image_id": image, "caption": text} for image, text in (("1", "a cup"), ("2", "a cup"), ("3", "a man"))
    ]
    (tmp_path / "captions.json").write_text(json.dumps(captions))
    (tmp_path / "study.toml").write_text(
        'name = "t"\naudit = "captions"\n[captions]\nimages = "images.csv"\nprocesses = 1\n'
        'human_labels = { labels = "human.csv", boxes = "human_boxes.csv" }\n'
        'system_labels = { labels = "system.csv", boxes = "system_boxes.csv" }\n'
        'people = { file = "people.csv" }\n[[systems]]\nname = "s"\nuse = "replay:captions.json"\n'
    )
    return tmp_path / "study.toml"


def test_boxes_of_people_and_of_the_vision_model_stay_apart(study_path) -> None:
    stages = stages_of(read_inputs(read_study(study_path)))
    assert person_areas(stages.boxes_of(HUMAN_LABELS)) == {"1": 0.25}
    assert person_areas(stages.boxes_of(SYSTEM_LABELS)) == {"2": 0.4, "3": 0.25}
    assert stages.boxes_of(HUMAN_CAPTIONS).is_empty()


@pytest.mark.parametrize(("truth", "n", "value"), [(HUMAN_LABELS, 1, 1.0), (SYSTEM_LABELS, 2, 0.5)])
def test_system_labels_can_be_the_truth(study_path, truth, n, value) -> None:
    # Of people's boxes the first image shows a person, who is not mentioned; of the system's the second and the third.
    text = study_path.read_text().replace("processes = 1", f'processes = 1\ntruth = "{truth}"')
    study_path.write_text(text)
    flow.record(study_path, study_path.parent / "run", quiet=True)
    results = flow.measure(study_path.parent / "run").results
    row = results.filter(
        pl.col("measure") == "person not mentioned", pl.col("stage") == SYSTEM_CAPTIONS, pl.col("group") == "all"
    ).row(0, named=True)
    assert (row["truth"], row["n"], row["value"]) == (truth, n, value)


def test_a_chosen_truth_that_is_not_there_is_said() -> None:
    stages = stages_with(OBJECTS)
    with pytest.raises(PortrayalError, match="truth = 'system labels' is chosen and the study has none"):
        check_stages(Stages(stages.images, stages.mentions, stages.captions, chosen=SYSTEM_LABELS))
