"""Group words: every word has its counterpart, and old and new lists are looked up alike."""

import pytest
from scripts.build_group_lists import gendered, identity

from portrayal.errors import PortrayalError
from portrayal.text.lexicons import read_lexicon
from portrayal.text.words.group_words import GENDER, LISTS, group_words

WORDS = group_words()
OTHER = {"female": "male", "male": "female"}
PAIRED = [word for word in WORDS if word.axis == GENDER and word.group in OTHER]


def test_every_gendered_word_has_a_counterpart_of_its_kind_number_and_age() -> None:
    assert len(PAIRED) > 250
    for word in PAIRED:
        back = [other for other in WORDS.find(word.counterpart, word.kind) if other.counterpart == word.term]
        groups = {other.group for other in back if other.axis == GENDER}
        assert groups == {OTHER[word.group]}, word
        assert {(other.age, bool(other.plural)) for other in back} == {(word.age, bool(word.plural))}, word


def test_no_kind_of_word_is_listed_for_one_gender_alone() -> None:
    for kind in {word.kind for word in PAIRED}:
        of_kind = [{word.term for word in PAIRED if (word.kind, word.group) == (kind, group)} for group in OTHER]
        assert all(of_kind), kind


@pytest.mark.parametrize("axis", ["race", "age", "disability", "sexuality", "religion", "nationality"])
def test_every_group_of_an_axis_has_an_adjective(axis: str) -> None:
    groups = {word.group for word in WORDS if word.axis == axis}
    assert {word.group for word in WORDS if word.axis == axis and word.kind == "adjective"} == groups
    assert len(groups) > 1


@pytest.mark.parametrize(
    ("term", "groups"),
    [
        ("He", {("gender", "male")}), ("himself", {("gender", "male")}), ("hers", {("gender", "female")}),
        ("they", set()), ("siblings", set()), ("police officer", set()), ("grandmothers", {("gender", "female")}),
        ("trans men", {("gender", "male"), ("gender modality", "transgender")}),
        ("transgender", {("gender modality", "transgender")}), ("Non-Binary", {("gender", "nonbinary")}),
        ("Latinas", {("gender", "female"), ("race", "latino")}), ("South-Asian", {("race", "asian")}),
        ("of African descent", {("race", "black")}), ("middle aged", {("age", "middle-aged")}),
        ("wheelchair_users", {("disability", "disabled")}), ("with a disability", {("disability", "disabled")}),
        ("table", set()), ("", set()),
    ],
)  # fmt: skip
def test_terms_name_their_groups(term: str, groups: set[tuple[str, str]]) -> None:
    assert set(WORDS.groups(term)) == groups


def test_the_kind_tells_the_noun_from_the_adjective() -> None:
    assert WORDS.groups("latino", "adjective") == (("race", "latino"),)
    assert ("gender", "male") in WORDS.groups("latino", "noun")
    assert "they" in WORDS
    assert "table" not in WORDS


def test_lists_of_before_are_chosen_by_name() -> None:
    old = group_words("hendricks2018")
    assert old.groups("she") == (("gender", "female"),)
    assert old.groups("he") == ()
    assert old.groups("non-binary") == (("gender", "non-binary"),)
    with pytest.raises(PortrayalError, match="Known: 2026, hendricks2018"):
        group_words("2018")
    assert LISTS == ("2026", "hendricks2018")


def test_the_audits_lists_are_made_of_the_group_words() -> None:
    assert read_lexicon("gendered").equals(gendered())
    assert read_lexicon("identity").equals(identity())
