"""Scene graphs: objects, (object, attribute) and (subject, relation, object) tuples of a caption.

The idea is that of SPICE (Anderson et al. 2016, ECCV); our rules are written down in tests/golden/scene_graphs.source.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from portrayal.text.captions import dependency as tree
from portrayal.text.captions import lexicon
from portrayal.text.captions.trees import Token, Tree, once


@dataclass(frozen=True)
class SceneGraph:
    """Nouns of a caption, their attributes and their relations, each once and in order."""

    objects: tuple[str, ...] = ()
    attributes: tuple[tuple[str, str], ...] = ()
    relations: tuple[tuple[str, str, str], ...] = ()


def from_tree(parsed: Tree) -> SceneGraph:
    """Return the scene graph of a parsed caption."""
    tokens = parsed.tokens
    # Nouns that are part of a preposition such as 'in front of'.
    skipped = {t.i for t in tokens if t.lower_ in tree.PLACES and t.dep_ == "pobj" and tree.of_what(t) is not None}
    nouns = [t for t in tokens if tree.is_noun(t) and tree.counted(t) is None and t.i not in skipped]
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


def _modifiers(noun: Token) -> Iterator[tuple[str, ...]]:
    counted = tree.counted(noun)
    if counted is not None:
        yield from ((name, noun.original) for name in tree.all_names(tree.nouns(counted)))
        return
    yield from ((thing.name, word) for thing in noun.word.things for word in thing.attributes)
    for name in tree.names(noun):
        yield from ((name, word) for word in _described(noun))


def _described(noun: Token) -> Iterator[str]:
    for child in noun.children:
        if child.dep_ in ("amod", "nummod") and not tree.is_fixed(child, noun):
            yield from _adjectives(child)
        elif child.dep_ == "compound" and tree.is_adjective(child):
            yield child.original
        elif child.dep_ == "det" and child.lower_ == "no":
            yield "no"


def _adjectives(token: Token) -> list[str]:
    joined = [c for c in token.children if c.dep_ == "conj" and c.tag_[:2] in ("JJ", "VB", "CD", "NN")]
    return [token.original, *(word for child in joined for word in _adjectives(child))]


def _of_nouns(noun: Token) -> Iterator[tuple[str, str, str]]:
    """Yield possession, prepositions and adjectives with a preposition ('full of') below a noun."""
    for child in noun.children:
        if child.dep_ == "poss":
            yield from _triples(tree.nouns(child), "have", [noun])
    if tree.counted(noun) is not None:  # 'a group of people in a field': the people are there
        for words, target in tree.places(noun):
            yield from _triples(tree.nouns(noun) if words != "of" else [], words, [target])
        return
    for words, target in places_of_noun(noun):
        yield from _triples(_sharing(noun, words), words, [target])
    for child in noun.children:
        if child.dep_ in ("amod", "acl") and child.tag_[:2] == "JJ":
            for words, target in tree.places(child):
                yield from _triples([noun], f"{child.original} {words}", [target])


def _triples(subjects: Iterable[Token], words: str, targets: Iterable[Token]) -> list[tuple[str, str, str]]:
    ends = tree.all_names(targets)
    return [(subject, words, end) for subject in tree.all_names(subjects) for end in ends]


def _sharing(noun: Token, words: str) -> list[Token]:
    """Return the nouns a preposition belongs to: both in 'a dish and spoon in it'."""
    nouns = [noun]
    while words not in ("of", "with") and nouns[-1].dep_ == "conj" and tree.is_noun(nouns[-1].head):
        nouns.append(nouns[-1].head)
    return nouns


def _of_verb(verb: Token) -> Iterator[tuple[str, ...]]:
    """Yield all that a verb states of its subjects."""
    who = subjects_of(verb)
    statements = [*_with_object(verb, who), *_with_place(verb, who), *_predicates(verb, who)]
    if not statements and verb.lemma_ != "be" and not _has_complement(verb):
        # A participle stays as written ('broken'), an action is its lemma ('smile').
        word = verb.original if tree.is_passive(verb) else _verb_name(verb)
        statements = [(subject, word) for subject in tree.all_names(who)]
    yield from statements


@once
def _verb_name(verb: Token) -> str:
    particle = [c.lower_ for c in verb.children if c.dep_ == "prt" or _is_bare_preposition(c)]
    return " ".join([tree.verb_base(verb), *particle])


def _is_bare_preposition(token: Token) -> bool:
    """Return whether a preposition lost its noun to the verb: 'traveling down tracks'."""
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
    statements: list[tuple[str, ...]] = []
    for words, noun in places_of_verb(verb):
        statements += _triples(who, f"{word} {words}".strip(), [noun])
    return statements


def _predicates(verb: Token, who: list[Token]) -> list[tuple[str, ...]]:
    """Yield 'the dog is brown', 'painted yellow', 'is afraid of the dog', 'is a doctor'."""
    statements: list[tuple[str, ...]] = []
    existential = any(c.dep_ == "expl" for c in verb.children)
    for child in verb.children:
        if child.dep_ in ("acomp", "oprd") and child.tag_[:2] in ("JJ", "VB"):
            statements += [(subject, word) for subject in tree.all_names(who) for word in _adjectives(child)]
            for words, noun in tree.places(child):
                statements += _triples(who, f"{child.original} {words}", [noun])
        elif child.dep_ == "attr" and not existential and tree.is_noun(child):
            statements += _triples(who, "be", tree.nouns(child))
    return statements


def _has_complement(verb: Token) -> bool:
    purpose = any(c.dep_ == "advcl" and any(a.lower_ == "to" for a in c.lefts) for c in verb.children)
    return purpose or any(c.dep_ in ("xcomp", "ccomp", "acomp", "oprd", "dobj") for c in verb.children)


def _once(items: Iterable) -> tuple:
    return tuple(dict.fromkeys(items))


# To whom a participle or a preposition belongs, by sense where the parser goes by nearness. 'A man in a suit on a motorcycle':
# the man is on it. 'Holding an umbrella in the rain' is done in the rain.

# Things stand and hang somewhere; whatever else is done, somebody does it.
OF_THINGS = lexicon.word_set("sit stand lie lay hang lean rest float grow contain show face fly be park cover")
# What follows is about the noun, not about where it is done: 'a cup of tea', 'a shirt with a logo'.
OF_THE_NOUN = lexicon.word_set("of with for about like without between")
TOWARDS = lexicon.word_set("at to for of like as")  # 'looks at vases on a shelf': they are there
BESIDE = frozenset(["next to", "near", "beside", "by", "behind", "in front of"])
HOLDERS = lexicon.word_set("leash stroller cage vase harness")
CARRYING = lexicon.word_set("ride drive hold carry have wear")  # 'riding a bike with a basket'
Place = tuple[str, Token]


def subjects_of(verb: Token) -> list[Token]:
    """Return a verb's subjects: somebody, if a thing cannot do it."""
    subjects = tree.subjects(verb)
    own = any(child.dep_ in ("nsubj", "nsubjpass") for child in verb.children)
    participle = verb.dep_ in ("acl", "relcl", "advcl") and verb.tag_ in ("VBG", "VB") and not own
    if not participle or not subjects or any(tree.is_animate(noun) for noun in subjects):
        return subjects
    purpose = verb.tag_ == "VB" and any(c.lower_ == "to" for c in verb.lefts)
    if purpose or subjects[0].word.things or tree.verb_base(verb) not in OF_THINGS:
        return _holders(subjects[0]) or subjects
    return subjects


