"""Classes of single words of captions (worn, person, verb, colour), from short lists and WordNet."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

from portrayal.text.words import wordnet
from portrayal.text.words.harm_lists import read_list

LISTS = tomllib.loads((Path(__file__).parent / "words.toml").read_text(encoding="utf-8"))


def word_set(text: str) -> frozenset[str]:
    """Return the words of a line."""
    return frozenset(text.split())


_NAMES = (
    "determiners", "possessives", "singular", "numbers", "prepositions", "conjunctions", "clauses", "auxiliaries", "adverbs",
    "pronouns", "colours", "sides", "parts", "is_so", "people", "people_not", "worn", "plural_only", "things_in_ing",
)  # fmt: skip
(
    DETERMINERS, POSSESSIVES, SINGULAR, NUMBERS, PREPOSITIONS, CONJUNCTIONS, CLAUSES, AUXILIARIES, ADVERBS, PRONOUNS, COLOURS, SIDES,
    PARTS, IS_SO, PEOPLE, PEOPLE_NOT, WORN, PLURAL_ONLY, THINGS_IN_ING,
) = (word_set(LISTS[name]) for name in _NAMES)  # fmt: skip
WORN_ROOTS = tuple(LISTS["worn_roots"].replace("\n", " ").strip().split(", "))
FIXED_PAIRS = frozenset(LISTS["fixed_pairs"].replace("\n", " ").strip().split(", "))
FUNCTION = DETERMINERS | PREPOSITIONS | CONJUNCTIONS | CLAUSES | AUXILIARIES | ADVERBS | PRONOUNS
# 'Their' of one person is 'his' of another: shown alike, they cannot be read differently.
PRONOUNS_REPLACED = {
    **dict.fromkeys(("herself", "themself", "themselves"), "himself"),
    "she": "he", "him": "him", "their": "his", "them": "him",
}  # fmt: skip


@cache
def base_of_noun(word: str) -> str:
    """Return the singular of a noun's last word by WordNet; 'vases' gives vase, not vas."""
    if word in PLURAL_ONLY:
        return word
    before, _, head = word.rpartition(" ")
    if head in PLURAL_ONLY:
        return word
    table = wordnet.load()
    forms = [form for form in table.lemmas_of(head, "n") if form != head]
    if not forms and head.endswith(("children", "men")) and not table.lemmas_of(head, "n"):  # 'schoolchildren'
        forms = [head[:-3] if head.endswith("children") else f"{head[:-3]}man"]
    single = max(forms, key=lambda form: table.count(form, "n"), default=head)  # 'bunches' are no Bunche
    return f"{before} {single}".strip()


@cache
def is_plural(word: str) -> bool:
    """Return whether a noun is written in the plural."""
    head = word.rpartition(" ")[2]
    return head in PLURAL_ONLY or head in ("people", "men", "women") or base_of_noun(head) != head


@cache
def verb_base(word: str) -> str:
    """Return the base of a verb's third person ('smiles': smile), or nothing."""
    if not word.endswith("s") or word.endswith("ss") or len(word) < 4 or word in FUNCTION or " " in word:
        return ""
    forms = [form for form in wordnet.load().lemmas_of(word, "v") if form != word]
    return forms[0] if forms else ""


@cache
def is_verb_base(word: str, sure: bool = False) -> bool:
    """Return whether a word is a base form, and `sure` or rather a verb."""
    known = word not in FUNCTION and word[:1].isalpha() and word in wordnet.load().lemmas_of(word, "v")
    return known and ((sure and not is_plural(word)) or verb_rather_than_noun(word))


@cache
def is_participle(word: str) -> bool:
    """Return whether a word is a verb's -ing form and no noun of its own."""
    if word in THINGS_IN_ING or not word.endswith("ing"):
        return False
    return any(form != word for form in wordnet.load().lemmas_of(word, "v"))


@cache
def is_noun(word: str) -> bool:
    """Return whether a word can be a noun and is no function word."""
    if word in FUNCTION or word in NUMBERS or not word[:1].isalpha():
        return False
    return bool(wordnet.load().lemmas_of(word.rpartition(" ")[2], "n"))


@cache
def is_foreign(word: str) -> bool:
    """Return whether WordNet has a word neither as a noun nor as anything else: 'gele'."""
    known = word in FUNCTION or word in NUMBERS or not word.isalpha() or word in identity_adjectives()
    return not known and not any(wordnet.load().lemmas_of(word, part) for part in "navr")


