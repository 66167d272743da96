"""People of a caption: nouns and pronouns that mean somebody, with their groups and numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from portrayal.text.captions import dependency as tree
from portrayal.text.captions import lexicon
from portrayal.text.captions.senses import is_person, synset_of
from portrayal.text.captions.trees import NEGATED, Token, once
from portrayal.text.words.group_words import GENDER, NOUNS, PRONOUNS, group_words

AGE, CHILD = "age", "child"
SOMEBODY = lexicon.LISTS["somebody"].split()
SEVERAL = lexicon.word_set(lexicon.LISTS["several"])
_ROLES = lexicon.word_set(lexicon.LISTS["roles"])
_TITLES = frozenset(["dr", "prof", "mr", "mrs", "ms", "mx", "sir", "madam"])
_OUTLINES = frozenset(["figure", "model"])  # somebody, unless of something
_ONES, _EACH = (lexicon.word_set(lexicon.LISTS[name]) for name in ("ones", "each"))
_FIGURES = lexicon.word_set(lexicon.LISTS["figures"])  # shown, and not there: 'a statue of a man'
_NUMBERS = {word: place for place, word in enumerate(lexicon.LISTS["counts"].split())}
_NUMBERS |= {"single": 1, "lone": 1, "both": 2, "couple": 2, "pair": 2, "duo": 2, "twin": 2, "trio": 3}
_NUMBERS |= {"twins": 2, "triplets": 3, "quartet": 4, "quintet": 5, "dozen": 12}
Pairs = Iterable[tuple[str, str]]  # (axis, group)


class Person(NamedTuple):
    """Somebody a caption speaks of, or several who are spoken of together."""

    number: int | None  # None where the text leaves it open
    groups: Mapping[str, str]  # axis -> group, nothing where the text leaves it open
    mentions: tuple[str, ...]  # nouns and pronouns, as written
    conflicts: Mapping[str, tuple[str, ...]] = {}  # axis -> groups, of somebody called by words of several


@dataclass(eq=False)
class Somebody:
    """A person, or several, while a caption is read."""

    number: int | None
    token: Token | None  # the first noun for them
    mentions: list[str] = field(default_factory=list)
    groups: dict[str, set[str]] = field(default_factory=dict)
    is_several: bool = False
    is_part: bool = False  # whether they were taken out of several
    seen: tuple[int, int] = (0, 0)  # the last sentence that speaks of them, and the place in it

    def add(self, pairs: Pairs) -> None:
        """Note groups that a word names."""
        for axis, group in pairs:
            self.groups.setdefault(axis, set()).add(group)

    def names(self) -> set[str]:
        """Return the nouns for them in the singular."""
        return {lexicon.base_of_noun(word.split()[-1]) for word in self.mentions}

    def pairs(self) -> set[tuple[str, str]]:
        """Return all groups that words name."""
        return {(axis, group) for axis, groups in self.groups.items() for group in groups}

    def fits(self, pairs: Pairs) -> bool:
        """Return whether these groups contradict none of theirs."""
        return all(group in self.groups.get(axis, {group}) for axis, group in pairs)

    def person(self) -> Person:
        """Return them as the caption leaves them."""
        if CHILD in self.groups.get(AGE, ()):  # 'a young boy'
            self.groups[AGE] = {CHILD}
        groups = {axis: next(iter(said)) for axis, said in self.groups.items() if len(said) == 1}
        conflicts = {axis: tuple(sorted(said)) for axis, said in self.groups.items() if len(said) > 1}
        return Person(self.number, groups, tuple(dict.fromkeys(self.mentions)), conflicts)


@cache
def groups_of(term: str, pronoun: bool = False) -> tuple[tuple[str, str], ...]:
    """Return the (axis, group) pairs that a noun or a pronoun names."""
    words, kinds = group_words(), PRONOUNS if pronoun else NOUNS
    rows = words.find(term, *kinds) or words.find(term.rpartition(" ")[2], *kinds)
    pairs = [(row.axis, CHILD if (row.axis, row.age) == (AGE, CHILD) else row.group) for row in rows if row.group]
    pairs += [(AGE, CHILD) for row in rows if row.age == CHILD]
    return tuple(dict.fromkeys([*pairs, *group_words().groups(_title(term), "honorific")]))


def _title(name: str) -> str:
    title, _, rest = name.partition(" ")  # 'Mrs. Lee'
    return title.rstrip(".") if rest else ""


@cache
def groups_of_adjective(term: str) -> tuple[tuple[str, str], ...]:
    """Return the (axis, group) pairs that an adjective or a phrase names."""
    return group_words().groups(term, "adjective", "phrase")


def groups_before(token: Token) -> Iterator[tuple[str, str]]:
    """Yield the groups of the adjectives before a noun: 'a Black female mechanic'."""
    for child in token.lefts:
        if child.dep_ in ("amod", "compound", "nmod") and child.mood < NEGATED:
            yield from groups_of_adjective(child.original)


def groups_after(token: Token) -> tuple[tuple[str, str], ...]:
    """Return the groups of a phrase after a noun: 'with a disability'."""
    after = [one.original for one in token.tree.tokens[token.i + 1 : token.i + 6]]
    after = ["a" if word in lexicon.POSSESSIVES | {"the"} else word for word in after]  # 'in the wheelchair'
    if not after or after[0] not in ("with", "in", "on", "who", "using", "without"):
        return ()
    return next(
        (pairs for end in range(len(after), 1, -1) if (pairs := groups_of_adjective(" ".join(after[:end])))), ()
    )


@cache
def _is_pronoun(word: str) -> bool:
    return bool(group_words().find(word, *PRONOUNS)) or word in SOMEBODY


@cache
def is_basic(name: str) -> bool:
    """Return whether a noun says hardly more than that somebody is there: person, woman, boy."""
    return any(word.axis == GENDER for word in group_words().find(name, "noun"))


@cache
def is_grown(name: str) -> bool:
    """Return whether a noun can only mean adults: mother, grandfather."""
    return any(word.age == "adult" for word in group_words().find(name, *NOUNS))


@cache
def _is_somebody(name: str) -> bool:
    head = name.rpartition(" ")[2]
    known = {head, lexicon.base_of_noun(head)} & (SEVERAL | _ROLES) or name in _OUTLINES or _title(name) in _TITLES
    return bool(known or group_words().find(name, *NOUNS)) or is_person(name, synset_of(name, "n"))


def is_pronoun(token: Token) -> bool:
    """Return whether a word is a pronoun of people: she, they, someone."""
    return _is_pronoun(token.original) and not (token.dep_ == "compound" and token.head.i > token.i)


@once
def is_person_noun(token: Token) -> bool:
    """Return whether a noun means somebody who is there: no statue, and nobody denied."""
    owner = token.dep_ == "poss" and token.head.mood >= NEGATED  # 'instead of a chef's hat'
    if owner or token.mood >= NEGATED or token.word.things or not tree.is_noun(token):
        return False
    above, name, inner = counter(token), tree.names(token)[0], tree.of_what(token)
    if inner is not None and token.original in SEVERAL and tree.is_noun(inner) and not is_person_noun(inner):
        return False  # 'a pair of sandals', 'a family of ducks'
    if tree.of_what(token) is not None and name in _OUTLINES:  # 'a model of a ship'
        return False
    articles = {one.original for one in (*token.lefts, *token.head.lefts)} & {"a", "an"}
    if (
        token.dep_ == "poss"
        and articles
        and (token.tag_ == "NNS" or lexicon.is_under(token.head.original, "clothing.n.01"))
    ):
        return False  # 'a farmers' market', 'a nurse's uniform'
    return _is_somebody(name) and (above is None or above.original.rstrip("s") not in _FIGURES)


def part_number(token: Token) -> int | None:
    """Return how many of several a word takes, None where it leaves that open."""
    word = token.original
    return int(word) if word.isdecimal() else 1 if word in _ONES or word.endswith("est") else _NUMBERS.get(word)


def counter(noun: Token) -> Token | None:
    """Return the noun before 'of': the group in 'a group of people'."""
    return noun.head.head if noun.dep_ == "pobj" and noun.head.original == "of" else None


@once
def number_of(noun: Token) -> int | None:
    """Return how many a noun says, None where it leaves that open."""
    inner = tree.counted(noun)
    if inner is not None and noun.original not in _NUMBERS:  # 'a group of five women'
        return number_of(inner)
    last, above = noun.original.rpartition(" ")[2], counter(noun)
    if any(child.dep_ == "det" and child.original in _EACH for child in noun.lefts):  # 'neither adult'
        return None
    if above is not None and tree.counted(above) is not None and above.original in _NUMBERS:
        return _NUMBERS[above.original]
    words = [c.original for c in noun.lefts if c.dep_ in ("nummod", "det", "amod", "predet", "compound")]
    words += [] if last not in SEVERAL else _size(noun)
    if noun.tag_ == "NN" and last not in SEVERAL:
        words = [word for word in words if word != "twin"]  # 'a twin sister'
    numbers = [int(word) if word.isdecimal() else _NUMBERS.get(word) for word in words]
    numbers = [number for number in numbers if number is not None]
    is_open = last in SEVERAL or noun.tag_ in ("NNS", "NNPS") or lexicon.is_plural(last)
    return numbers[0] if numbers else _NUMBERS.get(last) if is_open else 1


def _size(noun: Token) -> list[str]:
    """Return the number after 'of': 'a family of four'."""
    of = [child for child in noun.children if child.original == "of"]
    return [one.original for child in of for one in child.children if one.tag_ == "CD"]


def mention(token: Token) -> str:
    """Return the word for somebody as it was written, with its compounds."""
    if is_pronoun(token):
        return token.original
    return f"{tree.names(token)[0].rpartition(' ')[0]} {token.original.rpartition(' ')[2]}".strip()
