"""Readings of a dependency parse: subjects, objects, places, and antecedents of pronouns."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from portrayal.text.captions import lexicon
from portrayal.text.captions.layout import HIDDEN as WRITTEN
from portrayal.text.captions.lexicon import word_set
from portrayal.text.captions.trees import HIDDEN, NEGATED, Token, once
from portrayal.text.words import wordnet
from portrayal.text.words.group_words import GENDER, group_words

# 'a group of people': the people are what the caption speaks of, the group is a property of theirs.
QUANTITIES = word_set("group bunch couple pair lot lots number plenty variety dozen dozens hundreds series")
# 'on top of': the noun names a place of what follows and is no object of its own.
PLACES = word_set("front top middle side back edge center centre bottom end rear foot")
PRONOUNS, RELATIVE, NOBODY, INDEFINITE, _LAST_PARTS = (
    word_set(lexicon.LISTS[name]) for name in ("third_persons", "relative", "nobody", "indefinite", "last_parts")
)
LISTED = ("conj", "appos", "dobj")
_INHERITS = ("conj", "xcomp", "advcl", "ccomp", "pcomp", "prep", "acomp", "advmod", "dep", "parataxis")


@once
def is_noun(token: Token) -> bool:
    """Return whether a token can be an object of the scene."""
    lower = token.original
    if token.mood == HIDDEN or lower in PRONOUNS or lower in RELATIVE or lower in ("", "other", WRITTEN, *NOBODY):
        return False
    if token.word.things:
        return True
    if token.word.verb or lower[:3].isdigit():  # '1970s'
        return False
    if lower == "one" and [after.lower_ for after in token.tree.tokens[token.i + 1 : token.i + 2]] == ["another"]:
        return False
    if (lower in lexicon.PARTS or token.tag_ in ("JJR", "JJS")) and (token.people or token.mood == NEGATED):
        return False
    if token.text.lower() == "tall" and lower in lexicon.identity_adjectives():
        return False
    if lower in INDEFINITE and token.tag_ != "CD":
        return token.dep_ != "compound"
    if token.tag_ in ("NN", "NNS", "NNP", "NNPS"):
        known = token.dep_ not in ("compound", "npadvmod", "amod", "nummod", "quantmod") or token.head.i < token.i
        return known or (token.dep_ == "npadvmod" and is_animate(token))
    placed = token.dep_ in ("nsubj", "nsubjpass", "dobj", "pobj")
    known = (token.tag_ == "JJ" and lower not in lexicon.PARTS) or token.lower_ in ("man", "men")  # 'the homeless'
    if (known and placed) or not lexicon.is_noun(lower):
        return known and placed
    if token.tag_ in ("VB", "VBP"):  # 'Thread in many colors'
        first = token.dep_ == "ROOT" and token.i == 0
        return placed or (first and all(child.dep_ in ("prep", "punct", "conj", "cc") for child in token.children))
    article = any(child.original in lexicon.SINGULAR | lexicon.POSSESSIVES for child in token.lefts)
    return token.tag_ == "JJ" and token.dep_ in ("attr", "conj", "appos") and article  # 'there is a net'


@once
def is_verb(token: Token) -> bool:
    """Return whether a token is a verb, and neither an auxiliary nor a modifier."""
    if token.tag_[:2] != "VB" and (token.tag_ == "MD" or not (token.dep_ == "ROOT" and token.pos_ == "AUX")):
        return False
    return token.dep_ not in ("aux", "auxpass", "amod", "compound", "nsubj", "dobj", "pobj") and not is_noun(token)


@once
def lemma(token: Token) -> str:
    """Return the noun's singular, in lower case."""
    lower = token.original
    if lower == "glasses" and not token.word.things:
        return "glass"  # those that are worn were read before
    named = token.tag_ == "NNP" and not (token.text.islower() or token.i == 0)
    if token.tag_ == "NN" or named or lower in lexicon.PLURAL_ONLY:
        return lower
    base = lexicon.base_of_noun(lower)
    if base == lower and lower.endswith("s"):  # a word that WordNet lacks
        is_known = lower == token.lower_ and (token.lemma_.lower() != lower or lower.endswith(("ss", "us", "is")))
        return token.lemma_.lower() if is_known else lower[:-1]
    return base


