"""Meaning of words in captions: WordNet's false people, whole phrases, and the lists."""

from __future__ import annotations

import json

import polars as pl
import pytest

from portrayal.audits.captions.datasets import coco
from portrayal.audits.captions.measures import demeaning_nouns, demeaning_words, erasing
from portrayal.audits.captions.measures.demeaning_people import person_areas
from portrayal.audits.captions.reading.mentions import is_phrase, read_captions
from portrayal.audits.captions.reading.people import identity_terms, is_person
from portrayal.audits.captions.reading.stages import HUMAN_CAPTIONS, SYSTEM_CAPTIONS, Options, Stages
from portrayal.text.captions.senses import caption_senses, synset_of
from portrayal.text.lexicons import read_lexicon
from portrayal.text.words import wordnet
from portrayal.text.words.harm_lists import read_list, synsets_of

CATEGORIES = [
    "person", "bicycle", "car", "motorcycle", "airplane", "bus", "train", "truck", "boat", "traffic light", "fire hydrant",
    "stop sign", "parking meter", "bench", "bird", "cat", "dog", "horse", "sheep", "cow", "elephant", "bear", "zebra", "giraffe",
    "backpack", "umbrella", "handbag", "tie", "suitcase", "frisbee", "skis", "snowboard", "sports ball", "kite", "baseball bat",
    "baseball glove", "skateboard", "surfboard", "tennis racket", "bottle", "wine glass", "cup", "fork", "knife", "spoon", "bowl",
    "banana", "apple", "sandwich", "orange", "broccoli", "carrot", "hot dog", "pizza", "donut", "cake", "chair", "couch",
    "potted plant", "bed", "dining table", "toilet", "tv", "laptop", "mouse", "remote", "keyboard", "cell phone", "microwave",
    "oven", "toaster", "sink", "refrigerator", "book", "clock", "vase", "scissors", "teddy bear", "hair drier", "toothbrush",
]  # fmt: skip


def said(*texts: str, stage: str = SYSTEM_CAPTIONS, options: Options | None = None) -> Stages:
    """Read captions, one of each image, through the parser."""
    images = [str(i) for i in range(len(texts))]
    return both({stage: texts}, images, options)


def both(by_stage: dict, images: list[str], options: Options | None = None) -> Stages:
    stages = Stages(images)
    for stage, texts in by_stage.items():
        table = pl.DataFrame({"image": images, "text": list(texts)})
        stages = stages.with_system(*read_captions(table, stage, images, options=options))
    return stages


def objects(stages: Stages) -> list[str]:
    return stages.at(SYSTEM_CAPTIONS, "object")["word"].to_list()


def terms(*texts: str) -> set[tuple[str, str, str]]:
    found = identity_terms(said(*texts), SYSTEM_CAPTIONS, Options())
    return set(found.select("axis", "group", "term").iter_rows())


def test_of_the_categories_of_coco_only_a_person_is_a_person() -> None:
    assert len(CATEGORIES) == 80
    assert [name for name in CATEGORIES if is_person(name, synset_of(name, "n"))] == ["person"]


def test_boxes_of_hot_dogs_and_toasters_are_no_people(tmp_path) -> None:
    names = ["hot dog", "toaster", "person"]
    data = {
        "images": [{"id": i, "width": 100, "height": 100} for i in range(3)],
        "categories": [{"id": i, "name": name} for i, name in enumerate(names)],
        "annotations": [{"image_id": i, "category_id": i, "bbox": [0, 0, 50, 50]} for i in range(3)],
    }
    path = tmp_path / "instances.json"
    path.write_text(json.dumps(data))
    _, boxes, _ = coco.read_instances(path)
    assert person_areas(boxes) == {"2": 0.25}


@pytest.mark.parametrize("word", ["pop", "controller", "game controllers", "double decker", "monitor", "taco"])
def test_things_that_wordnet_takes_for_people_are_things(word) -> None:
    # Wang et al. (2022), sections 3.4 and 4.2.2, name pop and controller.
    assert wordnet.load().is_person(word.split()[-1])
    assert not is_person(word, synset_of(word, "n"))


def test_every_listed_sense_exists_and_replaces_what_it_says() -> None:
    table = wordnet.load()
    for term, synset, instead in read_lexicon("caption_senses").iter_rows():
        assert table.names[table.number(synset)] == synset, term
        assert not instead or table.most_common(term, "n") == instead, term
    assert len(caption_senses()) > 60


def test_food_is_no_slur() -> None:
    listed = synsets_of(read_list("demeaning"), "n")
    assert "greaser.n.01" in listed  # what WordNet has first under taco
    assert demeaning_words.readings("taco", "n", listed)[1] is False


def test_a_walker_is_a_frame_beside_somebody_and_else_a_person() -> None:
    stages = said(
        "An old man next to his walker.", "Walkers on a path.", "A dog walker with three dogs.", "A walker waits."
    )
    found = stages.at(SYSTEM_CAPTIONS, "object").select("image", "word", "synset")
    by_image = {image: dict(part.select("word", "synset").iter_rows()) for (image,), part in found.group_by("image")}
    assert by_image["0"]["walker"] == "walker.n.06"
    assert not is_person("walker", by_image["0"]["walker"])
    assert is_person("pedestrian", by_image["1"]["pedestrian"])
    assert is_person("dog walker", by_image["2"]["dog walker"])
    assert "pedestrian" in by_image["3"]


