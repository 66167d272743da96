"""The words of a caption as the dependency parser is shown them, each with what was said.

The parser is a small one, and it reads 'a man in a suit and tie standing' and 'a woman in a hijab smiles' wrongly, one
more often than the other: errors that differ by group. So it is shown plain words in place of hard ones. Everybody is
shown as `man`, whatever they were called; what people wear or lean on, and a whole list of it, as one `hat`; a verb that
could be a plural as what it is, `will smile`. The graph is then read with the words that were said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from portrayal.text.captions import lexicon


@dataclass(frozen=True)
class Thing:
    """One thing of a list: its name and its attributes."""

    name: str
    attributes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Word:
    """A word said, in lower case (empty where it was put in), and what the parser is shown in its place."""

    said: str
    shown: str
    things: tuple[Thing, ...] = ()  # where a word stands for a list of things
    verb: str = ""  # the base form, where it is known to be a verb


Words = list[Word]


@lru_cache(maxsize=50_000)
def plain_word(token: str, shouted: bool = False) -> Word:
    """Return a word as it was written, in lower case where everything was shouted."""
    return Word(token.lower(), token.lower() if shouted else token)


def join_hyphens(tokens: Sequence[str]) -> list[str]:
    """Return the tokens with hyphenated words in one piece: 't-shirt', 'middle-aged'."""
    joined: list[str] = []
    for token in tokens:
        before = joined[-1] if joined else ""
        opened = len(before) > 1 and before.endswith("-") and token[0].isalnum()
        if opened or (token == "-" and before[-1:].isalnum()):
            joined[-1] += token
        else:
            joined.append(token)
    return joined


def sentences(words: Words) -> Iterator[Words]:
    """Yield the words up to and including each full stop."""
    start = 0
    for place, word in enumerate(words):
        if word.said in (".", "!", "?", ";"):
            yield words[start : place + 1]
            start = place + 1
    if start < len(words):
        yield words[start:]


def join_compounds(words: Words) -> Words:
    """Join nouns that name one thing: 'fire hydrant', 'rocking chair', 'high heels'."""
    joined: Words = []
    for place, word in enumerate(words):
        before = joined[-1] if joined else None
        previous = words[place - 2].said if place > 1 else ""
        together = before is not None and lexicon.is_compound(before.said, word.said, previous)
        # 'A bus stops' is none.
        if before is None or not together or (lexicon.verb_base(word.said) and begins_singular(words, place)):
            joined.append(word)
        else:
            joined[-1] = Word(f"{before.said} {word.said}", word.shown)
    return joined


def begins_singular(words: Words, place: int) -> bool:
    """Say whether the nouns before a place follow 'a': then what ends in -s is no noun of theirs."""
    while place > 0 and lexicon.may_describe(words[place - 1].said):
        place -= 1
    return place > 0 and words[place - 1].said in lexicon.SINGULAR


def show_people(words: Words) -> Words:
    """Show everybody as `man` or `men`, and their pronouns as his."""
    return [_person(words, place) for place in range(len(words))]


def _person(words: Words, place: int) -> Word:
    word, following = words[place], words[place + 1 : place + 2]
    named = place > 0 and word.shown[0].isupper() and word.said not in lexicon.PEOPLE  # Wilson
    if word.verb or word.things or not word.said or named:
        return word
    shown = lexicon.PRONOUNS_SHOWN.get(word.said)
    if word.said == "her":
        shown = "his" if following and lexicon.may_begin_noun(following[0].said) else "him"
    elif shown is None and lexicon.is_person_noun(word.said):
        shown = "men" if lexicon.is_plural(word.said) else "man"
    if shown is None:
        return word
    return replace(word, shown=shown.capitalize() if word.shown[0].isupper() else shown)


def prepare(tokens: Sequence[str], steps: Sequence[Callable[[Words], Words]]) -> Words:
    """Return a caption's words after every step, sentence by sentence."""
    shouted = all(token.isupper() for token in tokens if token.isalpha())
    words = [plain_word(token, shouted) for token in join_hyphens(tokens)]
    prepared: Words = []
    for sentence in sentences(join_compounds(words)):
        for step in steps:
            sentence = step(sentence)
        prepared += sentence
    return prepared