def names(token: Token) -> list[str]:
    """Return the noun with its compounds (`cell phone`), or the name of each worn thing."""
    if token.is_open or token.original in PRONOUNS:
        return ["person" if all(one.number == 1 for one in token.people) else "people"]
    return written_names(token)


@once
def written_names(token: Token) -> list[str]:
    """Return a noun's names by its own words."""
    things = token.word.things
    if things:
        return [thing.name for thing in things]
    parts = [_part(child) for child in token.lefts if joins(child, token)]
    return [" ".join([*parts, lemma(token)])]


def _part(child: Token) -> str:
    inner = [_part(inner) for inner in child.lefts if inner.dep_ == "compound" and not is_adjective(inner)]
    return " ".join([*inner, "sports" if child.original == "sports" else lemma(child)])


def joins(child: Token, noun: Token) -> bool:
    """Return whether a modifier is part of a noun's name: 'fire hydrant', 'plastic sheet'."""
    if child.original in PRONOUNS:  # 'most of them women'
        return False
    if child.dep_ == "compound":
        return not is_adjective(child) and child.original not in ("", WRITTEN)
    named = child.tag_ == "NN" and lexicon.is_noun(child.original) and not is_adjective(child)
    named = named or lexicon.is_only_noun(child.original)
    return child.dep_ == "amod" and (named or is_fixed(child, noun))


def is_adjective(modifier: Token) -> bool:
    """Return whether a modifier the parser compounds describes: 'female runner', 'shirtless man'."""
    lower = modifier.original
    if lower in lexicon.COLOURS or lower.endswith("less") or lower.rpartition("-")[2] in _LAST_PARTS:
        return True
    if lower in lexicon.identity_adjectives() or (modifier.tag_[:2] == "JJ" and not lexicon.is_only_noun(lower)):
        return True
    table = wordnet.load()
    if lower.endswith("ed") and table.lemmas_of(lower, "v") and lower not in table.lemmas_of(lower, "n"):
        return True
    of_somebody = modifier.head.original in lexicon.PEOPLE
    if of_somebody and modifier.i > 0 and modifier.text[0].isupper():  # 'a Berber man'
        return True
    return bool(table.lemmas_of(lower, "a")) and (of_somebody or not table.lemmas_of(lower, "n"))


def is_fixed(modifier: Token, noun: Token) -> bool:
    """Return whether modifier and noun name one thing, by the short list or by WordNet."""
    pair = f"{modifier.original} {lemma(noun)}"
    if pair in lexicon.FIXED_PAIRS or f"{modifier.original} {noun.original}" in lexicon.FIXED_PAIRS:
        return True
    if noun.original in lexicon.PEOPLE:  # WordNet has a 'working man' and no working woman
        return False
    return modifier.original.endswith("ing") and bool(wordnet.load().synsets(pair, "n"))


def counted(token: Token) -> Token | None:
    """Return the noun that this one only counts: the people in 'a group of people'."""
    return of_what(token) if token.original in QUANTITIES else None


@once
def of_what(token: Token) -> Token | None:
    """Return the noun after 'of', if there is one."""
    of = _of(token)
    return next((c for c in of.children if c.dep_ == "pobj"), None) if of else None


@once
def nouns(token: Token) -> list[Token]:
    """Return a token's nouns: itself, what it counts, its antecedent, those joined by 'and'."""
    return _nouns(token, frozenset())