def places_of_noun(noun: Token) -> Iterator[Place]:
    """Yield a noun's prepositions with their nouns, those of worn things among them."""
    own = list(tree.places(noun))
    yield from (place for place in own if not _moves_up(noun, place) and not _worn_there(noun, own, place))
    above = _above(noun) if noun.dep_ == "pobj" else noun
    beside = list(tree.places(above)) if above is not noun else []
    yield from (place for place in beside if [noun.i] == [n.i for n in _worn_there(above, beside, place)])
    for words, target in tree.places(noun):
        if target.word.things or not tree.is_animate(target):
            yield from (place for place in tree.places(target) if _moves_up(target, place) and words != "of")
    if noun.dep_ == "dobj" and tree.is_verb(noun.head):
        yield from (place for place in tree.places(noun.head) if _moves_down(noun.head, noun, place))


def places_of_verb(verb: Token) -> Iterator[Place]:
    """Yield a verb's prepositions, those among them that the parser joined elsewhere."""
    objects = [child for child in verb.children if child.dep_ == "dobj"]
    own = list(tree.places(verb))
    for place in own:
        if not any(_moves_down(verb, noun, place) for noun in objects) and not _worn_there(verb, own, place):
            yield place
        yield from (further for further in tree.places(place[1]) if _moves_up(place[1], further))
    for noun in objects:
        yield from (place for place in tree.places(noun) if _moves_up(noun, place))


