"""Verbs of a caption that the parser could take for nouns: 'a hijab smiles'."""

from __future__ import annotations

from portrayal.text.captions import lexicon
from portrayal.text.captions.layout import HIDDEN
from portrayal.text.captions.words import Word, Words, begins_singular

_WHO = lexicon.word_set("who that which other another someone somebody everyone everybody neither none each one")
_SOME = lexicon.word_set("some others many most both all several")
_SAYS = lexicon.word_set("says saying reads reading")
_WHO_ACTS = lexicon.word_set("he she it")
_SPOTS = lexicon.word_set("left right middle center centre front back foreground background")
LIGHT_VERBS, SURE_VERBS = frozenset(["have", "be", "do"]), frozenset(["lack"])  # 'the sky lacks clouds'


def show_verbs(words: Words) -> Words:
    """Replace 'smiles' by 'will smile'; without a verb, the first 'standing' by 'is standing'."""
    result: Words = []
    finite = False
    for place, word in enumerate(words):
        finite = (finite or word.original in lexicon.AUXILIARIES) and word.original not in lexicon.CLAUSES
        base = _finite(words, place, finite) or _plural(words, place, finite)
        finite = finite or (
            place > 0 and words[place - 1].original in _WHO_ACTS and lexicon.verb_base(word.original) != ""
        )
        if not base:
            is_said = word.original == HIDDEN and place and words[place - 1].original in _SAYS
            goes_on = is_said and lexicon.verb_base(words[min(place + 1, len(words) - 1)].original)
            result.append(Word(HIDDEN, "so") if goes_on else word)  # 'a sign that says STOP hangs'
            continue
        result += [] if finite else [Word("", "will")]  # leaves the parser no choice, and the tense is not measured
        result.append(Word(word.original, base, verb=base))
        finite = True
    has_verb = any(word.verb or word.original in lexicon.AUXILIARIES for word in result)
    return _with_who(result if has_verb else _with_is(result))


def _finite(words: Words, place: int, finite: bool) -> str:
    """Return the base of a verb in the third person at a place, else nothing."""
    word = words[place]
    base = "" if word.things or place == 0 else lexicon.verb_base(word.original)
    male_models = word.original in lexicon.PEOPLE_NOT and words[place - 1].original in lexicon.identity_adjectives()
    if not base or base in LIGHT_VERBS or male_models:
        return ""
    following = words[place + 1].original if place + 1 < len(words) else "."
    has_object = following in lexicon.DETERMINERS | lexicon.PRONOUNS and following not in lexicon.CLAUSES
    rather = has_object or lexicon.verb_rather_than_noun(word.original)
    if words[place - 1].original in ("and", ",", "or"):
        ends = has_object or following in lexicon.PREPOSITIONS or not following[0].isalpha()
        sure = finite or (has_object and not lexicon.is_person_noun(word.original))
        return base if sure and ends and rather else ""
    if base in SURE_VERBS and not finite and words[place - 1].original not in lexicon.DETERMINERS:
        return base
    return base if not finite and _after_noun(words, place, rather) else ""


def _plural(words: Words, place: int, finite: bool) -> str:
    """Return the verb of a plural subject: 'two women wearing ties shake hands'."""
    word = words[place]
    following = words[place + 1].original if place + 1 < len(words) else "."
    before = words[place - 1]
    ends = following in lexicon.FUNCTION - lexicon.AUXILIARIES - {"of"} or not following[0].isalnum()
    sure = ends and (lexicon.is_person_noun(before.original) or following in lexicon.DETERMINERS)
    sure = sure or (place > 3 and lexicon.is_plural(following) and _are_two(words[:place]))
    if finite or place == 0 or word.things or not lexicon.is_verb_base(word.original, sure):
        return ""
    if word.original == "seem" or (
        before.original in _SOME and lexicon.is_plural(following) and not lexicon.is_plural(word.original)
    ):
        return word.original  # 'some wear masks'
    if words[0].original in lexicon.PREPOSITIONS and following in lexicon.SINGULAR | lexicon.NUMBERS:
        return word.original  # 'in front of her stand two lawyers'
    several = lexicon.is_plural(before.original) and _ends_noun(before)
    if several and sure and lexicon.PREPOSITIONS.isdisjoint(word.original for word in words[:place]):
        return word.original  # 'three wheelchair users race'
    if _are_two(words[:place]):  # 'a brother and sister blow bubbles'
        return word.original
    first = next((word for word in words if lexicon.is_noun(word.original) or word.things), None)
    return word.original if several and first is not None and lexicon.is_plural(first.original) else ""