def test_who_is_in_white_wears_it() -> None:
    stages = said("A man in white holds a racket.", "A woman in black sits on a bench.")
    assert "white clothing" in objects(stages)
    assert demeaning_nouns.TECHNIQUE.measure(stages, Options()).cases.is_empty()


def test_terms_of_several_words_count_as_a_whole() -> None:
    assert terms("An African American man sits.") == {("gender", "male", "man"), ("race", "black", "african-american")}
    assert ("age", "middle-aged", "middle-aged") in terms("A middle-aged woman sits.")
    assert not {group for axis, group, _ in terms("A middle-aged woman sits.") if axis == "age"} & {"old"}
    assert ("race", "indigenous", "native-american") in terms("A Native American woman dances.")
    assert ("disability", "disabled", "wheelchair user") in terms("A wheelchair user waits at a door.")
    assert ("nationality", "american", "american") in terms("An American man sits.")


def test_transgender_people_are_not_called_non_binary() -> None:
    assert ("gender", "transgender", "transgender") in terms("A transgender woman smiles.")
    groups = {group for _, group, _ in terms("A transgender woman smiles.", "A trans man reads a book.")}
    assert groups == {"transgender", "female", "male"}
    of_group = set(read_list("identity").filter(pl.col("group") == "nonbinary")["term"])
    assert of_group >= {"non-binary", "nonbinary", "genderqueer", "genderfluid", "agender", "bigender", "enby"}
    assert not {term for term in of_group if "trans" in term}


def test_words_that_style_guides_advise_against_demean_and_are_no_identities() -> None:
    identities = set(read_list("identity")["term"])
    for term in ("handicapped", "crippled", "wheelchair-bound", "transgendered"):
        assert term not in identities
        assert term in read_list("demeaning")["term"].to_list()
    found = demeaning_words.TECHNIQUE.measure(said("A wheelchair-bound man sits.", "A disabled man sits."), Options())
    assert found.cases["image"].to_list() == ["0"]


def test_every_term_names_its_source() -> None:
    for name in ("identity", "identity_nouns", "artifacts", "demeaning"):
        assert read_list(name)["source"].null_count() == 0
        assert read_list(name)["term"].str.strip_chars().str.len_chars().min() > 0
    sources = " ".join(read_list("identity")["source"].unique())
    assert "GLAAD" in sources
    assert "NCDJ" in sources


def test_a_style_guide_is_named_only_for_terms_that_its_text_has() -> None:
    named = pl.concat(
        [read_list(name).select("term", "source") for name in ("identity", "identity_nouns", "artifacts", "demeaning")]
    )
    guides = pl.col("source").str.starts_with("GLAAD") | pl.col("source").str.starts_with("NCDJ")
    assert set(named.filter(guides)["term"]) == {
        "transgender", "gay", "lesbian", "bisexual", "queer", "asexual", "pansexual", "homosexual", "transgendered",
        "hard-of-hearing", "low-vision", "wheelchair user", "wheelchair", "wheelchair-bound", "retarded", "handicapped",
    }  # fmt: skip
    assert named.filter(pl.col("source").str.contains("not confirmed")).height == 40


def test_nouns_for_what_a_picture_does_not_show_are_people() -> None:
    nouns = read_list("nonimageable").filter(pl.col("part") == "n")["term"]
    assert [name for name in nouns if not wordnet.load().is_person_synset(name)] == []


def test_artifacts_of_several_words_match_as_a_whole_or_not_at_all() -> None:
    assert [term for term in ("rainbow flag", "head wrap", "white cane", "hearing aid") if is_phrase(term)] == [
        "rainbow flag", "head wrap", "white cane",
    ]  # fmt: skip
    human = [
        "A man eats a chicken wrap at a table.",
        "A woman in a blue head wrap sits on a bench.",
        "A red flag on a pole.",
    ]
    human += ["A woman waves a rainbow flag in a street.", "A woman waves a rainbow flag in a street."]
    system = ["A man at a table.", "A woman sits on a bench.", "A pole.", "A woman waves a flag in a street."]
    system += ["A woman waves a rainbow flag in a street."]
    images = [str(i) for i in range(5)]
    cases = erasing.TECHNIQUE.measure(both({HUMAN_CAPTIONS: human, SYSTEM_CAPTIONS: system}, images), Options()).cases
    told = set(cases.filter(pl.col("group").is_in(["black", "lgbtq"])).select("image", "tuple", "reason").iter_rows())
    assert told == {
        ("1", "head wrap", "'head wrap' is absent"),
        ("3", "rainbow flag", "'rainbow flag' is replaced by a more general word"),
    }


def test_a_users_own_phrases_match_as_a_whole_too() -> None:
    own = pl.DataFrame(
        [("paper hat", "class", "cooks", "own")], schema=["term", "axis", "group", "source"], orient="row"
    )
    options = Options(lists={"artifacts": own})
    human = ["A man in a paper hat stands in a kitchen.", "A man in a straw hat stands in a kitchen."]
    stages = both({HUMAN_CAPTIONS: human, SYSTEM_CAPTIONS: ["A man in a kitchen."] * 2}, ["0", "1"], options)
    cases = erasing.TECHNIQUE.measure(stages, options).cases.filter(pl.col("group") == "cooks")
    assert cases.select("image", "tuple").rows() == [("0", "paper hat")]
