"""Words of a caption, each with its substitute for the dependency parser.

The parser is small, and reads hard words ('a suit and tie', 'a hijab smiles') wrongly, more often for some groups. So everybody
is shown as `man`, worn things as one `hat`, and verbs as `will smile`; the graph is read with the words written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import pairwise

from portrayal.text.captions import lexicon
from portrayal.text.captions.layout import HIDDEN
from portrayal.text.words.group_words import NOUNS, group_words, spelled


@dataclass(frozen=True)
class Thing:
    """One thing of a list: its name and its attributes."""

    name: str
    attributes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Word:
    """A word as written, in lower case (empty if inserted), and its substitute."""

    original: str
    substitute: str
    things: tuple[Thing, ...] = ()  # where a word stands for a list of things
    verb: str = ""  # the base form, where it is known to be a verb


Words = list[Word]


@lru_cache(maxsize=50_000)
def plain_word(token: str, shouted: bool = False) -> Word:
    """Return a word as it was written, in lower case where everything was shouted."""
    if token == HIDDEN:  # a name leaves the parser the sentence that it stands in
        return Word(HIDDEN, "Alex")
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
        if word.original in (".", "!", "?", ";"):
            yield words[start : place + 1]
            start = place + 1
    if start < len(words):
        yield words[start:]


def join_compounds(words: Words) -> Words:
    """Join nouns that name one thing: 'fire hydrant', 'rocking chair', 'high heels'."""
    joined: Words = []
    for place, word in enumerate(words):
        before = joined[-1] if joined else None
        previous = words[place - 2].original if place > 1 else ""
        together = before is not None and lexicon.is_compound(before.original, word.original, previous)
        # 'A bus stops' is none.
        if before is None or not together or (lexicon.verb_base(word.original) and begins_singular(words, place)):
            joined.append(word)
        else:
            joined[-1] = Word(f"{before.original} {word.original}", word.substitute)
    return joined


def begins_singular(words: Words, place: int) -> bool:
    """Return whether the nouns before a place follow 'a', which no plural does."""
    while place > 0 and lexicon.may_describe(words[place - 1].original):
        place -= 1
    return place > 0 and words[place - 1].original in lexicon.SINGULAR


def show_people(words: Words) -> Words:
    """Show everybody as `man` or `men`, and their pronouns as his."""
    return [_person(words, place) for place in range(len(words))]


def _person(words: Words, place: int) -> Word:
    word, following = words[place], words[place + 1 : place + 2]
    if word.original in lexicon.identity_adjectives() and not word.things and _is_adjective(words, place):
        return replace(word, substitute="tall")  # 'is nonbinary', 'likely Hispanic or white'
    named = place > 0 and word.substitute[0].isupper() and word.original not in lexicon.PEOPLE  # Wilson
    if word.verb or word.things or not word.original or named:
        return word
    plain = lexicon.PRONOUNS_REPLACED.get(word.original)
    if word.original == "her":
        plain = "his" if following and lexicon.may_begin_noun(following[0].original) else "him"
    elif plain is None and lexicon.is_person_noun(word.original):
        plain = "men" if lexicon.is_plural(word.original) else "man"
    if plain is None:
        return word
    return replace(word, substitute=plain.capitalize() if word.substitute[0].isupper() else plain)


def _is_adjective(words: Words, place: int) -> bool:
    """Return whether 'nonbinary' stands without a noun after 'is' or 'probably', or 'male' before one."""
    before = words[place - 1].original if place else ""
    if before in ("or", "and", ",") and place > 1 and words[place - 2].original in lexicon.identity_adjectives():
        return place == 2 or _is_adjective(words, place - 2)
    following = words[place + 1] if place + 1 < len(words) else Word(".", ".")
    describes = lexicon.may_describe(following.original) and not following.verb
    is_male = describes and words[place].original in ("male", "female")
    if before == "as" and place > 1 and words[place - 2].original.startswith("identif"):  # 'may identify as male'
        return True
    is_noun = before == "one" and words[place].original in ("male", "female")  # 'one male, one female'
    is_said = before in lexicon.IS_SO and not describes and not is_noun
    return is_said or (is_male and not lexicon.is_participle(following.original))


def prepare(tokens: Sequence[str], steps: Sequence[Callable[[Words], Words]]) -> list[Words]:
    """Return the words of a caption's sentences after every step."""
    shouted = all(token.isupper() for token in tokens if token.isalpha())
    words = [plain_word(token, shouted) for token in join_hyphens(tokens)]
    prepared: list[Words] = []
    for sentence in sentences(join_terms(join_compounds(words))):
        for step in steps:
            sentence = step(sentence)
        prepared.append(sentence)
    return prepared