def _are_two(words: Words) -> bool:
    """Return whether words end in two people joined by 'and'."""
    joint = max((place for place, word in enumerate(words) if word.original == "and"), default=0)
    between = words[joint + 1 : -1]
    both = joint > 0 and all(lexicon.is_animate(words[at].original) for at in (joint - 1, -1))
    plain = all(word.original in lexicon.DETERMINERS or lexicon.is_adjective(word.original) for word in between)
    start = not any(word.original in lexicon.PREPOSITIONS or word.verb for word in words)
    return both and plain and start


def _after_noun(words: Words, place: int, rather: bool) -> bool:
    before = words[place - 1]
    is_either = before.original == "neither" and any(word.original == "nor" for word in words)
    if (before.original in _WHO and not is_either) or before.things:
        return True
    if not lexicon.is_noun(words[place].original) and lexicon.is_noun(before.original):  # 'the image suggests'
        return True
    if before.original in _SPOTS and words[max(place - 2, 0)].original == "the":  # 'the one in the middle sticks out'
        return True
    if lexicon.is_foreign(before.original) and words[max(place - 2, 0)].original in lexicon.SINGULAR:  # 'a gele dances'
        return True
    if words[max(place - 2, 0)].original == "of" and before.original in lexicon.NUMBERS:  # 'a family of four poses'
        return True
    # 'On his back swims'.
    owned = before.original == "back" and place > 1 and words[place - 2].original in lexicon.POSSESSIVES
    if not _ends_noun(before) and not owned:
        return False
    if lexicon.is_person_noun(before.original) or lexicon.is_plural(before.original) or begins_singular(words, place):
        return True
    first = next((word for word in words if lexicon.is_noun(word.original)), None)
    return owned or (rather and first is not None and lexicon.is_animate(first.original))


def _with_is(words: Words) -> Words:
    place = next((i for i, word in enumerate(words) if _may_be_said_of_first(words, i)), None)
    if place is None:
        return words
    first = next(word for word in words if lexicon.is_noun(word.original) or word.things)
    joined = any(word.original == "and" for word in words[:place] if not word.things)
    several = joined or lexicon.is_plural(first.original)
    return [*words[:place], Word("", "are" if several else "is"), *words[place:]]


def _may_be_said_of_first(words: Words, place: int) -> bool:
    """Return whether a participle here tells what the first noun of a caption does."""
    name = words[place].original
    if not lexicon.is_participle(name) or place == 0 or not _ends_noun(words[place - 1]):
        return False
    before = words[:place]
    nouns = [i for i, word in enumerate(before) if word.things or lexicon.is_noun(word.original)]
    prepositions = [i for i, word in enumerate(before) if word.original in (lexicon.PREPOSITIONS - {"of"})]
    if not prepositions:
        return True
    earlier = [i for i in nouns if i < prepositions[0]]
    if prepositions[0] < nouns[0] or not any(lexicon.is_animate(words[i].original) for i in earlier):
        return False
    return not any(lexicon.is_animate(words[i].original) and not words[i].things for i in nouns if i > prepositions[0])


def _with_who(words: Words) -> Words:
    """Replace 'a man wearing' after a verb by 'a man who is wearing'."""
    result: Words = []
    for place, word in enumerate(words):
        after_somebody = place > 2 and lexicon.is_person_noun(words[place - 1].original)
        if after_somebody and not word.verb and lexicon.is_participle(word.original):
            result += [Word("who", "who"), Word("", "is")]
        result.append(word)
    return result


def _ends_noun(word: Word) -> bool:
    name = word.original
    if word.things or " " in name or lexicon.is_person_noun(name):
        return True
    return lexicon.is_noun(name) and not lexicon.is_participle(name) and not lexicon.is_adjective(name)