@cache
def identity_adjectives() -> frozenset[str]:
    """Return adjectives of identity, which the parser may take for nouns ('an arab woman')."""
    table = read_list("identity")
    return frozenset(table.filter(table["part"] == "a")["term"])


@cache
def is_only_noun(word: str) -> bool:
    """Return whether a word is a noun and never an adjective: 'popcorn'."""
    known = is_noun(word) and not {"-", " "} & set(word) and word not in identity_adjectives()
    return known and not wordnet.load().lemmas_of(word, "a") and is_under(word, "physical_entity.n.01")


@cache
def is_adjective(word: str) -> bool:
    """Return whether a word before a noun describes it, without being in its name."""
    if word in COLOURS or word in NUMBERS or word in SIDES or "-" in word or word in identity_adjectives():
        return True
    table = wordnet.load()
    if word in FUNCTION or not word[:1].isalpha():
        return False
    if word.endswith("less") or (word.endswith("ed") and table.lemmas_of(word, "v")):
        return True
    return bool(table.lemmas_of(word, "a")) and table.count(word, "a") >= table.count(word, "n")


@cache
def verb_rather_than_noun(word: str) -> bool:
    """Return whether a form is more often a verb than a noun in tagged texts."""
    table = wordnet.load()
    return table.count(word, "v") > table.count(word, "n")


@cache
def is_worn(word: str) -> bool:
    """Return whether a noun is something people wear, carry or lean on."""
    single = base_of_noun(word.rpartition(" ")[2])
    if word in WORN or single in WORN:
        return True
    return is_noun(single) and (is_under(word, *WORN_ROOTS) or is_under(single, *WORN_ROOTS))


@cache
def is_person_noun(word: str) -> bool:
    """Return whether a noun can only be one person or several."""
    head = word.rpartition(" ")[2]
    if head in PEOPLE:
        return True
    if head in PEOPLE_NOT or not is_noun(head):
        return False
    table = wordnet.load()
    synset = table.most_common(head, "n")
    person = synset is not None and table.is_a(synset, wordnet.PERSON)
    return person and not table.lemmas_of(head, "v") and not table.lemmas_of(head, "a")


@cache
def is_under(word: str, *roots: str) -> bool:
    """Return whether a noun's most common synset lies under one of these."""
    table = wordnet.load()
    whole = " " in word and table.lemmas_of(word, "n")
    synset = table.most_common(word if whole else base_of_noun(word.rpartition(" ")[2]), "n")
    return synset is not None and any(table.is_a(synset, root) for root in roots)


@cache
def is_food(word: str) -> bool:
    """Return whether any sense of a noun is something to eat."""
    table = wordnet.load()
    return any(table.is_a(synset, root) for synset in table.synsets(word, "n") for root in ("food.n.01", "food.n.02"))


@cache
def is_animate(word: str) -> bool:
    """Return whether a noun is a person, people or an animal."""
    if not is_noun(word) or word in PEOPLE_NOT:
        return False
    table = wordnet.load()
    synset = table.most_common(base_of_noun(word.rpartition(" ")[2]), "n")
    return synset is not None and (table.is_person_synset(synset) or table.is_a(synset, "animal.n.01"))


@cache
def may_describe(word: str) -> bool:
    """Return whether a word can stand between 'a' and its noun."""
    return is_noun(word) or is_adjective(word) or (word.endswith("ly") and word not in FUNCTION)


def may_begin_noun(word: str) -> bool:
    """Return whether 'her' is possessive before this word: 'her dog', but 'her down', 'her a'."""
    if word in ("back", "top", "front", "home", "other", "own"):
        return True
    if word in FUNCTION or not word[:1].isalnum():
        return False
    return not is_participle(word) or " " in word


def is_compound(first: str, second: str, before: str) -> bool:
    """Return whether two neighbours name one thing, by the short list or by WordNet."""
    if not _may_be_compound(first, second):
        return False
    gerund = is_participle(first) and f"{first} {base_of_noun(second)}" not in FIXED_PAIRS
    return not gerund or before in DETERMINERS or before in PREPOSITIONS or is_adjective(before)


@cache
def _may_be_compound(first: str, second: str) -> bool:
    pair = f"{first} {base_of_noun(second)}"
    if pair in FIXED_PAIRS:
        return True
    if not is_noun(first) or not is_noun(second) or is_person_noun(first):
        return False
    if second in PEOPLE or (is_adjective(first) and first not in ("orange", "olive", "cream")):
        return False
    return bool(wordnet.load().lemmas_of(pair, "n"))
