"""The guard of prompts: clothed, neutral prompts about adults, and nothing else.

The recorder calls this for every question to a generator, after the prompt is fully assembled. It fails
closed in four steps:

1. Every reading of the text (other alphabets, digits for letters, letters set apart, doubled letters) is searched
   for words for minors, young people and sexual content, so that a refusal says why (`readings`).
2. Every number, in digits or words, must be from 25 to 120.
3. Every remaining word must be in a list of neutral English words and phrases (`vocabulary`). What is not
   known is refused, whatever its language: no list of bad words is complete.
4. Known words must be meant as the lists mean them (`meaning`, `combinations`): no 'adult film', no 'wearing
   water', a number named where 'year' is.

There is no setting that widens this. Pure functions: text in, an error or nothing out.
"""

from __future__ import annotations

import re

from portrayal.safety.meaning import check_combinations, check_meaning
from portrayal.safety.readings import PromptRefused, refuse_listed, without_exceptions
from portrayal.safety.vocabulary import joined_numbers, negative_words, read_entries

__all__ = ["PromptRefused", "check_prompt", "refuse_listed"]

YOUNGEST, OLDEST = 25, 120
LONGEST = 300  # characters
PUNCTUATION = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-", "…": "."})


def check_prompt(text: str, negative: str = "") -> None:
    """Refuse a prompt unless every word is known to be neutral and about adults.

    Examples
    --------
    >>> check_prompt("a photo of a 45-year-old woman working as a nurse")
    """
    if not isinstance(text, str) or not text.strip():
        raise PromptRefused("it is empty or not a text")
    if len(text) > LONGEST:
        raise PromptRefused(f"it is longer than {LONGEST} characters")
    judged = without_exceptions(text)
    refuse_listed(judged)
    words = _words(judged)
    for number in joined_numbers(words):
        if not YOUNGEST <= number <= OLDEST:
            raise PromptRefused(f"{number} is not an age from {YOUNGEST} to {OLDEST}")
    entries = read_entries(words)
    check_meaning(entries)
    check_combinations(words, entries)
    _check_negative(negative)


def _words(text: str) -> list[str]:
    """Split into plain words and whole numbers; anything else is refused."""
    # No folding here: what is judged must be what is sent, and a superscript two before a five is not 25.
    plain = text.translate(PUNCTUATION).lower()
    if not plain.isascii() or not plain.isprintable():
        raise PromptRefused("it holds characters that are not plain English letters; write names without accents")
    words = [word for word in re.split(r"[\s,.;:()\"-]+|'s\b|'", plain) if word]
    for word in words:
        if not re.fullmatch(r"[a-z]+|[1-9][0-9]*", word):
            raise PromptRefused(f"{word!r} is neither a plain word nor a whole number")
    if not any(word.isalpha() for word in words):
        raise PromptRefused("it holds no word, and so may show anybody")
    if re.search(r"\d[.,]\d", plain):
        raise PromptRefused("it holds a number with a decimal point")
    if re.search(r"(?:^|[\s(,:])-+\w", plain):
        raise PromptRefused("a word has a minus before it, which generators read as its opposite")
    return words


def _check_negative(negative: str) -> None:
    """Refuse all but words of picture quality in a negative prompt."""
    if not isinstance(negative, str):
        raise PromptRefused("its negative prompt is not a text")
    for word in re.split(r"[\s,.;-]+", negative.lower()):
        if word and word not in negative_words():
            raise PromptRefused(f"{word!r} may not stand in a negative prompt")
