"""What people wear, carry or lean on, read as lists before anything is parsed: 'a black suit and red tie'."""

from __future__ import annotations

from portrayal.text.captions import lexicon
from portrayal.text.captions.words import Thing, Word, Words, begins_singular

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