# Things that people wear, carry or lean on, read as lists before anything is parsed: 'a black suit and red tie'.
_BEFORE = lexicon.word_set("in with on wearing wear wears without of using holding carrying")
_DRESSED, _LISTED = _BEFORE - {"on", "of", "using"}, frozenset([",", "and"])


def show_things(words: Words) -> Words:
    """Replace worn things, and lists of them, by one `hat` after the first determiner."""
    result: Words = []
    place = 0
    while place < len(words):
        before = result[-1].original if result else ""
        end, things = _list(words, place, before)
        if not things and before in _DRESSED and _is_worn_colour(words, place):
            # As an attribute of the person, black would be a race.
            end, things = place + 1, [Thing(f"{words[place].original} clothing")]
        if not things:
            result.append(words[place])
            place += 1
            continue
        if words[place].original in lexicon.DETERMINERS:
            result.append(words[place])
        several = len(things) > 1 or lexicon.is_plural(things[0].name) or lexicon.is_plural(words[end - 1].original)
        one = words[place].original in lexicon.SINGULAR or not several
        result.append(Word(words[end - 1].original, "hat" if one else "hats", tuple(things)))
        place = end
    return result


def _is_worn_colour(words: Words, place: int) -> bool:
    """Return whether a colour means clothes: 'a woman in black', not 'in black and white'."""
    following = words[place + 1].original if place + 1 < len(words) else "."
    if words[place].original not in lexicon.COLOURS or following in ("and", ",", "or"):
        return False
    return not lexicon.may_describe(following) or (_ends_before(following) and not lexicon.is_adjective(following))


def _list(words: Words, start: int, before: str) -> tuple[int, list[Thing]]:
    """Return the end of a list of worn things that begins here, and the things."""
    end, thing = _item(words, start, before)
    things = [thing] if thing else []
    while thing and end < len(words):
        commas = end
        while commas < len(words) and words[commas].original in _LISTED:
            commas += 1
        denied = [words[place].original == "no" for place in (start, min(commas, len(words) - 1))]
        if commas == end or denied[0] != denied[1]:  # 'a hat and no shirt'
            break
        further, thing = _item(words, commas, "with")
        if thing:
            end = further
            things.append(thing)
    return end, things


def _item(words: Words, start: int, before: str) -> tuple[int, Thing | None]:
    """Return the end of one worn thing, and the thing: determiner, adjectives, noun."""
    place = start
    if place < len(words) and words[place].original in lexicon.DETERMINERS:
        place += 1
    elif before not in _BEFORE:
        return start, None
    noun = _noun(words, place)
    if noun is None:
        return start, None
    modifiers = [word.original for word in words[place:noun] if word.original not in ("and", ",")]
    name = words[noun].original
    while modifiers and not lexicon.is_adjective(modifiers[-1]):
        name = f"{modifiers.pop()} {name}"
    return noun + 1, Thing(lexicon.base_of_noun(name), tuple(modifiers))


