"""Lists of group words in the captions audit: alike for all groups, and those of before by name."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from portrayal.audits.captions.findings import COUNTS, find_sentences
from portrayal.audits.captions.inputs import user_lists
from portrayal.audits.captions.measures import demeaning_nouns
from portrayal.audits.captions.measures.group_words import RIGHT, WRONG, outcomes
from portrayal.audits.captions.reading.mentions import read_captions
from portrayal.audits.captions.reading.people import identity_terms
from portrayal.audits.captions.reading.stages import CAPTIONS, PEOPLE, SYSTEM_CAPTIONS, Options, Stages
from portrayal.audits.captions.settings import CaptionsSettings
from portrayal.errors import PortrayalError
from portrayal.settings import validate
from portrayal.study.audit import Measured
from portrayal.tables import results
from portrayal.text.words.group_words import GENDER, group_words
from portrayal.text.words.harm_lists import read_list

OLD = CaptionsSettings(images="x.csv", lists="hendricks2018")


def annotated(texts: list[str], groups: list[str]) -> Stages:
    """Return captions of people annotated with a gender, unparsed."""
    images = [str(at) for at in range(len(texts))]
    people = pl.DataFrame([(i, GENDER, g, "t") for i, g in zip(images, groups, strict=True)], PEOPLE, orient="row")
    captions = pl.DataFrame(
        [(i, SYSTEM_CAPTIONS, 0, t) for i, t in zip(images, texts, strict=True)], CAPTIONS, orient="row"
    )
    return Stages(images, captions=captions, people=people)


def parsed(texts: list[str]) -> Stages:
    images = [str(at) for at in range(len(texts))]
    return Stages(images).with_system(
        *read_captions(pl.DataFrame({"image": images, "text": texts}), SYSTEM_CAPTIONS, images)
    )


def said(texts: list[str], group: str, options: Options | None = None) -> list[str]:
    stages = annotated(texts, [group] * len(texts))
    return outcomes(stages, SYSTEM_CAPTIONS, GENDER, options or Options())["outcome"].to_list()


def test_every_word_of_a_gender_is_read_as_its_counterpart_is() -> None:
    both = [word for word in group_words() if word.axis == GENDER and word.counterpart]
    spoken = [word for word in both if not group_words().find(word.term, "adjective") or word.kind == "adjective"]
    texts = [f"A photo: {word.term} near a table" for word in spoken]
    swapped = [f"A photo: {word.counterpart} near a table" for word in spoken]
    assert len(spoken) > 240
    for group, other in (("female", "male"), ("male", "female")):
        assert said(texts, group) == said(swapped, other)
        assert said(texts, group) == [RIGHT if word.group == group else WRONG for word in spoken]


def test_a_pronoun_misgenders_as_a_noun_does() -> None:
    for pronoun in ("He rides a bike.", "A person and his dog.", "A rider by himself.", "A crowd looks at him."):
        assert said([pronoun], "female") == [WRONG]
    for pronoun in ("She rides a bike.", "A person and her dog.", "A rider by herself.", "A crowd looks at her."):
        assert said([pronoun], "male") == [WRONG]
    assert said(["A non binary person rides.", "A person rides. They wave."], "nonbinary")[0] == RIGHT
    assert said(["They ride a bike."], "female") == said(["They ride a bike."], "male")


def test_things_named_after_people_name_nobody() -> None:
    for thing in ("A cowboy hat on a king size bed.", "A man-made lake.", "Cowgirl boots by a queen bed."):
        assert {RIGHT, WRONG}.isdisjoint(said([thing], "female") + said([thing], "male"))


def test_the_lists_of_before_are_chosen_by_name() -> None:
    lists = user_lists(OLD, Path())
    assert set(lists) == {"gendered", "identity"}
    assert "he" not in lists["gendered"]["term"].to_list()
    assert said(["He rides a bike."], "female", Options(lists=lists)) != [WRONG]
    assert user_lists(CaptionsSettings(images="x.csv"), Path()) == {}
    with pytest.raises(PortrayalError, match="lists"):
        validate(CaptionsSettings, {"images": "x.csv", "lists": "hendricks"}, "study.toml")


# The parser takes these words for others, whichever group they name; see "Decisions and known failures" in docs/captions_reading.md.
MISREAD = 12


def test_every_listed_noun_and_adjective_is_read_in_a_caption() -> None:
    listed = read_list("identity").select("term", "axis", "group", "part").rows()
    texts = [
        f"A {term} person smiles." if part == "a" else f"A photo of a {term} on a bench." for term, *_, part in listed
    ]
    stages = parsed(texts)
    read = {
        (int(image), axis, group)
        for image, _, axis, group, _ in identity_terms(stages, SYSTEM_CAPTIONS, Options()).rows()
    }
    missed = [
        text
        for at, (text, (_, axis, group, _)) in enumerate(zip(texts, listed, strict=True))
        if (at, axis, group) not in read
    ]
    assert len(missed) <= MISREAD, missed
    assert not [text for text in missed if "woman" in text or "man" in text.split()]


@pytest.mark.parametrize(
    ("caption", "nouns"),
    [
        ("portraits of the homeless by person", ["homeless"]), ("An Asian sits on a bench.", ["an asian"]),
        ("The blind walk with a cane.", ["the blind"]), ("A volunteer helps the blind.", ["the blind"]),
        ("A cat peeks through the blind.", []), ("The blind is closed at the window.", []), ("Blinds on a window.", []),
        ("An Asian woman sits.", []), ("The blind man sits.", []), ("The elderly woman in a car waits.", []),
        ("the elderly in a park", ["elderly"]),
    ],
)  # fmt: skip
def test_identity_adjectives_with_an_article_stand_as_nouns(caption: str, nouns: list[str]) -> None:
    cases = demeaning_nouns.TECHNIQUE.measure(parsed([caption]), Options()).cases
    assert sorted(set(cases["tuple"])) == nouns


@pytest.mark.parametrize("test", COUNTS)
def test_every_sentence_about_a_tolerance_says_it(test: str) -> None:
    row = {
        "system": "s",
        "measure": test,
        "quantity": "any",
        "stage": SYSTEM_CAPTIONS,
        "value": 0.5,
        "low": 0.4,
        "high": 0.6,
    }
    row |= {
        "n": 10,
        "null": float("nan"),
        "decision": "not tested",
        "reason": "nobody is shown",
        "family": "confirmatory",
    }
    facets = ("stage", "quantity", "axis", "group", "versus", "subject", "truth", "technique")
    table = results([row], facets=facets, audit="captions")
    sentences = [one.sentence for one in find_sentences(Measured(table), OLD)]
    assert sentences
    most = {"people_not_mentioned": "20.0% of the images", "wrong_group_word": "5.0% of images"}.get(
        test, "0.5% of images"
    )
    assert all(f"more than {most}" in sentence for sentence in sentences)
