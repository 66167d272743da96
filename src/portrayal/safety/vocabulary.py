"""The words and phrases a prompt may hold, and a prompt read as a list of them.

One list per noun in text/lexicons (prompt_countries.csv, prompt_occupations.csv ...), each with its source
beside it. A phrase of several words lets its words through in that order only: 'riding a horse' is known,
'riding' is not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from portrayal.safety.number_words import NUMBER_WORDS
from portrayal.safety.refusal import PromptRefused
from portrayal.text.lexicons import read_lexicon

LISTS = (
    "prompt_words",
    "prompt_adults",
    "prompt_countries",
    "prompt_demonyms",
    "prompt_places",
    "prompt_activities",
    "prompt_occupations",
    "prompt_traits",
    "prompt_things",
)

Entry = tuple[str, str]  # what was said, and its kind


def read_entries(words: Sequence[str]) -> list[Entry]:
    """Return the words as known entries, the longest known phrase first.

    Examples
    --------
    >>> read_entries(["a", "flight", "attendant", "from", "kenya"])
    [('a', 'function'), ('flight attendant', 'occupation'), ('from', 'function'), ('kenya', 'country')]
    """
    entries: list[Entry] = []
    place = 0
    while place < len(words):
        entry = _longest(words, place)
        if entry is None:
            raise PromptRefused(_unknown(words[place]))
        entries.append(entry)
        place += entry[0].count(" ") + 1
    return entries


def _longest(words: Sequence[str], place: int) -> Entry | None:
    known = allowed_entries()
    for size in range(longest_entry(), 0, -1):
        phrase = " ".join(words[place : place + size])
        if phrase in known:
            return phrase, known[phrase]
    word = words[place]
    return (word, "number") if word.isdigit() or word in NUMBER_WORDS else None


def _unknown(word: str) -> str:
    """Say what is not known and what to do about it."""
    phrases = [entry for entry in allowed_entries() if word in entry.split()]
    if phrases:
        return f"{word!r} is known only in phrases such as {phrases[0]!r}; use one of them or leave it out"
    return (
        f"{word!r} is in none of the lists of neutral words; use a plainer English word for it, or propose it with "
        "your reasons"
    )


@cache
def allowed_entries() -> Mapping[str, str]:
    """Return every word and phrase a prompt may hold, with its kind."""
    rows = (row for name in LISTS for row in read_lexicon(name, columns=("word", "kind")).iter_rows())
    return {word: kind for word, kind in rows if kind != "negative"}


@cache
def longest_entry() -> int:
    """Return the number of words of the longest phrase."""
    return max(entry.count(" ") for entry in allowed_entries()) + 1


@cache
def negative_words() -> frozenset[str]:
    """Return the words a negative prompt may hold."""
    rows = read_lexicon("prompt_words", columns=("word", "kind")).iter_rows()
    return frozenset(word for word, kind in rows if kind == "negative")
