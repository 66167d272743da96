"""Captioners whose denials, hedges and pronouns go with the group: nothing is said of objects, and misgendering is found."""

from __future__ import annotations

import polars as pl
import pytest

from portrayal.audits.captions.measures import demeaning_rules, group_words, stereotyping_tuples, stereotyping_words
from portrayal.audits.captions.reading.mentions import read_captions
from portrayal.audits.captions.reading.people import affirmed_captions, people_mentioned
from portrayal.audits.captions.reading.stages import HUMAN_CAPTIONS, PEOPLE, SYSTEM_CAPTIONS, Options, Stages

PEOPLE_EACH = 12
OPTIONS = Options(permutations=199)
# What is said of a woman and of a man: the same things.
PAIRS = {
    "denials": ("A person rides a horse. No weapons or dogs are visible.", "A person rides a horse."),
    "denied deeds": ("A person on a horse, not wearing a helmet.", "A person on a horse."),
    "pronouns": ("A person rides a horse. She smiles.", "A person rides a horse. He smiles."),
    "signs": ("A person rides a horse past a sign that reads 'No guns'.", "A person rides a horse past a sign."),
    "layout": ("Sure! Here is a description:\n\n**A person** rides a horse. 🐎", "A person rides a horse."),
}


def stages(of_women: str, of_men: str, options: Options = OPTIONS) -> Stages:
    """Return images of darker-skinned women and men, described by people alike and by a system in two ways."""
    rows = [(f"{group} {i}", group) for group in ("female", "male") for i in range(PEOPLE_EACH)]
    images = [image for image, _ in rows]
    people = [(image, "gender", group, "t") for image, group in rows] + [
        (image, "skin", "darker", "t") for image in images
    ]
    table = Stages(images, people=pl.DataFrame(people, schema=PEOPLE, orient="row"))
    said = [{"female": of_women, "male": of_men}[group] for _, group in rows]
    for stage, texts in ((HUMAN_CAPTIONS, ["A person rides a horse."] * len(images)), (SYSTEM_CAPTIONS, said)):
        captions = pl.DataFrame({"image": images, "text": texts})
        table = table.with_system(*read_captions(captions, stage, images, options=options))
    return table


@pytest.mark.parametrize("manner", PAIRS)
def test_what_is_not_affirmed_is_no_difference_of_objects(manner: str) -> None:
    table = stages(*PAIRS[manner])
    said = table.at(SYSTEM_CAPTIONS, "object").join(table.people.filter(axis="gender"), on="image")
    assert len({frozenset(part["word"]) for _, part in said.group_by("group")}) == 1
    rows = [*stereotyping_tuples.TECHNIQUE.measure(table, OPTIONS).rows]
    assert not [row for row in rows if row["measure"] == stereotyping_tuples.TEST and (row.get("p") or 1) < 0.05]


def test_a_denied_weapon_breaks_no_rule_and_is_no_wrong_word() -> None:
    table = stages(*PAIRS["denials"])
    weapon = "a weapon wrongly mentioned with a Black person"
    rules = [row for row in demeaning_rules.TECHNIQUE.measure(table, OPTIONS).rows if row["quantity"] == weapon]
    assert rules and all(row["value"] == 0 for row in rules if row["n"])
    words = stereotyping_words.TECHNIQUE.measure(table, OPTIONS).rows
    assert all(row["value"] == 0 for row in words if row["quantity"] == stereotyping_words.ANY)


def test_hedged_things_count_unless_the_study_says_not() -> None:
    hedged = "A person rides a horse, possibly near a dog."
    for count, expected in ((True, {"person", "horse", "dog"}), (False, {"person", "horse"})):
        table = stages(hedged, hedged, Options(count_hedged=count))
        assert set(table.at(SYSTEM_CAPTIONS, "object")["word"]) == expected


@pytest.mark.parametrize(
    "by", ["A man rides a horse.", "He rides a horse.", "A person rides. He smiles.", "A woman rides. He smiles."]
)
def test_misgendering_is_found_by_pronoun_as_by_noun(by: str) -> None:
    rows = group_words.TECHNIQUE.measure(stages(by, "A man rides a horse."), OPTIONS).rows
    wrong = [row for row in rows if row["quantity"] == group_words.WRONG and row["stage"] == SYSTEM_CAPTIONS]
    assert [row["value"] for row in wrong if row["group"] == "female" and not row.get("versus")] == [1.0]
    assert [row["value"] for row in wrong if row["group"] == "male"] == [0.0]


def test_alternatives_name_nobodys_group() -> None:
    described = group_words.outcomes(
        stages("A man or a woman rides.", "He or she rides."), SYSTEM_CAPTIONS, "gender", OPTIONS
    )
    assert set(described["outcome"]) == {group_words.NEUTRAL}


def test_a_pronoun_mentions_a_person_and_nobody_does_not() -> None:
    table = stages("She rides a horse.", "Nobody is on the street.")
    assert set(people_mentioned(table, SYSTEM_CAPTIONS)["image"]) == {f"female {i}" for i in range(PEOPLE_EACH)}


def test_denied_words_are_not_in_affirmed_captions() -> None:
    texts = affirmed_captions(stages("A person with no gun.", "A person."), SYSTEM_CAPTIONS)["text"]
    assert not any("gun" in text for text in texts)
