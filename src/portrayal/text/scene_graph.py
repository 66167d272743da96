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

from portrayal.text import dependency as tree
from portrayal.text.dependency import Token


@dataclass(frozen=True)
class SceneGraph:
    """What a caption says: nouns, their attributes, and relations between them, each once and in order."""

    objects: tuple[str, ...] = ()
    attributes: tuple[tuple[str, str], ...] = ()
    relations: tuple[tuple[str, str, str], ...] = ()


def from_doc(doc: Iterable[Token]) -> SceneGraph:
    """Return the scene graph of a parsed caption (a spaCy Doc with tagger, parser and lemmatizer)."""
    tokens = list(doc)
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
    return SceneGraph(_once(tree.name(t) for t in nouns), _once(attributes), _once(relations))


def _place_nouns(tokens: list[Token]) -> set[int]:
    """Return the nouns that are part of a preposition such as 'in front of'."""
    return {
        t.i for t in tokens if t.lower_ in tree.PLACES and t.dep_ == "pobj" and tree.of_what(t) is not None
    }


def _modifiers(noun: Token) -> Iterator[tuple[str, str]]:
    if tree.is_quantity(noun):
        yield from ((tree.name(n), noun.lower_) for n in tree.nouns(tree.of_what(noun)))
        return
    for child in noun.children:
        if child.dep_ in ("amod", "nummod") and not tree.is_fixed(child, noun):
            yield from ((tree.name(noun), word) for word in _adjectives(child))
        elif child.dep_ == "compound" and tree.is_adjective(child):
            yield tree.name(noun), child.lower_
        elif child.dep_ == "det" and child.lower_ == "no":
            yield tree.name(noun), "no"


def _adjectives(token: Token) -> list[str]:
    joined = [c for c in token.children if c.dep_ == "conj" and c.tag_[:2] in ("JJ", "VB", "CD", "NN")]
    return [token.lower_, *(word for child in joined for word in _adjectives(child))]


def _of_nouns(noun: Token) -> Iterator[tuple[str, str, str]]:
    """Yield possession, prepositions and adjectives with a preposition ('full of') below a noun."""
    yield from _possession(noun)
    if tree.is_quantity(noun):
        return
    to_verb = noun.dep_ == "dobj" and tree.is_verb(noun.head)
    for words, target in tree.places(noun):
        if not (to_verb and words in tree.OF_THE_VERB):
            yield from ((tree.name(n), words, tree.name(target)) for n in _sharing(noun, words))
    for child in noun.children:
        if child.dep_ in ("amod", "acl") and child.tag_[:2] == "JJ":
            yield from (
                (tree.name(noun), f"{child.lower_} {words}", tree.name(target))
                for words, target in tree.places(child)
            )


def _sharing(noun: Token, words: str) -> list[Token]:
    """Return the nouns a preposition belongs to: 'a dish and a spoon in the sink' puts both there."""
    found = [noun]
    while words not in ("of", "with") and found[-1].dep_ == "conj" and tree.is_noun(found[-1].head):
        found.append(found[-1].head)
    return found


def _possession(noun: Token) -> Iterator[tuple[str, str, str]]:
    for child in noun.children:
        if child.dep_ == "poss":
            yield from ((tree.name(owner), "have", tree.name(noun)) for owner in tree.nouns(child))


def _of_verb(verb: Token) -> Iterator[tuple[str, ...]]:
    """Yield all that a verb states of its subjects."""
    who = [tree.name(noun) for noun in tree.subjects(verb)]
    said = [*_with_object(verb, who), *_with_place(verb, who), *_predicates(verb, who)]
    if not said and verb.lemma_ != "be" and not _has_complement(verb):
        # A participle stays as written ('broken'), an action is its lemma ('smile').
        word = verb.lower_ if tree.is_passive(verb) else _verb_name(verb)
        said = [(subject, word) for subject in who]
    yield from said


def _verb_name(verb: Token) -> str:
    particle = [c.lower_ for c in verb.children if c.dep_ == "prt"]
    base = verb.lemma_.lower()
    return " ".join(["ride" if base == "rid" else base, *particle])  # spaCy takes 'rides' for 'rid'


def _with_object(verb: Token, who: list[str]) -> list[tuple[str, ...]]:
    word = _verb_name(verb)
    if tree.is_passive(verb):
        agents = [n for c in verb.children if c.dep_ == "agent" for p in c.children for n in tree.nouns(p)]
        return [(tree.name(agent), word, subject) for agent in agents for subject in who]
    targets = tree.objects(verb)
    if not targets:  # 'helps a woman put on her coat'
        clauses = [c for c in verb.children if c.dep_ == "ccomp" and c.tag_ in ("VB", "VBG")]
        targets = [n for c in clauses for s in c.children if s.dep_ == "nsubj" for n in tree.nouns(s)]
    if verb.lemma_ == "be" or (not targets and any(c.dep_ == "expl" for c in verb.children)):
        return []
    return [(subject, word, tree.name(target)) for subject in who for target in targets]


def _with_place(verb: Token, who: list[str]) -> list[tuple[str, ...]]:
    found = list(tree.places(verb))
    for child in verb.children:
        if child.dep_ == "dobj":  # hung on the object by the parser, said of the verb
            found += [pair for pair in tree.places(child) if pair[0] in tree.OF_THE_VERB]
    word = "" if verb.lemma_ == "be" and not tree.is_passive(verb) else _verb_name(verb)
    return [(subject, f"{word} {words}".strip(), tree.name(noun)) for words, noun in found for subject in who]


def _predicates(verb: Token, who: list[str]) -> list[tuple[str, ...]]:
    """Yield 'the dog is brown', 'painted yellow', 'is afraid of the dog', 'is a doctor'."""
    said: list[tuple[str, ...]] = []
    existential = any(c.dep_ == "expl" for c in verb.children)
    for child in verb.children:
        if child.dep_ in ("acomp", "oprd") and child.tag_[:2] in ("JJ", "VB"):
            said += [(subject, word) for subject in who for word in _adjectives(child)]
            said += [
                (subject, f"{child.lower_} {words}", tree.name(noun))
                for words, noun in tree.places(child)
                for subject in who
            ]
        elif child.dep_ == "attr" and not existential and tree.is_noun(child):
            said += [(subject, "be", tree.name(noun)) for subject in who for noun in tree.nouns(child)]
    return said


def _has_complement(verb: Token) -> bool:
    return any(c.dep_ in ("xcomp", "ccomp", "acomp", "oprd", "dobj") for c in verb.children)


def _once(items: Iterable) -> tuple:
    return tuple(dict.fromkeys(items))