def _nouns(token: Token, seen: frozenset[int]) -> list[Token]:
    if token.i in seen:
        return []
    seen = seen | {token.i}
    of_which = counted(token)
    if of_which is not None:
        own = _nouns(of_which, seen)
    elif token.original in RELATIVE:
        clause = next((above for above in token.ancestors if above.dep_ == "relcl"), None)
        own = _nouns(clause.head, seen)[:1] if clause else []
        if token.original == "who" and not any(is_animate(noun) for noun in own):  # 'a man in his thirties, who'
            own = [noun for noun in token.tree.tokens[: token.i] if is_noun(noun) and is_animate(noun)][-1:] or own
    elif token.original in PRONOUNS:
        own = [one.token or token for one in token.people] or agreeing(token)[:1]
    elif token.original in lexicon.PARTS and token.people and not _is_reciprocal(token):  # 'the other is asleep'
        own = [one.token for one in token.people if one.token is not None]
    else:
        own = [token] if is_noun(token) else []
    joined = [c for c in (*token.children, *_strays(token)) if c.i > token.i and _is_joined(c, token)]
    return own + [noun for child in joined for noun in _nouns(child, seen)]


def _is_reciprocal(token: Token) -> bool:
    return token.i > 0 and token.tree.tokens[token.i - 1].original in ("each", "one")


def _is_joined(token: Token, first: Token) -> bool:
    home = _home(token) if token.dep_ in LISTED else None
    if home is not None:
        return home.i == first.i
    if token.dep_ == "appos":  # the next item of a list: 'a sink, a mirror'
        return token.left_edge > 0 and token.tree.tokens[token.left_edge - 1].text == ","
    return token.dep_ == "conj"


@once
def _home(token: Token) -> Token | None:
    """Return the noun a thing was listed with ('a knife, a fork'), if joined elsewhere."""
    before = token.left_edge - 1
    if before < 1 or not is_noun(token) or is_animate(token):
        return None
    beside = token.tree.tokens[before - 1]
    further_up = beside.dep_ == "pobj" and is_noun(beside) and beside.i > token.head.i
    listed = token.tree.tokens[before].text == "," or is_animate(token.head) or is_verb(token.head)
    if token.dep_ == "dobj":  # a second object
        listed = listed and any(c.dep_ == "dobj" and c.i < token.i for c in token.head.children)
    return beside if further_up and listed else None


@once
def _strays(noun: Token) -> list[Token]:
    """Return the things listed with a noun that the parser joined to another."""
    if noun.dep_ != "pobj":
        return []
    later = [t for t in noun.sentence if t.i > noun.i and t.dep_ in LISTED and t.head.i != noun.i]
    return [t for t in later if (home := _home(t)) is not None and home.i == noun.i]


@once
def is_animate(token: Token) -> bool:
    """Return whether a noun is somebody, or an animal."""
    return not token.word.things and lexicon.is_animate(lemma(token))


def agreeing(token: Token) -> list[Token]:
    """Return the earlier nouns of the sentence that agree with a pronoun, for 'it' any."""
    earlier = [t for t in token.sentence if t.i < token.i and t.mood < NEGATED and is_noun(t) and counted(t) is None]
    agreeing = [t for t in earlier if _agrees(token, t)] or (earlier if token.original in ("it", "its") else [])
    return sorted(agreeing, key=is_animate) if token.original == "it" else agreeing  # rather a thing than an animal


def _agrees(pronoun: Token, noun: Token) -> bool:
    lower, what = pronoun.original, lemma(noun)
    person = wordnet.load().is_person(what) and not noun.word.things
    if lower in ("it", "its", "itself"):
        return not person or what in ("baby", "child", "toddler")
    genders = gender_of(lower)
    if genders:
        return person and genders >= gender_of(what)
    return noun.tag_ in ("NNS", "NNPS") or person


@cache
def gender_of(word: str) -> frozenset[str]:
    """Return the genders that a noun or a pronoun names."""
    return frozenset(group for axis, group in group_words().groups(word) if axis == GENDER)


