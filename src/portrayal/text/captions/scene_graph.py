"""Scene graphs: objects, (object, attribute) and (subject, relation, object) tuples of a caption.

The idea is that of SPICE (Anderson et al. 2016, ECCV); our rules are written down in tests/golden/scene_graphs.source.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from portrayal.text.captions import dependency as tree
from portrayal.text.captions import lexicon, moods
from portrayal.text.captions.attachment import first_listed, places_of_noun, places_of_verb, subjects_of
from portrayal.text.captions.coreference import resolve
from portrayal.text.captions.people import Person, groups_of_adjective, number_of
from portrayal.text.captions.trees import HEDGED, NEGATED, Token, Tree, once


class Node(NamedTuple):
    """One noun, attribute or relation that a sentence names."""

    words: tuple[str, ...]  # (noun), (noun, attribute) or (subject, relation, object)
    sentence: int
    negated: bool
    hedged: bool
    number: int | None  # of the noun, None where the text leaves it open
    person: int | None  # place among `people` of whom the noun means


@dataclass(frozen=True)
class SceneGraph:
    """Nouns, attributes, relations and people of a caption, each once."""

    objects: tuple[str, ...] = ()
    attributes: tuple[tuple[str, str], ...] = ()
    relations: tuple[tuple[str, str, str], ...] = ()
    negated: tuple[str, ...] = ()  # words, none of which is in the tuples above
    hedged: tuple[str, ...] = ()  # words that the caption supposes
    people: tuple[Person, ...] = ()
    nodes: tuple[Node, ...] = ()

    def certain(self) -> SceneGraph:
        """Return the graph without what the caption only supposes."""
        nodes = tuple(node for node in self.nodes if not node.hedged)
        lost = {node.person for node in self.nodes} - {node.person for node in nodes}
        people = {place: one for place, one in enumerate(self.people) if place not in lost}
        places = {place: now for now, place in enumerate(people)}
        nodes = tuple(node._replace(person=None if node.person is None else places.get(node.person)) for node in nodes)
        said = _tuples(node.words for node in nodes if not node.negated)
        return SceneGraph(*said, self.negated, (), tuple(people.values()), nodes) if self.hedged else self


def _tuples(said: Iterable[tuple[str, ...]]) -> tuple[tuple, tuple, tuple]:
    every = list(dict.fromkeys(said))
    nouns = tuple(words[0] for words in every if len(words) == 1)
    return nouns, tuple(words for words in every if len(words) == 2), tuple(words for words in every if len(words) == 3)


class Statement(NamedTuple):
    """The words of a tuple with the tokens that they rest on."""

    words: tuple[str, ...]
    tokens: tuple[Token, ...]
    told: Token

    @property
    def word(self) -> str:
        """The word that a mood is noted under: 'african descent' for 'of african descent'."""
        return _bare(self.words[-1])

    def is_open(self) -> bool:
        """Return whether what is denied or supposed of this word is left open."""
        known = moods.is_definite(self.told) and self.told.dep_ not in ("appos", "attr")
        is_presence = self.word in moods.PRESENCE and (self.told.tag_[:2] != "NN" or self.word in ("sight", "view"))
        return is_presence or (self.told.mood == HEDGED and (self.told.tag_ == "CD" or known))


def _bare(words: str) -> str:
    return " ".join(words.split()[1:-1]) if words.startswith("of ") else words


def from_trees(sentences: Sequence[Tree]) -> SceneGraph:
    """Return the scene graph of a caption's parsed sentences."""
    for number, parsed in enumerate(sentences):
        parsed.number = number
        moods.mark(parsed)
    everybody = resolve(sentences)
    places = {id(one): place for place, one in enumerate(everybody)}
    statements = [one for parsed in sentences for one in _statements(parsed)]
    nodes: dict[Node, None] = {}
    marked: dict[int, dict[str, None]] = {HEDGED: {}, NEGATED: {}}
    for one in statements:
        first, told = one.tokens[0], one.told
        if len(one.words) == 2 and len(first.people) == 1 and told.mood < NEGATED:
            first.people[0].add(groups_of_adjective(one.words[1]))
        mood = max(token.mood for token in one.tokens)
        if told.mood in marked and len(one.words) < 3 and not one.is_open():
            marked[told.mood][one.word] = None
        several = number_of(first) if len(one.words) == 1 and not first.word.things else None
        whom = next((places[id(person)] for person in first.people if id(person) in places), None)
        nodes[Node(one.words, first.tree.number, mood == NEGATED, mood == HEDGED, several, whom)] = None
    tellers = {id(one.told) for one in statements}
    for token in (token for parsed in sentences for token in parsed.tokens):
        _mark_adjective(token, marked)
        if token.mood in marked and id(token) not in tellers:
            _mark_verb(token, marked[token.mood])
    said = _tuples(node.words for node in nodes if not node.negated)
    people = tuple(one.person() for one in everybody)
    return SceneGraph(*said, tuple(marked[NEGATED]), tuple(marked[HEDGED]), people, tuple(nodes))


