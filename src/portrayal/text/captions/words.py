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


# Things that people wear, carry or lean on, read as lists before anything is parsed: 'a black suit and red tie'.

_BEFORE = lexicon.word_set("in with on wearing wear wears without of using holding carrying")
_LISTED = frozenset([",", "and"])


def show_things(words: Words) -> Words:
    """Show each thing worn, and each list of them, as one `hat` after the first determiner."""
    shown: Words = []
    place = 0
    while place < len(words):
        before = shown[-1].said if shown else ""
        end, things = _list(words, place, before)
        if not things and before in _BEFORE and _is_worn_colour(words, place):
            # As an attribute of the person, black would be a race.
            end, things = place + 1, [Thing(f"{words[place].said} clothing")]
        if not things:
            shown.append(words[place])
            place += 1
            continue
        if words[place].said in lexicon.DETERMINERS:
            shown.append(words[place])
        several = len(things) > 1 or lexicon.is_plural(things[0].name) or _is_plural(words[end - 1])
        one = words[place].said in lexicon.SINGULAR or not several
        shown.append(Word(words[end - 1].said, "hat" if one else "hats", tuple(things)))
        place = end
    return shown


def _is_worn_colour(words: Words, place: int) -> bool:
    """Say whether a colour stands for clothes of it: 'a woman in black', but not 'in black and white'."""
    following = words[place + 1].said if place + 1 < len(words) else "."
    if words[place].said not in lexicon.COLOURS or following in ("and", ",", "or"):
        return False
    return not lexicon.may_describe(following) or (_ends_before(following) and not lexicon.is_adjective(following))


def _is_plural(word: Word) -> bool:
    return lexicon.is_plural(word.said)


def _list(words: Words, start: int, before: str) -> tuple[int, list[Thing]]:
    """Return where a list of things worn that begins here ends, and the things; none where there is no such list."""
    end, thing = _item(words, start, before)
    things = [thing] if thing else []
    while thing and end < len(words):
        commas = end
        while commas < len(words) and words[commas].said in _LISTED:
            commas += 1
        if commas == end:
            break
        further, thing = _item(words, commas, "with")
        if thing:
            end = further
            things.append(thing)
    return end, things


def _item(words: Words, start: int, before: str) -> tuple[int, Thing | None]:
    """Return the end of one thing and the thing: a determiner, what describes it, its noun."""
    place = start
    if place < len(words) and words[place].said in lexicon.DETERMINERS:
        place += 1
    elif before not in _BEFORE:
        return start, None
    noun = _noun(words, place)
    if noun is None:
        return start, None
    modifiers = [word.said for word in words[place:noun] if word.said not in ("and", ",")]
    name = words[noun].said
    while modifiers and not lexicon.is_adjective(modifiers[-1]):
        name = f"{modifiers.pop()} {name}"
    return noun + 1, Thing(lexicon.base_of_noun(name), tuple(modifiers))


def _noun(words: Words, place: int) -> int | None:
    """Return where the noun of a thing worn is, if what is here leads up to one and nothing more belongs to it."""
    found = None
    for at in range(place, min(place + 6, len(words))):
        said = words[at].said
        if lexicon.is_worn(said) and not _is_something_else(words, place, at, found):
            found = at
        elif found is not None or not _leads(words, at):
            break
    if found is None:
        return None
    following = words[found + 1].said if found + 1 < len(words) else ""
    if lexicon.is_noun(following) and not lexicon.is_plural(words[found].said) and not _ends_before(following):
        return None
    return found


def _is_something_else(words: Words, start: int, noun: int, found: int | None) -> bool:
    """Say whether what could be worn is a verb here, a place, or a glass: 'ties a knot', 'top of', 'two glasses'."""
    said = words[noun].said
    of = noun + 1 < len(words) and words[noun + 1].said == "of"
    if said == "glasses":
        described = [word.said for word in words[start:noun]]
        return of or any(said in lexicon.NUMBERS or not lexicon.is_adjective(said) for said in described)
    if lexicon.verb_base(said) and noun > start:
        return begins_singular(words, noun) or (found is not None and lexicon.is_plural(words[found].said))
    return of and said in ("top", "cap", "bag", "trunk", "ring")


def _leads(words: Words, at: int) -> bool:
    said = words[at].said
    if said in ("and", ","):  # between two adjectives
        around = words[at - 1 : at] + words[at + 1 : at + 2]
        return len(around) == 2 and all(lexicon.is_adjective(word.said) for word in around)
    if lexicon.is_person_noun(said) and not _is_worn_next(words, at):
        return False
    if lexicon.is_participle(said):
        return said in ("matching", "flowing", "glowing")
    return lexicon.is_adjective(said) or lexicon.is_noun(said)


def _is_worn_next(words: Words, at: int) -> bool:
    return at + 1 < len(words) and lexicon.is_worn(words[at + 1].said)


def _ends_before(following: str) -> bool:
    """Say whether a word that can be a noun is another thing here: 'a hat smiles', 'a suit talking', 'a hat full of'."""
    return bool(lexicon.verb_base(following)) or lexicon.is_participle(following) or lexicon.is_adjective(following)


