"""Ways around a dependency parse: who does it, to what, where, and which noun a word stands for.

Works on spaCy's tokens and imports nothing of spaCy, so the package loads without the extra.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from portrayal.text import wordnet

Token = Any  # spacy.tokens.Token


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# 'a group of people': the people are what the caption speaks of, the group is a property of theirs.
QUANTITIES = _words("group bunch couple pair lot lots number plenty variety dozen dozens hundreds series")
# 'on top of': the noun names a place of what follows and is no object of its own.
PLACES = _words("front top middle side back edge center centre bottom end rear foot")
# Written in the plural only; the singular would be another word.
PLURAL_ONLY = _words("scissors pants jeans shorts clothes binoculars tongs pajamas")
# Adjective and noun that name one thing together.
FIXED_PAIRS = frozenset(
    [
        "hot dog",
        "polar bear",
        "french fry",
        "french fries",
        "high chair",
        "hard hat",
        "stuffed animal",
        "remote control",
    ]
)
# Prepositions of direction and place that belong to the verb even where the parser hangs them on its object.
OF_THE_VERB = _words("along across towards toward into onto from near at down through past to outside")

MALE = _words("man boy father dad grandfather brother son uncle husband king groom guy")
FEMALE = _words("woman girl mother mom grandmother sister daughter aunt wife queen bride lady female")
PRONOUNS = _words("he she it they him her them his its their hers theirs himself herself")
RELATIVE = _words("that which who whom whose")
INDEFINITE = _words("someone somebody everyone everybody anyone anybody one")
_INHERITS = ("conj", "xcomp", "advcl", "ccomp", "pcomp", "prep", "acomp", "advmod", "dep", "parataxis")


def is_noun(token: Token) -> bool:
    """Say whether a token can be an object of the scene."""
    if token.lower_ in PRONOUNS or token.lower_ in RELATIVE:
        return False
    if token.lower_ in INDEFINITE and token.tag_ != "CD":
        return token.dep_ != "compound"
    if token.tag_ in ("NN", "NNS", "NNP", "NNPS"):
        return token.dep_ not in ("compound", "npadvmod", "amod") or token.head.i < token.i
    return token.tag_ == "JJ" and token.dep_ in ("nsubj", "nsubjpass", "dobj", "pobj")  # 'the homeless'


def is_verb(token: Token) -> bool:
    """Say whether a token states something of a subject: a verb that is no auxiliary and no modifier."""
    if token.tag_[:2] != "VB" and not (token.pos_ == "AUX" and token.dep_ == "ROOT"):
        return False
    return token.dep_ not in ("aux", "auxpass", "amod", "compound", "nsubj", "dobj", "pobj")


def lemma(token: Token) -> str:
    """Return the noun's singular, in lower case."""
    if token.lower_ in PLURAL_ONLY or token.tag_ not in ("NNS", "NNPS"):
        return token.lower_
    found = token.lemma_.lower()
    if found == token.lower_:
        bases = wordnet.load().lemmas_of(found, "n")
        found = bases[-1] if bases else found
    return found


def name(token: Token) -> str:
    """Return the noun with what it is compounded with: `cell phone`, `hot dog`, `living room`."""
    parts = [_part(child) for child in token.lefts if _joins(child, token)]
    return " ".join([*parts, lemma(token)])


def _part(child: Token) -> str:
    inner = [_part(grandchild) for grandchild in child.lefts if grandchild.dep_ == "compound"]
    return " ".join([*inner, lemma(child)])


def _joins(child: Token, noun: Token) -> bool:
    if child.dep_ == "compound":
        return not is_adjective(child)
    return child.dep_ == "amod" and is_fixed(child, noun)


def is_adjective(modifier: Token) -> bool:
    """Say whether a modifier the parser compounds describes: 'female runner', 'shirtless man'."""
    if modifier.tag_[:2] == "JJ" or modifier.lower_ in ("female", "male"):
        return True
    table = wordnet.load()
    return not table.lemmas_of(modifier.lower_, "n") and bool(table.lemmas_of(modifier.lower_, "a"))


def is_fixed(modifier: Token, noun: Token) -> bool:
    """Say whether modifier and noun name one thing: in the short list, or a gerund pair WordNet knows."""
    pair = f"{modifier.lower_} {lemma(noun)}"
    if pair in FIXED_PAIRS or f"{modifier.lower_} {noun.lower_}" in FIXED_PAIRS:
        return True
    return modifier.lower_.endswith("ing") and bool(wordnet.load().synsets(pair, "n"))


def is_quantity(token: Token) -> bool:
    """Say whether a noun only counts another: 'group' in 'a group of people'."""
    return token.lower_ in QUANTITIES and of_what(token) is not None


def of_what(token: Token) -> Token | None:
    """Return the noun after 'of', if there is one."""
    for child in token.children:
        if child.dep_ == "prep" and child.lower_ == "of":
            return next((c for c in child.children if c.dep_ == "pobj"), None)
    return None


