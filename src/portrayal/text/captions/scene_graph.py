"""Scene graphs: objects, (object, attribute) and (subject, relation, object) tuples of a caption.

Read off spaCy's dependency parse by rules that tests/golden/scene_graphs.source.md writes down, with
precision
and recall measured on captions annotated by hand. The idea is that of SPICE [1]_; the rules are our own.

References
----------
.. [1] Anderson, Fernando, Johnson, Gould (2016), SPICE: Semantic propositional image caption evaluation,
ECCV.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from portrayal.text.captions import attachment
from portrayal.text.captions import dependency as tree
from portrayal.text.captions.parse_tree import Token, Tree, once


@dataclass(frozen=True)
class SceneGraph:
    """What a caption says: nouns, their attributes, and relations between them, each once and in order."""

    objects: tuple[str, ...] = ()
    attributes: tuple[tuple[str, str], ...] = ()
    relations: tuple[tuple[str, str, str], ...] = ()


def from_tree(parsed: Tree) -> SceneGraph:
    """Return the scene graph of a parsed caption."""
    tokens = parsed.tokens
    skipped = _place_nouns(tokens)
    nouns = [t for t in tokens if tree.is_noun(t) and not tree.is_quantity(t) and t.i not in skipped]
    attributes: list[tuple] = []
    relations: list[tuple] = []
    for token in tokens:
        if token.i in skipped:
            continue
        if tree.is_noun(token):
            attributes += _modifiers(token)
            relations += _of_nouns(token)
        elif tree.is_verb(token):
            more = list(_of_verb(token))
            attributes += [pair for pair in more if len(pair) == 2]
            relations += [triple for triple in more if len(triple) == 3]
    return SceneGraph(_once(tree.all_names(nouns)), _once(attributes), _once(relations))


def _place_nouns(tokens: list[Token]) -> set[int]:
    """Return the nouns that are part of a preposition such as 'in front of'."""
    return {t.i for t in tokens if t.lower_ in tree.PLACES and t.dep_ == "pobj" and tree.of_what(t) is not None}


def _modifiers(noun: Token) -> Iterator[tuple[str, ...]]:
    counted = tree.counted(noun)
    if counted is not None:
        yield from ((name, noun.said) for name in tree.all_names(tree.nouns(counted)))
        return
    yield from ((thing.name, word) for thing in noun.word.things for word in thing.attributes)
    for name in tree.names(noun):
        yield from ((name, word) for word in _described(noun))


def _described(noun: Token) -> Iterator[str]:
    for child in noun.children:
        if child.dep_ in ("amod", "nummod") and not tree.is_fixed(child, noun):
            yield from _adjectives(child)
        elif child.dep_ == "compound" and tree.is_adjective(child):
            yield child.said
        elif child.dep_ == "det" and child.lower_ == "no":
            yield "no"


def _adjectives(token: Token) -> list[str]:
    joined = [c for c in token.children if c.dep_ == "conj" and c.tag_[:2] in ("JJ", "VB", "CD", "NN")]
    return [token.said, *(word for child in joined for word in _adjectives(child))]


def _of_nouns(noun: Token) -> Iterator[tuple[str, str, str]]:
    """Yield possession, prepositions and adjectives with a preposition ('full of') below a noun."""
    for child in noun.children:
        if child.dep_ == "poss":
            yield from _triples(tree.nouns(child), "have", [noun])
    if tree.is_quantity(noun):  # 'a group of people in a field': the people are there
        for words, target in tree.places(noun):
            yield from _triples(tree.nouns(noun) if words != "of" else [], words, [target])
        return
    for words, target in attachment.places_of_noun(noun):
        yield from _triples(_sharing(noun, words), words, [target])
    for child in noun.children:
        if child.dep_ in ("amod", "acl") and child.tag_[:2] == "JJ":
            for words, target in tree.places(child):
                yield from _triples([noun], f"{child.said} {words}", [target])


def _triples(subjects: Iterable[Token], words: str, targets: Iterable[Token]) -> list[tuple[str, str, str]]:
    ends = tree.all_names(targets)
    return [(subject, words, end) for subject in tree.all_names(subjects) for end in ends]


def _sharing(noun: Token, words: str) -> list[Token]:
    """Return the nouns a preposition belongs to: 'a dish and a spoon in the sink' puts both there."""
    found = [noun]
    while words not in ("of", "with") and found[-1].dep_ == "conj" and tree.is_noun(found[-1].head):
        found.append(found[-1].head)
    return found


def _of_verb(verb: Token) -> Iterator[tuple[str, ...]]:
    """Yield all that a verb states of its subjects."""
    who = attachment.subjects(verb)
    said = [*_with_object(verb, who), *_with_place(verb, who), *_predicates(verb, who)]
    if not said and verb.lemma_ != "be" and not _has_complement(verb):
        # A participle stays as written ('broken'), an action is its lemma ('smile').
        word = verb.said if tree.is_passive(verb) else _verb_name(verb)
        said = [(subject, word) for subject in tree.all_names(who)]
    yield from said


@once
def _verb_name(verb: Token) -> str:
    particle = [c.lower_ for c in verb.children if c.dep_ == "prt" or _is_bare_preposition(c)]
    return " ".join([tree.verb_base(verb), *particle])


def _is_bare_preposition(token: Token) -> bool:
    """Say whether a preposition leads nowhere, its noun taken for the verb's object: 'traveling down tracks'."""
    if token.dep_ != "prep" or token.i != token.head.i + 1 or token.children:
        return False
    return any(c.dep_ == "dobj" for c in token.head.children)


