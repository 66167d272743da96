"""Tags that are phrases: negation, alternatives, what stands before and after the head, and words that no list holds."""

from __future__ import annotations

import csv

import polars as pl
import pytest

from portrayal.audits.contexts.measures.pictures import WordLists, unknown_tags
from portrayal.text.lexicons import FOLDER
from portrayal.text.words import wordnet
from portrayal.text.words.harm_lists import read_list
from portrayal.text.words.tag_spelling import normalise
from portrayal.text.words.typology import DENIED, classify_tags, read_tags

GENDERS = {"feminine", "masculine", "nonbinary"}
LISTS = WordLists()
KNOWN = LISTS.known


def read(tag: str) -> set[str]:
    entries = read_tags([normalise(tag)], KNOWN).get(normalise(tag), ())
    return {cluster for entry in entries for cluster in KNOWN.get(entry, ())}


@pytest.mark.parametrize(
    ("tag", "clusters"),
    [
        ("serious expression", {"traits", "emotion"}), ("happy expression", {"emotion"}),
        ("middle-aged man", {"masculine", "age"}), ("middle aged women", {"feminine", "age"}),
        ("woman or girl", {"feminine"}), ("boy/man", {"masculine"}), ("boy or girl", {"age"}), ("man or woman", {"person"}),
        ("male/female", {"person"}), ("cat or dog", {"concrete"}), ("man in shirt or jacket", {"masculine"}),
        ("person using a wheelchair", {"person", "demographics"}), ("a woman in a wheelchair", {"feminine", "demographics"}),
        ("blind man", {"masculine", "demographics"}), ("blind", {"concrete"}), ("woman of African descent", {"feminine", "origin"}),
        ("they/them", {"person"}), ("she/her", {"feminine"}), ("he/him/his", {"masculine"}), ("she/they", {"person"}),
        ("s/he", {"person"}), ("transgender", {"demographics"}), ("transgender man", {"masculine", "demographics"}),
        ("trans woman", {"feminine", "demographics"}), ("non-binary person", {"nonbinary"}), ("genderqueer", {"nonbinary"}),
        ("Latina", {"feminine", "origin"}), ("Latino", {"masculine", "origin"}), ("Latino woman", {"feminine", "origin"}),
        ("young adult", {"age"}), ("elderly lady", {"age", "feminine"}), ("man in suit", {"masculine"}),
        ("group of women", {"feminine", "person"}), ("Person: Woman", {"feminine"}), ("woman, smiling", {"feminine", "emotion"}),
        ("woman smiling", {"feminine", "emotion"}), ("man running", {"masculine"}), ("child swing", {"concrete"}),
        ("chair (leader)", {"occupation"}), ("Woman (adult)", {"feminine"}), ("Person: none", set()),
        ("not a woman but a man", {"masculine"}), ("woman rather than a man", {"feminine"}), ("no smoking sign", {"concrete"}),
        ("man without a beard", {"masculine"}), ("people, no animals", {"person"}),
    ],
)  # fmt: skip
def test_phrases_are_read_by_grammar(tag: str, clusters: set[str]) -> None:
    assert read(tag) == clusters


@pytest.mark.parametrize(
    "word", ["woman", "man", "girls", "young lady", "middle-aged man", "man or woman", "people", "kitchen"]
)
@pytest.mark.parametrize(
    "denial", ["no {}", "not a {}", "No {} visible", "without {}", "neither {} nor child", "none: no {}"]
)
def test_what_a_tag_denies_is_in_no_cluster_and_waits_for_nobody(word: str, denial: str) -> None:
    tag = normalise(denial.format(word))
    assert read_tags([tag], KNOWN) == {tag: (DENIED,)}
    assert unknown_tags(pl.DataFrame({"system": "t", "tag": [tag]}), LISTS).is_empty()


@pytest.mark.parametrize(
    "spelled",
    [
        "{}",
        "the {}",
        "a {}",
        "{}.",
        '"{}"',
        "* {}",
        "- {}",
        "{} in a park",
        "Person: {}",
        "gender: {}",
        "{} with a dog",
        "{}, {}",
    ],
)
@pytest.mark.parametrize(
    ("woman", "man"),
    [
        ("Middle-Aged Woman", "Middle-Aged Man"), ("elderly_lady", "elderly_gentleman"), ("BLACK WOMEN", "BLACK MEN"),
        ("young-asian-girl", "young-asian-boy"), ("Latina", "Latino"), ("policewoman", "policeman"), ("trans woman", "trans man"),
        ("woman smiling", "man smiling"), ("female doctor", "male doctor"), ("woman or girl", "man or boy"), ("she/her", "he/him"),
    ],
)  # fmt: skip
def test_a_phrase_about_women_is_read_as_the_one_about_men(woman: str, man: str, spelled: str) -> None:
    hers, his = (read(spelled.replace("{}", tag)) for tag in (woman, man))
    assert "feminine" in hers
    assert {{"feminine": "masculine"}.get(cluster, cluster) for cluster in hers} == his


@pytest.mark.parametrize(
    ("tag", "clusters"),
    [
        ("togetherness", {"emotion", "person"}), ("serenity", {"emotion"}), ("patriotism", {"other"}), ("generosity", {"traits"}),
        ("calamity", {"other"}), ("negotiation", {"other"}), ("privacy", {"other"}), ("empathy", {"emotion"}),
        ("nomad", {"occupation"}), ("sibling", {"person"}), ("unicorn", {"concrete"}), ("rusty abacus", {"concrete"}),
        ("miniature pinscher", {"concrete"}), ("climb", {"concrete"}), ("learn", {"other"}), ("two", {"other"}),
        ("qwxz", set()), ("big qwxz", set()), ("qwxz of zumba", set()),
    ],
)  # fmt: skip
def test_words_that_no_list_holds_are_read_by_wordnet(tag: str, clusters: set[str]) -> None:
    assert read(tag) == clusters


def test_wordnet_reads_no_slur_and_a_users_typology_only_as_its_own_entries() -> None:
    table = wordnet.load()
    slurs = read_list("demeaning").filter(kind="slur")["term"]
    heads = {table.from_wnid(term).partition(".")[0] for term in slurs if wordnet.WNID.fullmatch(term)}
    words = sorted(head for head in heads if head not in KNOWN and "_" not in head)
    assert len(words) > 20
    people = GENDERS | {"occupation", "origin", "person"}
    assert set(classify_tags(words)["sub_cluster"]).isdisjoint(people)
    own = {"woman": frozenset({"feminine"}), "man": frozenset({"masculine"})}
    assert read_tags(["calamity", "man_or_woman", "they", "a_woman"], own) == {"a_woman": ("woman",)}


def test_classes_of_pictures_are_read() -> None:
    with (FOLDER / "imagenet_classes.csv").open(encoding="utf-8") as file:
        names = {normalise(row["name"]) for row in csv.DictReader(file)}
    assert len(read_tags(names, KNOWN)) / len(names) > 0.99


def test_clusters_of_a_denied_tag_are_null() -> None:
    assert classify_tags(["no woman", "woman"]).rows() == [
        ("no woman", None, None),
        ("woman", "demographics", "feminine"),
    ]


def test_a_tag_as_long_as_a_page_is_read_by_its_end() -> None:
    assert read("very " * 5_000 + "old woman") == {"feminine", "age"}