def nouns(token: Token, seen: frozenset[int] = frozenset()) -> list[Token]:
    """Return the nouns a token stands for: itself, what it counts, its antecedent, and all joined to it by 'and'."""
    if token.i in seen:
        return []
    seen = seen | {token.i}
    if is_quantity(token):
        own = nouns(of_what(token), seen)
    elif token.lower_ in RELATIVE:
        own = _antecedent_of_clause(token, seen)
    elif token.lower_ in PRONOUNS:
        own = _antecedent(token)
    else:
        own = [token] if is_noun(token) else []
    joined = [c for c in token.children if c.i > token.i and (c.dep_ == "conj" or _is_listed(c))]
    return own + [noun for child in joined for noun in nouns(child, seen)]


def _is_listed(token: Token) -> bool:
    """Say whether an apposition is the next item of a list: 'a sink, a mirror and a shower'."""
    before = token.left_edge.i - 1
    return token.dep_ == "appos" and before >= 0 and token.doc[before].text == ","


def _antecedent_of_clause(token: Token, seen: frozenset[int]) -> list[Token]:
    for above in token.ancestors:
        if above.dep_ == "relcl":
            return nouns(above.head, seen)[:1]
    return []


def _antecedent(token: Token) -> list[Token]:
    """Return the first earlier noun of the sentence that agrees with the pronoun, else for 'it' the first."""
    earlier = [t for t in token.sent if t.i < token.i and is_noun(t) and not is_quantity(t)]
    agreeing = [t for t in earlier if _agrees(token, t)]
    if not agreeing and token.lower_ in ("it", "its"):
        agreeing = earlier
    return agreeing[:1]


def _agrees(pronoun: Token, noun: Token) -> bool:
    word, what = pronoun.lower_, lemma(noun)
    person = wordnet.load().is_person(what)
    if word in ("it", "its", "itself"):
        return not person or what in ("baby", "child", "toddler")
    if word in ("he", "him", "his", "himself"):
        return person and what not in FEMALE
    if word in ("she", "her", "hers", "herself"):
        return person and what not in MALE
    return noun.tag_ in ("NNS", "NNPS") or person


def subjects(verb: Token, seen: frozenset[int] = frozenset()) -> list[Token]:
    """Return the nouns a verb is said of, found above it where the verb has no subject of its own."""
    own = [c for c in verb.children if c.dep_ in ("nsubj", "nsubjpass")]
    if own:
        return [noun for child in own for noun in nouns(child)]
    if any(c.dep_ == "expl" for c in verb.children):
        return [noun for c in verb.children if c.dep_ == "attr" for noun in nouns(c)]
    if verb.dep_ in ("acl", "relcl") or (verb.dep_ in _INHERITS and is_noun(verb.head)):
        return _joined_subject(verb.head)
    if verb.dep_ in _INHERITS and verb.i not in seen:
        return subjects(verb.head, seen | {verb.i})
    return []


def _joined_subject(noun: Token) -> list[Token]:
    """Return the noun, with those before it in a list: 'a boy and his dog running'."""
    first = noun
    while first.dep_ == "conj" and is_noun(first.head):
        first = first.head
    return nouns(first) or nouns(noun)


def objects(verb: Token) -> list[Token]:
    """Return the direct objects; in 'the ball that the dog chases' that is the ball."""
    return [noun for c in verb.children if c.dep_ == "dobj" for noun in nouns(c)]


def is_passive(verb: Token) -> bool:
    """Say whether the subject is what the verb is done to."""
    if any(c.dep_ in ("auxpass", "nsubjpass", "agent") for c in verb.children):
        return True
    if verb.tag_ != "VBN":
        return False
    return verb.dep_ == "acl" or (verb.dep_ == "conj" and is_verb(verb.head) and is_passive(verb.head))


def places(token: Token) -> Iterator[tuple[str, Token]]:
    """Yield each preposition below a word with the nouns it leads to: ('in front of', building)."""
    for child in token.children:
        if child.dep_ in ("prep", "dative") and child.tag_ in ("IN", "TO", "RP", "RB"):
            yield from _through(child, child.lower_)
        elif child.dep_ in ("advmod", "prt") and any(c.dep_ == "prep" for c in child.children):
            yield from ((f"{child.lower_} {words}", noun) for words, noun in places(child))


def _through(preposition: Token, words: str) -> Iterator[tuple[str, Token]]:
    for child in preposition.children:
        if child.dep_ == "prep":  # out of
            yield from _through(child, f"{words} {child.lower_}")
        elif child.dep_ == "pobj" and child.lower_ in PLACES and (inner := _of(child)) is not None:
            determiner = [c.lower_ for c in child.lefts if c.dep_ == "det"]
            yield from _through(inner, " ".join([words, *determiner, child.lower_, "of"]))
        elif child.dep_ == "pobj":
            yield from ((words, noun) for noun in nouns(child))


def _of(token: Token) -> Token | None:
    return next((c for c in token.children if c.dep_ == "prep" and c.lower_ == "of"), None)
