"""Refused words, looked for in other alphabets, digits for letters, letters set apart or doubled.

A few phrases that hold a listed word are harmless ('school bus driver'): prompt_exceptions.csv names each with its reason.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from portrayal.errors import PortrayalError
from portrayal.text.lexicons import read_lexicon

ADVICE = (
    "Generators get neutral prompts about adults, such as 'a photo of a woman working as a nurse'; see docs/safety.md."
)


class PromptRefused(PortrayalError):
    """A prompt a live generator will not be given."""

    def __init__(self, why: str) -> None:
        super().__init__(f"the prompt for a generator was refused: {why}. {ADVICE}")


WHY = {"minor": "a word for a minor or a young person", "sexual": "a sexual word"}
# Letters of other alphabets that look like Latin ones.
LOOKALIKES = str.maketrans("авеікмнорстухѕјαβεικνορτυχο", "abeikmhopctyxsjabeikvoptuxo")
LEET = [str.maketrans("013457@$!|+", letters) for letters in ("oieastasiit", "oleastaslit")]


def refuse_listed(text: str) -> None:
    """Refuse a text that holds a listed word in any reading."""
    listed = _refused_words()
    for reading in _readings(text):
        for word in reading:
            if word in listed:
                raise PromptRefused(f"{word!r} is {WHY[listed[word]]}")


def without_exceptions(text: str) -> str:
    """Return the text with each harmless phrase replaced by what it is read as.

    Examples
    --------
    >>> without_exceptions("a photo of a school bus driver")
    'a photo of a bus driver'
    """
    pattern, read_as = _exceptions()
    return pattern.sub(lambda match: read_as[_spaced(match.group())], text)


def _spaced(phrase: str) -> str:
    return phrase.lower().replace("-", " ")


def _readings(text: str) -> Iterator[Sequence[str]]:
    """Yield the words of the text as it may be read."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    visible = "".join(c for c in folded if unicodedata.category(c) not in ("Cf", "Cc", "Mn") or c in "\t\n")
    decomposed = unicodedata.normalize("NFKD", visible)
    stripped = "".join(c for c in decomposed if not unicodedata.combining(c)).translate(LOOKALIKES)
    for reading in (visible, stripped, *(stripped.translate(table) for table in LEET)):
        yield re.findall(r"[^\W\d_]+", reading)
        yield re.findall(r"[^\W\d_]+", re.sub(r"(.)\1+", r"\1", reading))
        yield re.findall(r"[^\W\d_]+", re.sub(r"(?<=\b\w)[\s.\-_*/,]+(?=\w\b)", "", reading))
        yield re.findall(r"[^\W\d_]+", re.sub(r"(?<=\w)[.\-_*/']+(?=\w)", "", reading))
    # Listed words of scripts that put no spaces between words.
    yield [word for word in _refused_words() if not word.isascii() and ord(word[0]) > 0x2E80 and word in visible]


@cache
def _refused_words() -> Mapping[str, str]:
    return dict(read_lexicon("prompt_refused").select("word", "reason").iter_rows())


@cache
def _exceptions() -> tuple[re.Pattern[str], Mapping[str, str]]:
    """Return a pattern of the harmless phrases, longest first, and what each is read as."""
    read_as = dict(read_lexicon("prompt_exceptions").select("phrase", "read_as").iter_rows())
    phrases = sorted(read_as, key=len, reverse=True)
    pattern = "|".join(phrase.replace(" ", "[ -]") for phrase in phrases)
    # ASCII, so that no other letter passes for an English one by its upper case.
    return re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE | re.ASCII), read_as