def _with_object(verb: Token, who: list[Token]) -> list[tuple[str, ...]]:
    word = _verb_name(verb)
    if tree.is_passive(verb):
        agents = [n for c in verb.children if c.dep_ == "agent" for p in c.children for n in tree.nouns(p)]
        return list(_triples(agents, word, who))
    targets = tree.objects(verb)
    if not targets:  # 'helps a woman put on her coat'
        clauses = [c for c in verb.children if c.dep_ == "ccomp" and c.tag_ in ("VB", "VBG", "VBP", "VBN")]
        targets = [n for c in clauses for s in c.children if s.dep_ == "nsubj" for n in tree.nouns(s)]
    if verb.lemma_ == "be" or (not targets and any(c.dep_ == "expl" for c in verb.children)):
        return []
    return list(_triples(who, word, targets))


def _with_place(verb: Token, who: list[Token]) -> list[tuple[str, ...]]:
    word = "" if verb.lemma_ == "be" and not tree.is_passive(verb) else _verb_name(verb)
    said: list[tuple[str, ...]] = []
    for words, noun in attachment.places_of_verb(verb):
        said += _triples(who, f"{word} {words}".strip(), [noun])
    return said


def _predicates(verb: Token, who: list[Token]) -> list[tuple[str, ...]]:
    """Yield 'the dog is brown', 'painted yellow', 'is afraid of the dog', 'is a doctor'."""
    said: list[tuple[str, ...]] = []
    existential = any(c.dep_ == "expl" for c in verb.children)
    for child in verb.children:
        if child.dep_ in ("acomp", "oprd") and child.tag_[:2] in ("JJ", "VB"):
            said += [(subject, word) for subject in tree.all_names(who) for word in _adjectives(child)]
            for words, noun in tree.places(child):
                said += _triples(who, f"{child.said} {words}", [noun])
        elif child.dep_ == "attr" and not existential and tree.is_noun(child):
            said += _triples(who, "be", tree.nouns(child))
    return said


def _has_complement(verb: Token) -> bool:
    purpose = any(c.dep_ == "advcl" and any(a.lower_ == "to" for a in c.lefts) for c in verb.children)
    return purpose or any(c.dep_ in ("xcomp", "ccomp", "acomp", "oprd", "dobj") for c in verb.children)


def _once(items: Iterable) -> tuple:
    return tuple(dict.fromkeys(items))
