"""English number words read as whole numbers, for the ages a prompt may name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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
    """Yield every number of the text; a ten and a unit after it are one number.

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