def _noun(words: Words, place: int) -> int | None:
    """Return the place of a worn thing's noun, if these words lead to one."""
    noun = None
    for at in range(place, min(place + 6, len(words))):
        name = words[at].original
        if lexicon.is_worn(name) and not _is_something_else(words, place, at, noun):
            noun = at
        elif noun is not None or not _leads(words, at):
            break
    if noun is None:
        return None
    following = words[noun + 1].original if noun + 1 < len(words) else ""
    if lexicon.is_noun(following) and not lexicon.is_plural(words[noun].original) and not _ends_before(following):
        return None
    return noun


def _is_something_else(words: Words, start: int, noun: int, earlier: int | None) -> bool:
    """Return whether a wearable word is none here: 'ties a knot', 'top of', 'two glasses'."""
    name = words[noun].original
    following = words[noun + 1].original if noun + 1 < len(words) else ""
    if lexicon.verb_base(name) and following in lexicon.DETERMINERS - lexicon.CLAUSES:  # 'ties her boots'
        return True
    of = noun + 1 < len(words) and words[noun + 1].original == "of"
    if name == "glasses":
        described = [word.original for word in words[start:noun]]
        return of or any(name in lexicon.NUMBERS or not lexicon.is_adjective(name) for name in described)
    if lexicon.verb_base(name) and noun > start:
        return begins_singular(words, noun) or (earlier is not None and lexicon.is_plural(words[earlier].original))
    return of and name in ("top", "cap", "bag", "trunk", "ring")


def _leads(words: Words, at: int) -> bool:
    name = words[at].original
    if name in ("and", ","):  # between two adjectives
        around = words[at - 1 : at] + words[at + 1 : at + 2]
        return len(around) == 2 and all(lexicon.is_adjective(word.original) for word in around)
    if name in _BEFORE:  # 'some wear masks'
        return False
    worn_next = at + 1 < len(words) and lexicon.is_worn(words[at + 1].original)
    if lexicon.is_person_noun(name) and not worn_next:
        return False
    if lexicon.verb_base(name) and lexicon.verb_rather_than_noun(name):  # 'the vet wears scrubs'
        return False
    if lexicon.is_participle(name):
        return name in ("matching", "flowing", "glowing")
    return lexicon.is_adjective(name) or lexicon.is_noun(name)


def _ends_before(following: str) -> bool:
    """Return whether a possible noun is something else here: 'a hat smiles', 'a suit talking'."""
    return bool(lexicon.verb_base(following)) or lexicon.is_participle(following) or lexicon.is_adjective(following)


@cache
def _terms() -> tuple[dict[tuple[str, ...], str], frozenset[tuple[str, ...]]]:
    """Return adjectives of several words by their parts, and their first two parts."""
    every = [word.term for word in group_words() if word.kind == "adjective" or word.term.startswith("of ")]
    parts = {tuple(form.split()): spelled(term) for term in every for form in (term.lower(), spelled(term))}
    return parts, frozenset(term[:2] for term in parts if len(term) > 1)


def join_terms(words: Words) -> Words:
    """Show adjectives of several words as one before their noun: 'Middle Eastern', 'of African descent'."""
    terms, begins = _terms()
    said = [word.original for word in words]
    if begins.isdisjoint(pairwise(said)):
        return words
    joined: Words = []
    place = 0
    while place < len(words):
        size = next((n for n in (4, 3, 2) if place + n <= len(words) and tuple(said[place : place + n]) in terms), 1)
        term = terms.get(tuple(said[place : place + size]), "")
        following = said[place + size] if place + size < len(words) else "."
        alone = bool(joined) and joined[-1].original in lexicon.DETERMINERS and not lexicon.may_describe(following)
        if size == 1 or (group_words().find(term, *NOUNS) and alone):
            joined.append(words[place])  # 'an African American waits'
            size = 1
        else:
            after_noun = said[place] == "of" and joined and lexicon.is_person_noun(joined[-1].original)
            joined.insert(len(joined) - 1 if after_noun else len(joined), Word(term, "tall"))
        place += size
    return joined
