"""Words, tags and numbers, each in the case that shows the rule."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from portrayal.errors import PortrayalError, check_name
from portrayal.tables.folds import Fold, run_folds
from portrayal.text import formatting
from portrayal.text.lexicons import read_lexicon
from portrayal.text.words import wordnet
from portrayal.text.words.harm_lists import mask
from portrayal.text.words.tag_spelling import normalise, spellings
from portrayal.text.words.tokens import words
from portrayal.text.words.typology import gender_of_form

WORDNET = wordnet.load()
CLAIM = "A does x (with y): 12% (95% interval 8 to 16%)."


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (formatting.visible("a\x00b"), "a␀b"),
        (formatting.number(0.4237), "0.42"),
        (formatting.number(-12.345), "−12.3"),
        (formatting.number(0.01234), "0.012"),
        (formatting.number(1234.5), "1,234"),
        (formatting.p_value(0.0004), "< .001"),
        (formatting.p_value(0.0316), ".032"),
        (formatting.p_value(1.0), "1"),
        (formatting.percent(0.1234), "12%"),
        (formatting.percent(-0.1234, 1), "−12.3%"),
        (formatting.parted("A does x: 12% (8 to 16%). It has no y."), ("A does x:", " 12% (8 to 16%). It has no y.")),
        (formatting.first_sentence(f"{CLAIM} It has no z."), CLAIM),
    ],
)
def test_numbers_and_sentences_are_written_as_people_read_them(written: Any, expected: Any) -> None:
    assert written == expected


@pytest.mark.parametrize(
    ("read", "expected"),
    [
        (read_lexicon("gender_pairs").row(0), ("she", "he")),
        (mask("clown"), "c****"),
        (mask("clown", show=True), "clown"),
        (gender_of_form("salesgirl"), "feminine"),
        (gender_of_form("busboy"), "masculine"),
        (gender_of_form("human"), ""),
        (normalise("  Wedding Gown "), "wedding_gown"),
        (list(spellings("eyes")), ["eyes", "eye"]),
        (words("The U.S. nurse's 2 cafés"), ["the", "u", "s", "nurse", "s", "2", "cafés"]),
        (WORDNET.count("smiles", "v") > WORDNET.count("smiles", "n"), True),
        (
            sorted(WORDNET.inflected("nurses") & {"nurse", "nurses", "nursing", "nursery"}),
            ["nurse", "nurses", "nursing"],
        ),
        (WORDNET.synsets("dogs", "v"), ("chase.v.01",)),
        (WORDNET.most_common("women"), "woman.n.01"),
        (WORDNET.most_common("red", "a"), "red.s.01"),
        (WORDNET.most_common("qwxz"), None),
        ([WORDNET.is_person(word) for word in ("surfer", "people", "surfboard")], [True, True, False]),
    ],
)
def test_words_are_read(read: Any, expected: Any) -> None:
    assert read == expected


def test_a_wrong_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(PortrayalError, match=r"^no ranker 'bm52'\. Did you mean 'bm25'\? Known: bm25, qlm\.$"):
        check_name("bm52", ["bm25", "qlm"], "ranker")


def test_a_fold_is_told_what_another_found_in_all_parts() -> None:
    vocabulary = Fold("words", lambda part, _: Counter(part), lambda sums, _: set(sums))
    size = Fold("size", lambda part, known: len(part) * len(known["words"]), lambda sums, _: sums, after=("words",))
    assert run_folds([size, vocabulary], lambda: [["a", "b"], ["a"]])["size"] == 6