# Verbs that could be nouns: 'a woman in a hijab smiles', 'a suit standing'.

KEPT = frozenset(["have", "be", "do"])
_OF_PLACE = lexicon.PREPOSITIONS - {"of"}


def show_verbs(words: Words) -> Words:
    """Show 'smiles' as 'will smile', and the first 'standing' of a caption that has no verb as 'is standing'."""
    shown: Words = []
    finite = False
    for place, word in enumerate(words):
        finite = (finite or word.said in lexicon.AUXILIARIES) and word.said not in lexicon.CLAUSES
        base = _finite(words, place, finite) or _plural(words, place, finite)
        if not base:
            shown.append(word)
            continue
        shown += [] if finite else [Word("", "will")]  # leaves the parser no choice, and the tense is not measured
        shown.append(Word(word.said, base, verb=base))
        finite = True
    has_verb = any(word.verb or word.said in lexicon.AUXILIARIES for word in shown)
    return _with_who(shown if has_verb else _with_is(shown))


def _finite(words: Words, place: int, finite: bool) -> str:
    """Return the base of the verb at a place if it is one in the third person, else nothing."""
    word = words[place]
    base = "" if word.things or place == 0 else lexicon.verb_base(word.said)
    if not base or base in KEPT:
        return ""
    following = words[place + 1].said if place + 1 < len(words) else "."
    has_object = following in lexicon.DETERMINERS or following in lexicon.PRONOUNS
    rather = has_object or lexicon.verb_rather_than_noun(word.said)
    if words[place - 1].said in ("and", ",", "or"):
        ends = has_object or following in lexicon.PREPOSITIONS or not following[0].isalpha()
        return base if finite and ends and rather else ""
    return base if not finite and _after_noun(words, place, rather) else ""


def _plural(words: Words, place: int, finite: bool) -> str:
    """Return the verb at a place if several people or things do it: 'two women wearing ties shake hands'."""
    word = words[place]
    if finite or place == 0 or word.things or not lexicon.is_verb_base(word.said):
        return ""
    before = words[place - 1]
    several = lexicon.is_plural(before.said) and _ends_noun(before)
    return word.said if several and _begins_plural(words) else ""


def _begins_plural(words: Words) -> bool:
    first = next((word for word in words if lexicon.is_noun(word.said) or word.things), None)
    return first is not None and lexicon.is_plural(first.said)


def _after_noun(words: Words, place: int, rather: bool) -> bool:
    before = words[place - 1]
    if before.said in ("who", "that", "which") or before.things:
        return True
    owned = before.said == "back" and place > 1 and words[place - 2].said in lexicon.POSSESSIVES  # 'on his back swims'
    if not _ends_noun(before) and not owned:
        return False
    if lexicon.is_person_noun(before.said) or lexicon.is_plural(before.said) or begins_singular(words, place):
        return True
    return owned or (rather and _begins_with_somebody(words))


def _begins_with_somebody(words: Words) -> bool:
    first = next((word for word in words if lexicon.is_noun(word.said)), None)
    return first is not None and lexicon.is_animate(first.said)


def _with_is(words: Words) -> Words:
    place = next((i for i, word in enumerate(words) if _may_be_said_of_first(words, i)), None)
    if place is None:
        return words
    first = next(word for word in words if lexicon.is_noun(word.said) or word.things)
    several = lexicon.is_plural(first.said) or any(word.said == "and" for word in words[:place] if not word.things)
    return [*words[:place], Word("", "are" if several else "is"), *words[place:]]


def _may_be_said_of_first(words: Words, place: int) -> bool:
    """Say whether a participle here tells what the first noun of a caption does."""
    said = words[place].said
    if not lexicon.is_participle(said) or place == 0 or not _ends_noun(words[place - 1]):
        return False
    before = words[:place]
    nouns = [i for i, word in enumerate(before) if word.things or lexicon.is_noun(word.said)]
    prepositions = [i for i, word in enumerate(before) if word.said in _OF_PLACE]
    if not prepositions:
        return True
    if prepositions[0] < nouns[0] or not any(lexicon.is_animate(words[i].said) for i in nouns if i < prepositions[0]):
        return False
    return not any(lexicon.is_animate(words[i].said) and not words[i].things for i in nouns if i > prepositions[0])


def _with_who(words: Words) -> Words:
    """Show 'a nurse helps a man wearing a hat' as 'a man who is wearing', so that nobody else is said to wear it."""
    shown: Words = []
    for place, word in enumerate(words):
        after_somebody = place > 2 and lexicon.is_person_noun(words[place - 1].said)
        if after_somebody and not word.verb and lexicon.is_participle(word.said):
            shown += [Word("who", "who"), Word("", "is")]
        shown.append(word)
    return shown


def _ends_noun(word: Word) -> bool:
    if word.things or lexicon.is_person_noun(word.said):
        return True
    if " " in word.said:
        return True
    return lexicon.is_noun(word.said) and not lexicon.is_participle(word.said) and not lexicon.is_adjective(word.said)
