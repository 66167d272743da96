"""The inflected forms of an English word, by rule: plurals, third person, past and participle.

Query terms are removed from documents "including their inflected forms"; the authors' code compares noun
lemmas. Rules are enough here and need no model: a form that is no word simply never occurs. The rules over-
reach now and then ("united" also removes "unit"); docs/search.md says so.
"""

from __future__ import annotations

from functools import cache

VOWELS = frozenset("aeiou")

# Words that end like a plural and are none.
NOT_PLURAL = frozenset(
    ("news", "series", "species", "always", "perhaps", "politics", "lens", "bias", "gas", "christmas")
)

# Irregular families; every member removes all others.
_FAMILIES = (
    "man men",
    "woman women",
    "child children",
    "person people persons",
    "foot feet",
    "tooth teeth",
    "goose geese",
    "mouse mice",
    "ox oxen",
    "die dice",
    "crisis crises",
    "analysis analyses",
    "thesis theses",
    "criterion criteria",
    "phenomenon phenomena",
    "medium media",
    "index indices indexes",
    "begin begins began begun beginning",
    "break breaks broke broken breaking",
    "bring brings brought bringing",
    "build builds built building buildings",
    "buy buys bought buying",
    "catch catches caught catching",
    "choose chooses chose chosen choosing",
    "come comes came coming",
    "deal deals dealt dealing",
    "draw draws drew drawn drawing drawings",
    "drive drives drove driven driving",
    "eat eats ate eaten eating",
    "fall falls fell fallen falling",
    "feel feels felt feeling feelings",
    "fight fights fought fighting",
    "find finds found finding findings",
    "fly flies flew flown flying",
    "get gets got gotten getting",
    "give gives gave given giving",
    "go goes went gone going",
    "grow grows grew grown growing",
    "hear hears heard hearing",
    "hide hides hid hidden hiding",
    "hold holds held holding",
    "keep keeps kept keeping",
    "know knows knew known knowing",
    "lead leads led leading",
    "leave leaves left leaving",
    "lose loses lost losing",
    "make makes made making",
    "mean means meant meaning",
    "meet meets met meeting meetings",
    "pay pays paid paying",
    "rise rises rose risen rising",
    "run runs ran running",
    "say says said saying",
    "see sees saw seen seeing",
    "sell sells sold selling",
    "send sends sent sending",
    "shoot shoots shot shooting",
    "sing sings sang sung singing",
    "sit sits sat sitting",
    "sleep sleeps slept sleeping",
    "speak speaks spoke spoken speaking",
    "spend spends spent spending",
    "stand stands stood standing",
    "steal steals stole stolen stealing",
    "strike strikes struck striking",
    "swim swims swam swum swimming",
    "take takes took taken taking",
    "teach teaches taught teaching",
    "tell tells told telling",
    "think thinks thought thinking",
    "throw throws threw thrown throwing",
    "understand understands understood understanding",
    "wear wears wore worn wearing",
    "win wins won winning",
    "write writes wrote written writing writings",
)
IRREGULAR = {form: frozenset(family.split()) for family in _FAMILIES for form in family.split()}


@cache
def forms(word: str) -> frozenset[str]:
    """Return the word and every form its possible base forms can take.

    Examples
    --------
    >>> sorted(forms("nurses") & {"nurse", "nurses", "nursing", "nursery"})
    ['nurse', 'nurses', 'nursing']
    """
    found = {word, *IRREGULAR.get(word, ())}
    for base in bases(word):
        found |= _inflect(base) | IRREGULAR.get(base, frozenset())
    return frozenset(found)


@cache
def bases(word: str) -> frozenset[str]:
    """Return the word and what it may be an inflected form of."""
    found = {word, *_singulars(word)}
    for ending in ("ed", "ing"):
        if word.endswith(ending):
            found |= _before(word.removesuffix(ending))
    return frozenset(base for base in found if base == word or (len(base) > 2 and VOWELS & set(base)))


def _singulars(word: str) -> set[str]:
    """Undo -men, -ies, -ves, -es and -s."""
    if word in NOT_PLURAL or not word.endswith(("s", "men")) or word.endswith(("ss", "us", "is")):
        return set()
    if word.endswith("men"):
        return {word[:-2] + "an"}
    found = {word[:-1]}
    if word.endswith("ies"):
        found.add(word[:-3] + "y")
    if word.endswith("ves"):
        found |= {word[:-3] + "f", word[:-3] + "fe"}
    if word.endswith(("ses", "xes", "zes", "ches", "shes", "oes")):
        found.add(word[:-2])
    return found


def _before(stem: str) -> set[str]:
    """Return what stood before -ed or -ing: the stem, with e, with y for i, or without the doubled letter."""
    found = {stem, stem + "e"}
    if stem.endswith("i"):
        found.add(stem[:-1] + "y")
    if len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "aeiosl":
        found.add(stem[:-1])
    return found


def _inflect(base: str) -> set[str]:
    """Return the regular noun and verb forms of a base."""
    found = {base, base + "s", base + "ed", base + "ing"}
    if base.endswith("e"):
        found |= {base + "d", base[:-1] + "ing"}
    if base.endswith("y") and len(base) > 2 and base[-2] not in VOWELS:
        found |= {base[:-1] + "ies", base[:-1] + "ied"}
    if base.endswith(("s", "x", "z", "ch", "sh", "o")):
        found.add(base + "es")
    if base.endswith("man"):
        found.add(base[:-2] + "en")
    if base.endswith(("f", "fe")):
        found.add(base.removesuffix("e").removesuffix("f") + "ves")
    if len(base) > 2 and base[-1] not in "aeiouwxy" and base[-2] in VOWELS and base[-3] not in VOWELS:
        found |= {base + base[-1] + "ed", base + base[-1] + "ing"}
    return found
