"""Verbs that could be nouns, told apart before anything is parsed: 'a woman in a hijab smiles', 'a suit standing'."""

from __future__ import annotations

from portrayal.text.captions import lexicon
from portrayal.text.captions.words import Word, Words, begins_singular

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