def _mark_adjective(token: Token, marked: dict[int, dict[str, None]]) -> None:
    """Note an adjective without its noun: 'a woman, possibly Latina'."""
    before_noun = token.dep_ == "amod" and tree.is_noun(token.head)
    at_least = token.tag_ == "JJS" and token.dep_ == "advmod"
    if token.tag_[:2] != "JJ" or before_noun or at_least or token.dep_ in ("nsubj", "pobj", "dobj"):
        return
    if token.mood in marked and token.original not in lexicon.PARTS | moods.PRESENCE:
        marked[token.mood].setdefault(_bare(token.original) or token.original)
    if token.dep_ not in ("acomp", "oprd", "conj") and token.mood < NEGATED:
        whom = [one for one in token.tree.tokens[: token.i] if one.people]
        if whom:
            whom[-1].people[0].add(groups_of_adjective(token.original))


def _mark_verb(verb: Token, marked: dict[str, None]) -> None:
    """Note a verb that nobody is named to do: 'instead of helping'."""
    below = ("dobj", "prep", "agent", "auxpass", "attr", "advcl")
    if not tree.is_verb(verb) or _has_complement(verb) or any(child.dep_ in below for child in verb.children):
        return
    if verb.lemma_ not in ("be", "have", "do") and tree.verb_base(verb) not in moods.PRESENCE:
        marked.setdefault(_verb_name(verb))


def _statements(parsed: Tree) -> Iterator[Statement]:
    """Yield the nouns, attributes and relations of a sentence."""
    tokens = parsed.tokens
    # Nouns that are part of a preposition such as 'in front of'.
    skipped = {t.i for t in tokens if t.lower_ in tree.PLACES and t.dep_ == "pobj" and tree.of_what(t) is not None}
    inside = [t for t in tokens if t.i not in skipped]
    for token in inside:
        if tree.is_noun(token) and tree.counted(token) is None and not token.is_open:
            for name in tree.names(token):
                yield Statement((name,), (token,), token)
    for token in inside:
        if tree.is_noun(token):
            yield from _modifiers(token)
            yield from _of_nouns(token)
        elif tree.is_verb(token):
            yield from _of_verb(token)


def _said_of(nouns: Iterable[Token], word: str, told: Token) -> Iterator[Statement]:
    for noun in nouns:
        for name in tree.names(noun):
            yield Statement((name, word), (noun, told), told)


def _modifiers(noun: Token) -> Iterator[Statement]:
    counted = tree.counted(noun)
    if counted is not None:
        yield from _said_of(tree.nouns(counted), noun.original, noun)
        return
    for thing in noun.word.things:
        for word in thing.attributes:
            yield Statement((thing.name, word), (noun,), noun)
    for child in _described(noun):
        yield from _said_of([noun], child.original, child)


def _described(noun: Token) -> Iterator[Token]:
    for child in noun.children:
        if child.dep_ in ("amod", "nummod") and not tree.joins(child, noun):
            yield from _adjectives(child)
        elif child.dep_ == "compound":  # 'a Black capoeira teacher'
            yield from (one for one in (child, *child.lefts) if one.dep_ == "compound" and tree.is_adjective(one))


def _adjectives(token: Token) -> list[Token]:
    joined = [c for c in token.children if c.dep_ == "conj" and c.tag_[:2] in ("JJ", "VB", "CD", "NN")]
    return [token, *(word for child in joined for word in _adjectives(child))]


def _of_nouns(noun: Token) -> Iterator[Statement]:
    """Yield possession, prepositions and adjectives with a preposition ('full of') below a noun."""
    for child in noun.children:
        if child.dep_ == "poss":
            owners = [one for one in tree.nouns(child) if tree.is_noun(one) or (one.people and not noun.people)]
            yield from _triples(owners, "have", [noun], noun)
    if tree.counted(noun) is not None:  # 'a group of people in a field': the people are there
        for words, target in tree.places(noun):
            yield from _triples(tree.nouns(noun) if words != "of" else [], words, [target], noun)
        return
    for words, target in places_of_noun(noun):
        yield from _triples(_sharing(noun, words), words, [target], noun)
    for child in noun.children:
        if child.dep_ in ("amod", "acl") and child.tag_[:2] == "JJ":
            for words, target in tree.places(child):
                yield from _triples([noun], f"{child.original} {words}", [target], child)


