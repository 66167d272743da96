"""Vocabulary of prompts: the words and phrases a prompt may hold.

One list per noun in text/lexicons (prompt_countries.csv ...), each with its source beside it. A phrase lets its words through in that
order only: 'riding a horse' is known, 'riding' is not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from portrayal.safety.readings import PromptRefused
from portrayal.text.lexicons import read_lexicon

_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
NUMBER_WORDS: dict[str, int] = {
    **{word: value for value, word in enumerate(_UNITS.split())},
    **{word: 20 + 10 * place for place, word in enumerate(TENS)},
}


def joined_numbers(words: Sequence[str]) -> Iterator[int]:
    """Yield every number of the text; a ten and a unit are one.

    Examples
    --------
    >>> list(joined_numbers(["a", "forty", "five", "year", "old", "and", "17"]))
    [45, 17]
    """
    place = 0
    while place < len(words):
        word, following = words[place], words[place + 1] if place + 1 < len(words) else ""
        if word in TENS and NUMBER_WORDS.get(following, 0) in range(1, 10):
            yield NUMBER_WORDS[word] + NUMBER_WORDS[following]
            place += 1
        elif word in NUMBER_WORDS or word.isdigit():
            yield NUMBER_WORDS.get(word) if word in NUMBER_WORDS else int(word)  # type: ignore[misc]
        place += 1


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
