"""Bad captions are counted and named, never dropped in silence."""

from __future__ import annotations

import polars as pl
import pytest

from portrayal.audits.captions.measure import system_captions
from portrayal.audits.captions.measures.audit import measure_system
from portrayal.audits.captions.reading.mentions import read_captions
from portrayal.audits.captions.reading.stages import PEOPLE, SYSTEM_CAPTIONS, Options, Stages, check_stages
from portrayal.errors import PortrayalError
from portrayal.study.study_file import make_study

CAPTIONS = {
    "empty": "",
    "long": "A man rides a horse. " * 200,
    "german": "Ein Hund läuft über die Straße",
    "markup": "<b>A man</b> rides a horse.",
    "control": "A man\x00 rides a\x07 horse.",
    "good": "A man rides a horse.",
}


@pytest.fixture(scope="module")
def read():
    table = pl.DataFrame({"image": list(CAPTIONS), "text": list(CAPTIONS.values())})
    return read_captions(table, SYSTEM_CAPTIONS, [*CAPTIONS, "silent"])


def test_every_fault_is_counted_and_named(read) -> None:
    faults = {fault: (count, example) for fault, count, example in read[2].iter_rows()}
    assert faults == {
        "system captions: image with no caption": (1, "silent"),
        "system captions: empty caption": (1, "empty"),
        "system captions: over 4000 characters, cut": (1, "long"),
        "system captions: read as a paragraph": (1, "long"),
        "system captions: markup": (1, "markup"),
        "system captions: control characters": (1, "control"),
    }


def test_marked_up_captions_are_read_all_the_same(read) -> None:
    for image in ("markup", "control", "good", "long"):
        found = set(read[0].filter(pl.col("image") == image)["word"])
        assert {"man", "horse", "ride"} <= found


def test_an_image_without_caption_is_missing_and_an_empty_caption_is_an_omission(read) -> None:
    images = [*CAPTIONS, "silent"]
    people = pl.DataFrame([(i, "gender", "male", "test") for i in images], schema=PEOPLE, orient="row")
    stages = Stages(images, people=people).with_system(*read)
    found = measure_system(stages, "x", Options(), ["beside every harm: group words"]).rows
    omitted = found.filter((pl.col("measure") == "person not mentioned") & (pl.col("group") == "male")).row(
        0, named=True
    )
    assert (omitted["n"], omitted["n_missing"]) == (6, 1)
    assert omitted["value"] == pytest.approx(2 / 6)  # the empty and the German caption


def test_two_captions_with_one_id() -> None:
    table = pl.DataFrame({"image": ["a", "a", "b"], "caption": [1, 1, 1], "text": ["A dog.", "A cat.", "A cow."]})
    _, captions, faults = read_captions(table, SYSTEM_CAPTIONS, ["a", "b"])
    assert captions["text"].to_list() == ["A dog.", "A cow."]
    assert faults.rows() == [("system captions: two captions with one id, the first kept", 1, "a")]


def test_a_caption_of_an_unknown_image_is_named() -> None:
    table = pl.DataFrame({"image": ["a", "z"], "text": ["A dog.", "A cat."]})
    _, captions, faults = read_captions(table, SYSTEM_CAPTIONS, ["a"])
    assert len(captions) == 1
    assert faults["fault"].to_list() == ["system captions: caption of an image not in the study, left out"]


def test_refusals_and_empty_answers_are_missing_and_several_samples_are_numbered() -> None:
    responses = pl.DataFrame(
        {
            "stimulus": ["a", "a", "b", "c"],
            "repeat": [1, 0, 0, 0],
            "status": ["answered", "answered", "refused", "empty"],
            "caption": ["second", "first", None, None],
        }
    )
    assert system_captions(responses).rows() == [("a", "first", 0), ("a", "second", 1)]


def test_one_image_has_one_group_on_an_axis() -> None:
    people = pl.DataFrame([("a", "gender", g, "test") for g in ("male", "female")], schema=PEOPLE, orient="row")
    with pytest.raises(PortrayalError, match="image 'a' has two groups"):
        check_stages(Stages(["a"], people=people))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "either scenes = NUMBER or images = FILE"),
        ({"scenes": 10, "images": "x.csv"}, "either scenes = NUMBER or images = FILE"),
        ({"scenes": 10, "thresold": 1}, "Did you mean 'threshold'"),
        ({"scenes": 10, "techniques": ["demeaning"]}, "techniques"),
    ],
)
def test_settings_say_what_is_wrong(settings, message) -> None:
    systems = [{"name": "x", "use": "phantom:captions"}]
    with pytest.raises(PortrayalError, match=message) as error:
        make_study({"name": "x", "audit": "captions", "systems": systems, "captions": settings})
    assert "\n" not in str(error.value)
