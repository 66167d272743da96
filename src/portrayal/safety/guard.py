"""What a live generator may be asked: clothed, neutral, occupational prompts about adults, and nothing else.

The recorder calls this for every question to a generator, after the prompt is fully assembled. It fails
closed in three steps:

1. Every reading of the text (other alphabets, digits for letters, letters set apart, doubled letters) is searched
   for words for minors, young people and sexual content, so that a refusal says why.
2. Every number, in digits or words, must be from 25 to 120, and a number must be named where 'year' is.
3. Every remaining word must be in a list of neutral English words (text/lexicons/prompt_words.csv). What is
   not known is refused, whatever its language: no list of bad words is complete.

There is no setting that widens this. Pure functions: text in, an error or nothing out.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from portrayal.errors import PortrayalError
from portrayal.safety.number_words import NUMBER_WORDS, joined_numbers
from portrayal.text.lexicons import read_lexicon

YOUNGEST, OLDEST = 25, 120
LONGEST = 300  # characters
WHY = {
    "minor": "a word for a minor or a young person",
    "sexual": "a sexual word",
}
ADVICE = (
    "Generators get neutral prompts about adults, such as 'a photo of a woman working as a nurse'; "
    "see docs/safety.md."
)
# Letters of other alphabets that look like Latin ones.
LOOKALIKES = str.maketrans("авеікмнорстухѕјαβεικνορτυχο", "abeikmhopctyxsjabeikvoptuxo")
LEET = [str.maketrans("013457@$!|+", letters) for letters in ("oieastasiit", "oleastaslit")]
PUNCTUATION = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-", "…": "."})


class PromptRefused(PortrayalError):
    """A prompt a live generator will not be given."""

    def __init__(self, why: str) -> None:
        super().__init__(f"the prompt for a generator was refused: {why}. {ADVICE}")


def check_prompt(text: str, negative: str = "") -> None:
    """Refuse a prompt unless every word of it is known to be neutral and about adults.

    Parameters
    ----------
    text
        The fully assembled prompt.
    negative
        The negative prompt; it may hold words of picture quality only.

    Raises
    ------
    PromptRefused
        With the reason; nothing is returned when the prompt may be asked.

    Examples
    --------
    >>> check_prompt("a photo of a 45-year-old woman working as a nurse")
    """
    if not isinstance(text, str) or not text.strip():
        raise PromptRefused("it is empty or not a text")
    if len(text) > LONGEST:
        raise PromptRefused(f"it is longer than {LONGEST} characters")
    refuse_listed(text)
    words = _words(text)
    _check_numbers(words)
    _check_known(words)
    _check_meaning(words)
    _check_negative(negative)


def refuse_listed(text: str) -> None:
    """Refuse a text that holds a listed word in any reading."""
    listed = _refused_words()
    for reading in _readings(text):
        for word in reading:
            if word in listed:
                raise PromptRefused(f"{word!r} is {WHY[listed[word]]}")


def _readings(text: str) -> Iterator[Sequence[str]]:
    """Yield the words of the text as it may be read."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    visible = "".join(c for c in folded if unicodedata.category(c) not in ("Cf", "Cc", "Mn") or c in "\t\n")
    stripped = _strip_accents(visible).translate(LOOKALIKES)
    for reading in (visible, stripped, *(stripped.translate(table) for table in LEET)):
        yield re.findall(r"[^\W\d_]+", reading)
        yield re.findall(r"[^\W\d_]+", re.sub(r"(.)\1+", r"\1", reading))
        yield re.findall(r"[^\W\d_]+", re.sub(r"(?<=\b\w)[\s.\-_*/,]+(?=\w\b)", "", reading))
        yield re.findall(r"[^\W\d_]+", re.sub(r"(?<=\w)[.\-_*/']+(?=\w)", "", reading))
    yield _without_spaces(visible)


def _without_spaces(text: str) -> list[str]:
    """Return the listed words found in a text of a script that puts no spaces between words."""
    return [
        word for word in _refused_words() if not word.isascii() and ord(word[0]) > 0x2E80 and word in text
    ]


def _strip_accents(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))


def _words(text: str) -> list[str]:
    """Split into plain words and whole numbers; anything else is refused."""
    # No folding here: what is judged must be what is sent, and a superscript two before a five is not 25.
    plain = text.translate(PUNCTUATION).lower()
    if not plain.isascii() or not plain.isprintable():
        raise PromptRefused("it holds characters that are not plain English letters")
    words = [word for word in re.split(r"[\s,.;:()\"-]+|'s\b|'", plain) if word]
    for word in words:
        if not re.fullmatch(r"[a-z]+|[1-9][0-9]*", word):
            raise PromptRefused(f"{word!r} is neither a plain word nor a whole number")
    if re.search(r"\d[.,]\d", plain):
        raise PromptRefused("it holds a number with a decimal point")
    return words


def _check_numbers(words: Sequence[str]) -> None:
    for number in joined_numbers(words):
        if not YOUNGEST <= number <= OLDEST:
            raise PromptRefused(f"{number} is not an age from {YOUNGEST} to {OLDEST}")


def _check_known(words: Sequence[str]) -> None:
    known = _allowed_words()
    for word in words:
        if not word.isdigit() and word not in known and word not in NUMBER_WORDS:
            raise PromptRefused(f"{word!r} is not in the list of neutral words")


def _check_meaning(words: Sequence[str]) -> None:
    """Refuse known words in an unknown sense: 'a year old', 'aged', 'adult' before anything but a person."""
    known = _allowed_words()
    before, after = ["", *words], [*words[1:], ""]
    for previous, word, following in zip(before, words, after, strict=False):
        number_before, number_after = (_is_number(other) for other in (previous, following))
        if word in ("year", "years") and not number_before:
            raise PromptRefused(f"{word!r} has no number before it")
        if word == "aged" and previous != "middle" and not number_after:
            raise PromptRefused("'aged' has no number after it")
        if word == "adult" and following and known.get(following) not in ("person", "function", "group"):
            raise PromptRefused(f"'adult {following}' is not a person")


def _check_negative(negative: str) -> None:
    """Refuse all but words of picture quality: a negative prompt asks for the opposite of its words."""
    if not isinstance(negative, str):
        raise PromptRefused("its negative prompt is not a text")
    for word in re.split(r"[\s,.;-]+", negative.lower()):
        if word and word not in _negative_words():
            raise PromptRefused(f"{word!r} may not stand in a negative prompt")


def _is_number(word: str) -> bool:
    return word.isdigit() or word in NUMBER_WORDS


@cache
def _allowed_words() -> Mapping[str, str]:
    words = read_lexicon("prompt_words", columns=("word", "kind")).iter_rows()
    return {word: kind for word, kind in words if kind != "negative"}


@cache
def _negative_words() -> frozenset[str]:
    words = read_lexicon("prompt_words", columns=("word", "kind")).iter_rows()
    return frozenset(word for word, kind in words if kind == "negative")


@cache
def _refused_words() -> Mapping[str, str]:
    return dict(read_lexicon("prompt_refused").select("word", "reason").iter_rows())
