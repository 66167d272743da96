"""The guard against lists of prompts: what it lets through, and the rules that keep the rest out."""

import time
from collections import Counter

import pytest

from portrayal.safety.guard import LONGEST, PromptRefused, check_prompt
from portrayal.safety.vocabulary import (
    LISTS,
    NUMBER_WORDS,
    allowed_entries,
    longest_entry,
    negative_words,
    read_entries,
    refuse_listed,
)
from portrayal.text.lexicons import FOLDER, read_lexicon
from safety.prompt_lists import read

KINDS = {"country": 25, "place": 25, "activity": 25, "occupation": 25, "trait": 20, "demonym": 15, "combined": 15}


def test_the_longest_known_phrase_is_read_first():
    kinds = {"a": "function", "flight attendant": "occupation", "from": "function", "kenya": "country"}
    assert read_entries(["a", "flight", "attendant", "from", "kenya"]) == list(kinds.items())


def passes(prompt):
    try:
        check_prompt(prompt)
    except PromptRefused:
        return False
    return True


@pytest.mark.parametrize("part", ["tune", "held_out"])
def test_harmless_prompts_about_adults_pass(part):
    rows = read(f"{part}.csv")
    assert Counter(row["kind"] for row in rows) == KINDS
    assert {row["part"] for row in rows} == {part}
    # 95% of 150 is 142.5
    assert sum(passes(row["prompt"]) for row in rows) >= 143


def test_no_prompt_is_in_two_lists():
    lists = [{row["prompt"] for row in read(name)} for name in ("tune.csv", "held_out.csv", "refused.csv")]
    assert (
        len(set.union(*lists))
        == sum(map(len, lists))
        == sum(len(read(f"{n}.csv")) for n in ("tune", "held_out", "refused"))
    )


def test_every_country_and_every_demonym_passes():
    for name, said in (("prompt_countries", "a person from {}"), ("prompt_demonyms", "a photo of a {} person")):
        words = read_lexicon(name)["word"].to_list()
        assert [word for word in words if not passes(said.format(word))] == []


def test_no_allowed_entry_holds_a_listed_word_or_a_number():
    for entry in allowed_entries():
        refuse_listed(entry)
        assert not set(entry.split()) & set(NUMBER_WORDS)
    # What lets a prompt say less than it seems to is in no entry of its own.
    assert not {"no", "not", "without", "only", "nothing", "off", "half", "like", "just", "through"} & set(
        allowed_entries()
    )


def test_every_list_names_its_source():
    for name in (*LISTS, "prompt_exceptions", "prompt_combinations", "prompt_refused"):
        assert len((FOLDER / f"{name}.source.md").read_text(encoding="utf-8")) > 100


def test_entries_are_plain_words_and_stand_in_one_list():
    entries = [word for name in LISTS for word, kind in read_lexicon(name).iter_rows() if kind != "negative"]
    assert len(entries) == len(set(entries))
    assert all(entry == " ".join(entry.lower().split()) and entry.isascii() for entry in entries)
    assert all(word.isalpha() for entry in entries for word in entry.split())


@pytest.mark.parametrize(
    ("fine", "refused"),
    [
        ("a school bus driver", "a school bus"),
        ("a school-bus driver", "a school b us driver"),
        ("a school bus driver", "a school bus driver at a school"),
        ("a college professor", "a college"),
        ("a small business owner", "a small owner of a business"),
        ("a kind woman", "a kind"),
        ("a legal secretary", "a legal woman"),
        ("a maid", "a french maid"),
        ("a hotel maid", "a hotel maid from Japan in a Japanese dress"),
        ("a teacher at a university", "a teacher"),
        ("a woman teaching adults", "a woman teaching"),
        ("a professor at a university", "a person at a university"),
        ("a man riding a horse", "a man riding a man"),
        ("a woman with short hair", "a short woman"),
        ("a man with dark skin", "a man with skin"),
        ("a woman wearing a blue dress", "a woman wearing blue flowers"),
        ("a man wearing his uniform", "a man with his uniform on a chair"),
        ("a man ironing a shirt", "a man ironing his shirt"),
        ("a nurse helping a man", "a nurse plowing a man"),
        ("a praying woman", "a man praying women"),
        ("a man by a lake", "a man in a blue lake"),
        ("a woman in a hotel", "a woman in a hotel room"),
        ("an adult Nigerian woman", "an adult Nigerian film"),
        ("a man watching a film", "an adult watching a film"),
        ("a 30-year-old man", "a 30 night old man"),
        ("a person - portrait", "a person -old"),
        ("a tall man", "a thin blouse"),
        ("a sailor in a suit", "a sailor suit"),
        ("a woman in Lagos at night", "a lady of the night"),
        ("a man looking into a microscope", "a man into a woman"),
    ],
)
def test_what_is_fine_and_what_is_not(fine, refused):
    check_prompt(fine)
    with pytest.raises(PromptRefused):
        check_prompt(refused)


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        ("a person from Kenya zorbing", r"'zorbing' is in none of the lists of neutral words; use a plainer"),
        ("a man riding", r"'riding' is known only in phrases such as 'ride?i?n?g? .*'"),
        ("a woman teaching", r"'teaching' needs one of: adults, university"),
        ("a maid, french", r"'maid' may not stand with 'french' \(a costume"),
        ("a woman wearing water", r"'wearing' is followed by 'water', which is no clothing"),
    ],
)
def test_a_refusal_is_one_line_that_names_the_word_and_says_what_to_do(prompt, said):
    with pytest.raises(PromptRefused, match=said) as caught:
        check_prompt(prompt)
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith("see docs/safety.md.")


def test_known_words_in_another_order_are_not_the_phrase():
    check_prompt("a woman playing chess")
    for prompt in ("a woman chess playing", "a woman playing", "a woman playing a woman"):
        assert not passes(prompt)


@pytest.mark.parametrize("piece", ["a ", "g ", "- ", ". ", "aa", "school bus driver ", "playing ", "ﷺ", "\u0301"])
def test_the_longest_text_is_judged_quickly(piece):
    passes("warm up the lists")
    started = time.perf_counter()
    passes((piece * LONGEST)[:LONGEST])
    assert time.perf_counter() - started < 0.5
    assert longest_entry() <= 8  # words looked at once for each word of a prompt


def test_negative_words_are_about_quality():
    assert "blurry" in negative_words()
    assert not {"adult", "old", "clothes", "dress"} & negative_words()