@once
def verb_base(verb: Token) -> str:
    """Return a verb's base form."""
    known = verb.lower_ == verb.original
    base = verb.word.verb or (verb.lemma_.lower() if known else verb.original)
    return "ride" if base in ("rid", "riding") else base  # spaCy takes 'rides' for 'rid'


def subjects(verb: Token, seen: frozenset[int] = frozenset()) -> list[Token]:
    """Return a verb's subjects, from above if it has none of its own."""
    helpers = [c for c in verb.children if c.dep_ == "auxpass"]  # 'the tower looks abandoned'
    own = [c for above in (verb, *helpers) for c in above.children if c.dep_ in ("nsubj", "nsubjpass")]
    if own:
        return [noun for child in own for noun in nouns(child)]
    if any(c.dep_ == "expl" for c in verb.children):
        return [noun for c in verb.children if c.dep_ == "attr" for noun in nouns(c)]
    if verb.dep_ in ("acl", "relcl") or (verb.dep_ in _INHERITS and is_noun(verb.head)):
        first = verb.head
        while first.dep_ == "conj" and is_noun(first.head):  # 'a boy and his dog running'
            first = first.head
        return nouns(first) or nouns(verb.head)
    if verb.dep_ in _INHERITS and verb.i not in seen:
        return subjects(verb.head, seen | {verb.i})
    return []


def objects(verb: Token) -> list[Token]:
    """Return the direct objects; in 'the ball that the dog chases' that is the ball."""
    own = [c for c in verb.children if c.dep_ == "dobj" and _home(c) is None]
    return [noun for child in own for noun in nouns(child)]


@once
def is_passive(verb: Token) -> bool:
    """Return whether the subject is what the verb is done to."""
    if verb.tag_ == "VBG" and not any(c.dep_ == "auxpass" for c in verb.children):
        return False  # 'standing by a tree' has no agent
    if any(c.dep_ in ("auxpass", "nsubjpass", "agent") for c in verb.children):
        return True
    if verb.tag_ != "VBN":
        return False
    if verb.dep_ == "pcomp" and not any(c.dep_ == "aux" for c in verb.children):
        return True
    return verb.dep_ == "acl" or (verb.dep_ == "conj" and is_verb(verb.head) and is_passive(verb.head))


@once
def places(token: Token) -> list[tuple[str, Token]]:
    """Return the prepositions below a word with their nouns: ('in front of', building)."""
    pairs: list[tuple[str, Token]] = []
    for child in token.children:
        if child.dep_ in ("prep", "dative", "agent") and child.tag_ in ("IN", "TO", "RP", "RB"):
            pairs += _through(child, child.lower_) if child.dep_ != "agent" or not is_passive(token) else ()
        elif child.dep_ in ("advmod", "prt") and any(c.dep_ == "prep" for c in child.children):
            pairs += [(f"{child.lower_} {words}", noun) for words, noun in places(child)]
    return pairs


def _through(preposition: Token, words: str) -> Iterator[tuple[str, Token]]:
    for child in preposition.children:
        if child.dep_ == "prep":  # out of
            yield from _through(child, f"{words} {child.lower_}")
        elif child.dep_ == "pobj" and child.lower_ in PLACES and (inner := _of(child)) is not None:
            determiner = [c.lower_ for c in child.lefts if c.dep_ == "det"]
            yield from _through(inner, " ".join([words, *determiner, child.lower_, "of"]))
        elif child.dep_ == "pobj":
            yield from ((words, noun) for noun in nouns(child))
        elif child.dep_ == "pcomp":  # 'with his arms raised'
            yield from ((words, noun) for c in child.children if c.dep_ == "nsubj" for noun in nouns(c))


def _of(token: Token) -> Token | None:
    return next((c for c in token.children if c.dep_ == "prep" and c.lower_ == "of"), None)
