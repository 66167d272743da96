"""Attachments by sense, where the parser goes by nearness.

'A man in a suit on a motorcycle': the man is on it. 'Holding an umbrella in the rain' is done in the rain.
"""

from __future__ import annotations

from collections.abc import Iterator

from portrayal.text.captions import dependency as tree
from portrayal.text.captions import lexicon
from portrayal.text.captions.trees import NEGATED, Token

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
    nobody = [child for child in verb.children if child.original in (*tree.NOBODY, "neither", "one")]
    subjects = tree.subjects(verb) or (nobody if verb.mood == NEGATED else [])
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
        return is_detachable and not body and first_listed(noun).dep_ in ("pobj", "dobj")
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


def first_listed(noun: Token) -> Token:
    """Return the first of the words that 'and' joins to this one."""
    while noun.dep_ == "conj":
        noun = noun.head
    return noun


def _is_body_part(token: Token) -> bool:
    return not token.word.things and lexicon.is_under(tree.lemma(token), "body_part.n.01")