def _moves_up(noun: Token, place: Place) -> bool:
    """Return whether a preposition below a noun is said of what the noun hangs on."""
    words, target = place
    if target.i < noun.i:  # 'a cake in front of her'
        return False
    if words == "of" or tree.is_animate(noun):
        return noun.dep_ == "dobj" and words != "of" and not _belongs(noun, place)
    body = _is_body_part(target)
    if noun.word.things:
        is_detachable = words not in OF_THE_NOUN or tree.is_animate(target)
        return is_detachable and not body and _first_listed(noun).dep_ in ("pobj", "dobj")
    if noun.dep_ == "dobj":
        return words not in OF_THE_NOUN and not _belongs(noun, place)
    if words == "with" and body:
        return noun.dep_ == "pobj"
    if noun.dep_ != "pobj":
        return False
    if not tree.is_verb(_above(noun)):  # 'a bench in a park next to a lake'
        return words in BESIDE and noun.head.lower_ in ("in", "on", "at")
    towards = noun.head.lower_ in TOWARDS
    return not towards and not body and not _is_body_part(noun) and (words not in OF_THE_NOUN or words == "between")


def _moves_down(verb: Token, noun: Token, place: Place) -> bool:
    """Return whether a preposition below a verb is said of its object."""
    words, target = place
    if target.i < noun.i:
        return False
    if words == "with":
        edible = lexicon.is_food(tree.names(noun)[0]) and lexicon.is_food(tree.lemma(target))
        stays = tree.verb_base(verb) in CARRYING and not tree.is_animate(target) and not _is_body_part(target)
        worn = tree.is_animate(noun) and bool(target.word.things)
        return edible or worn or (stays and not tree.is_animate(noun))
    return _belongs(noun, place) and words in ("in", "on")


def _worn_there(holder: Token, places: list[Place], place: Place) -> list[Token]:
    """Return the thing worn or held: 'braces on his legs', 'a pen in his hand'."""
    words, target = place
    before = [(with_, noun) for with_, noun in places if noun.i < target.i]
    if words not in ("on", "around", "over", "in", "under") or not before or not _is_body_part(target):
        return []
    with_, thing = before[-1]
    somebody = with_ == "with" if tree.is_verb(holder) else tree.is_animate(holder)
    return [thing] if somebody and not tree.is_animate(thing) and not _is_body_part(thing) else []


def _belongs(noun: Token, place: Place) -> bool:
    """Return whether a verb's object is itself in or on something: a leash, a wheelchair."""
    words, target = place
    name = tree.lemma(target)
    if noun.head.lemma_ == "have" or name in HOLDERS:
        return True
    ridden = lexicon.is_under(name, "vehicle.n.01", "clothing.n.01", "wheelchair.n.01")
    return tree.is_animate(noun) and words in ("in", "on", "with") and (ridden or name in ("wheelchair", "bike"))


def _holders(noun: Token) -> list[Token]:
    """Return the people or animals above a thing who wear, hold or accompany it."""
    for above in noun.ancestors:
        if tree.is_verb(above):
            return [who for who in tree.subjects(above) if tree.is_animate(who)]
        if tree.is_noun(above) and tree.is_animate(above):
            return [above]
    return []


def _above(noun: Token) -> Token:
    """Return what the preposition before a noun hangs on."""
    head = noun.head
    while head.dep_ in ("prep", "advmod", "prt") and head.head is not head:
        head = head.head
    return head


def _first_listed(noun: Token) -> Token:
    while noun.dep_ == "conj":
        noun = noun.head
    return noun


def _is_body_part(token: Token) -> bool:
    return not token.word.things and lexicon.is_under(tree.lemma(token), "body_part.n.01")
