"""Senses of words: the synset that captions and labels mean by a word."""

from __future__ import annotations

from functools import lru_cache

from portrayal.text.captions.lexicon import PREPOSITIONS
from portrayal.text.lexicons import read_lexicon
from portrayal.text.words import wordnet
from portrayal.text.words.harm_lists import read_list

UNLISTED = (".unknown", ".prep")  # endings of what WordNet does not have


def synset_of(word: str, part: str) -> str | None:
    """Return the synset captions mean by a word or its head, else `.prep` or `.unknown`."""
    table = wordnet.load()
    words = word.split()
    if not words:
        return None
    if part == "v":
        is_verb = table.lemmas_of(words[0], "v") and words[0] not in _PREPOSITIONS
        return table.most_common(words[0], "v") if is_verb else f"{word}.prep"
    if part == "n" and words[-1] in ("female", "male"):  # animals in WordNet, people in captions
        return wordnet.PERSON
    whole = part != "n" or (len(words) > 1 and bool(table.lemmas_of(word, part)))
    looked_up = word if whole else words[-1]
    synset = _meant(word, part) or _meant(looked_up, part) or table.most_common(looked_up, part)
    if synset in wordnet.HUMANS:  # so that a label `person` and a caption's `human` are one thing
        return wordnet.PERSON
    return synset or f"{word}.unknown"


@lru_cache(maxsize=100_000)
def is_person(word: str, synset: str | None) -> bool:
    """Return True for a noun that is a person; `female` is no animal."""
    if word.split()[-1] in identity_nouns():
        return True
    if synset is None or synset.endswith(UNLISTED):
        return False
    return wordnet.load().is_person_synset(synset)


@lru_cache(maxsize=1)
def identity_nouns() -> frozenset[str]:
    """Return the identity adjectives that captions use as nouns."""
    return frozenset(read_list("identity_nouns")["term"])


def _meant(word: str, part: str) -> str | None:
    """Return the synset that captions mean by a noun, where it is not WordNet's first."""
    if part != "n":
        return None
    forms = (word, *(base.replace("_", " ") for base in wordnet.load().lemmas_of(word, part)))
    return next((caption_senses()[form] for form in forms if form in caption_senses()), None)


@lru_cache(maxsize=1)
def caption_senses() -> dict[str, str]:
    """Return noun -> synset, of nouns that captions mean otherwise than WordNet's first sense."""
    return dict(read_lexicon("caption_senses").select("term", "synset").iter_rows())


_PREPOSITIONS = PREPOSITIONS | {"full"}