def _triples(subjects: Iterable[Token], words: str, targets: Iterable[Token], told: Token) -> Iterator[Statement]:
    ends = [(target, name) for target in targets for name in tree.names(target)]
    for subject in subjects:
        for name in tree.names(subject):
            for target, end in ends:
                yield Statement((name, words, end), (subject, target, told), told)


def _sharing(noun: Token, words: str) -> list[Token]:
    """Return the nouns a preposition belongs to: both in 'a dish and spoon in it'."""
    nouns = [noun]
    while words not in ("of", "with") and nouns[-1].dep_ == "conj" and tree.is_noun(nouns[-1].head):
        nouns.append(nouns[-1].head)
    return nouns


def _of_verb(verb: Token) -> list[Statement]:
    """Return all that a verb states of its subjects."""
    who = subjects_of(verb)
    statements = [*_with_object(verb, who), *_with_place(verb, who), *_predicates(verb, who)]
    is_said = first_listed(verb).dep_ in ("acomp", "oprd")
    if not statements and verb.lemma_ != "be" and not is_said and not _has_complement(verb):
        # A participle stays as written ('broken'), an action is its lemma ('smile').
        word = verb.original if tree.is_passive(verb) else _verb_name(verb)
        statements = list(_said_of(who, word, verb))
    return statements


@once
def _verb_name(verb: Token) -> str:
    particle = [c.lower_ for c in verb.children if c.dep_ == "prt" or _is_bare_preposition(c)]
    return " ".join([tree.verb_base(verb), *particle])


def _is_bare_preposition(token: Token) -> bool:
    """Return whether a preposition lost its noun to the verb: 'traveling down tracks'."""
    if token.dep_ != "prep" or token.i != token.head.i + 1 or token.children:
        return False
    return any(c.dep_ == "dobj" for c in token.head.children)


def _with_object(verb: Token, who: list[Token]) -> Iterable[Statement]:
    word = _verb_name(verb)
    if tree.is_passive(verb):
        agents = [n for c in verb.children if c.dep_ == "agent" for p in c.children for n in tree.nouns(p)]
        return _triples(agents, word, who, verb)
    targets = tree.objects(verb)
    if not targets:  # 'helps a woman put on her coat'
        clauses = [c for c in verb.children if c.dep_ == "ccomp" and c.tag_ in ("VB", "VBG", "VBP", "VBN")]
        targets = [n for c in clauses for s in c.children if s.dep_ == "nsubj" for n in tree.nouns(s)]
    if verb.lemma_ == "be" or (not targets and any(c.dep_ == "expl" for c in verb.children)):
        return []
    return _triples(who, word, targets, verb)


def _with_place(verb: Token, who: list[Token]) -> Iterator[Statement]:
    word = "" if verb.lemma_ == "be" and not tree.is_passive(verb) else _verb_name(verb)
    for words, noun in places_of_verb(verb):
        yield from _triples(who, f"{word} {words}".strip(), [noun], verb)


def _predicates(verb: Token, who: list[Token]) -> Iterator[Statement]:
    """Yield 'the dog is brown', 'painted yellow', 'is afraid of the dog', 'is a doctor'."""
    existential = any(c.dep_ == "expl" for c in verb.children)
    for child in verb.children:
        if child.dep_ in ("acomp", "oprd") and child.tag_[:2] in ("JJ", "VB"):
            for word in _adjectives(child):
                yield from _said_of(who, word.original, word)
            for words, noun in tree.places(child):
                yield from _triples(who, f"{child.original} {words}", [noun], child)
        elif child.dep_ == "attr" and not existential and tree.is_noun(child):
            yield from _triples([one for one in who if one is not child], "be", tree.nouns(child), verb)


def _has_complement(verb: Token) -> bool:
    purpose = any(c.dep_ == "advcl" and any(a.lower_ == "to" for a in c.lefts) for c in verb.children)
    return purpose or any(c.dep_ in ("xcomp", "ccomp", "acomp", "oprd", "dobj") for c in verb.children)
