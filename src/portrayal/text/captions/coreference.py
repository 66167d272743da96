"""Coreference in a caption: whom a pronoun, 'the man' or 'one of them' means."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from portrayal.text.captions import dependency as tree
from portrayal.text.captions import lexicon
from portrayal.text.captions.people import (
    AGE,
    CHILD,
    GENDER,
    SEVERAL,
    SOMEBODY,
    Pairs,
    Somebody,
    counter,
    groups_after,
    groups_before,
    groups_of,
    groups_of_adjective,
    is_basic,
    is_grown,
    is_person_noun,
    is_pronoun,
    mention,
    number_of,
    part_number,
)  # fmt: skip
from portrayal.text.captions.trees import HEDGED, NEGATED, Token, Tree
from portrayal.text.words import wordnet

_PLURAL, _DEFINITE, _OWNED, _FURTHER, _CROWDS, _SIDES, _CONSISTS, _MEMBERS, _IS_LIKE, _SPOUSES, _EQUALS = map(
    lexicon.word_set, lexicon.LISTS["coreference"].values()
)
_THAT = frozenset(["it", "this", "that"])
Whom = tuple[Somebody, ...]


def resolve(sentences: Sequence[Tree]) -> list[Somebody]:
    """Give every word for people whom it means, and return everybody in order."""
    people: list[Somebody] = []
    for number, sentence in enumerate(sentences):
        earlier = list(people)
        for token in sentence.tokens:
            if token.mood < NEGATED and not token.people:
                if is_pronoun(token):
                    _pronoun(token, people)
                elif _is_part(token):
                    _part(token, people)
                elif is_person_noun(token):
                    _noun(token, people, earlier)
            for one in token.people:
                one.seen = max(one.seen, (number, -token.i if one.seen[0] < number else one.seen[1]))
    return [one for one in people if one.number != 0]


def _is_part(token: Token) -> bool:
    """Return whether a word means some of several: 'the other', 'three are seated'."""
    if _identity_after(token):
        return True
    if token.dep_ in ("nummod", "amod", "det", "compound", "predet", "advmod", "quantmod"):
        return False
    of = [noun for child in token.children if child.original == "of" for noun in child.children if noun.dep_ == "pobj"]
    if any(is_person_noun(noun) and not noun.people for noun in of):  # 'three of the friends': whom the friends are
        return False
    best = token.original.endswith("est") or (token.tag_ == "JJR" and bool(of))
    best = best and any(child.original in _DEFINITE for child in token.lefts)  # 'the oldest', 'the taller of the two'
    counts = token.tag_ == "CD" or best or token.original in lexicon.PARTS
    return token.original in _MEMBERS or (counts and (bool(of) or token.dep_ in ("nsubj", "nsubjpass", "appos")))


def _identity_after(token: Token) -> Pairs:
    """Return the groups after 'one' without a noun: 'one Black and one white'."""
    after = token.tree.tokens[token.i + 1 : token.i + 3]
    alone = len(after) < 2 or not lexicon.may_describe(after[1].original)
    return groups_of_adjective(after[0].original) if token.original in ("one", "other") and after and alone else ()


def _part(token: Token, people: list[Somebody]) -> None:
    """Find of whom a word means some; an adjective of theirs sets them apart."""
    token.people = tuple(sorted((one for one in people if one.is_several), key=lambda one: not one.is_part)[-1:])
    said = [child for child in token.head.children if child.dep_ == "acomp" and child.mood < NEGATED]
    pairs = [pair for child in said if token.dep_ == "nsubj" for pair in groups_of_adjective(child.original)]
    pairs += _identity_after(token)
    if token.people and any(group not in token.people[0].groups.get(axis, ()) for axis, group in pairs):
        token.people = _split(token, part_number(token), token.people[0], people)
        token.people[0].add(pairs)


def _split(token: Token, number: int | None, whole: Somebody, people: list[Somebody]) -> Whom:
    """Take some out of several, with the groups of all."""
    whole.number = None if whole.number is None or number is None else max(whole.number - number, 0)
    (part,) = _new(token, number, people)
    part.is_several, part.is_part = number != 1, True
    part.add(whole.pairs())
    return (part,)


def _new(token: Token, number: int | None, people: list[Somebody]) -> Whom:
    people.append(Somebody(number, token if tree.is_noun(token) else None, is_several=number != 1))
    return (people[-1],)


def _pronoun(token: Token, people: list[Somebody]) -> None:
    """Find whom a pronoun means: within its sentence, before it, after it, else somebody new."""
    word, around = token.original, token.tree.tokens[max(token.i - 2, 0) : token.i + 3]
    beside = [one for one in around if one is not token and is_pronoun(one)]
    is_either = bool(beside) and any(one.original in ("or", "/") for one in around)
    if is_either and beside[0].i < token.i:  # the second of 'he or she'
        token.people = beside[0].people
        if token.people:
            token.people[0].mentions[-1] += f" or {word}"
        return
    pairs = () if is_either else groups_of(word, pronoun=True)
    whom = () if word in SOMEBODY else _antecedent(token, pairs, people)
    if whom is None:  # things: 'the kites and their tails'
        return
    later = None if whom or word in _PLURAL or word in SOMEBODY else _later(token, pairs)
    if later is not None:
        _noun(later, people, people)
        whom = later.people
    wholes = [one for one in people if one.is_several and one.number and GENDER not in one.groups]
    if wholes and pairs and not whom:  # 'two people ... he'
        whom = _split(token, 1, wholes[-1], people)
    token.people = whom or _new(token, None if word in _PLURAL or word in SEVERAL else 1, people)
    for one in token.people:
        one.mentions.append(word)
        one.add(pairs if one.number == 1 else ())


def _antecedent(token: Token, pairs: Pairs, people: list[Somebody]) -> Whom | None:
    agreeing = tree.agreeing(token)
    subject = _subject_of(token.head) if token.dep_ == "poss" else None  # 'she is her boss'
    other = subject.people if subject is not None and token.head.dep_ == "attr" else ()
    inside = [noun for noun in agreeing if noun.people and all(one.fits(pairs) for one in noun.people)]
    above = token.head
    while above.dep_ in ("prep", "advmod", "pobj") and not above.people:
        above = above.head
    between = token.tree.tokens[above.i + 1 : token.i]
    if token.dep_ == "pobj" and not any(tree.is_noun(one) for one in between):  # 'the boy next to him'
        other = (*other, *above.people)
    own = _clause_people(token)
    if token.dep_ in ("dobj", "dative") and not token.original.endswith(("self", "selves")):  # 'she hands her a wrench'
        other = (*other, *own)
    elif token.dep_ == "poss" and not any(set(pairs) & one.pairs() for noun in inside for one in noun.people):
        inside = [noun for noun in inside if set(noun.people) & set(own)] or inside  # 'as a guest counts her coins'
    inside = [noun for noun in inside if not set(noun.people) & set(other)]
    people = [one for one in people if one not in other]
    if token.original not in _PLURAL:  # 'a guide holds a flag and the tourists follow her'
        one_of = [one for one in inside if any(each.number == 1 for each in one.people)]
        one_of = sorted(one_of, key=lambda one: number_of(one) != 1)  # rather 'a woman' than the rest of two
        inside = one_of or ([] if any(one.number == 1 and one.fits(pairs) for one in people) else inside)
    if inside:
        every = tree.nouns(inside[0]) if token.original in _PLURAL else inside[:1]
        return tuple(dict.fromkeys(one for noun in every for one in noun.people))
    if token.original in _PLURAL:
        things = agreeing and token.original != "them"
        several = [one for one in people if one.number != 1]
        is_one = len(people) == 1 and GENDER in people[0].groups  # 'a woman ... they': rather what she looks at
        is_open = not several and (is_one or (not people and token.tree.number > 0))
        return None if things or is_open else tuple(several[-1:] or people)
    single = [one for one in people if one.number == 1]
    fitting = [one for one in single if one.fits(pairs)]
    named = [one for one in fitting if GENDER in one.groups]
    only = single if len(people) == 1 else []  # 'a woman ... he': one person, called by the words of two genders
    several = [one for one in people if one.is_several and pairs and set(pairs) <= one.pairs()]  # one of 'two women'
    return tuple(sorted(named or fitting or only or several, key=lambda one: one.seen)[-1:])


def _clause_people(token: Token) -> Whom:
    """Return the subject of a pronoun's clause, unless the pronoun stands in it."""
    verb = next((above for above in token.ancestors if tree.is_verb(above)), None)
    subjects = [child for child in verb.children if child.dep_ == "nsubj"] if verb is not None else []
    return subjects[0].people if subjects and subjects[0].i < subjects[0].head.i <= token.i else ()


def _later(token: Token, pairs: Pairs) -> Token | None:
    """Return the noun after a pronoun that it means: 'in his kitchen, a man cooks'."""
    for noun in token.tree.tokens[token.i + 2 :]:
        if noun.dep_ in ("nsubj", "nsubjpass") and is_person_noun(noun) and noun.i > token.head.i:
            named = dict(groups_of(mention(noun)))
            agrees = all(named.get(axis, group) == group for axis, group in pairs)
            return noun if number_of(noun) == 1 and agrees else None
    return None


def _noun(token: Token, people: list[Somebody], earlier: list[Somebody]) -> None:
    """Find whom a noun means: its subject, somebody named before, else somebody new."""
    word, pairs = mention(token), groups_of(mention(token))
    others = _alternatives(token)
    above = counter(token)
    named = [set(pairs), *(set(groups_of(mention(other))) for other in others)]
    if others:  # 'a man or a woman'
        pairs = tuple(set.intersection(*named))
        word = " or ".join([word, *map(mention, others)])
    pairs = tuple(dict.fromkeys((*pairs, *groups_before(token))))
    subject = _subject_of(token)
    number = number_of(token)
    whom = subject.people if subject is not None else _supposed(token, pairs, people)
    if token.dep_ == "dobj" and subject is not None:  # 'she plays a king'
        pairs = ()
    listed = not others and any(child.dep_ == "conj" and tree.is_noun(child) for child in token.children)
    if token.dep_ == "appos" and not all(one.fits(pairs) and (one.is_several or not listed) for one in whom):
        whom = ()  # 'a mother, a father'
    is_part = subject is not None and _is_part(subject)
    part = part_number(subject) if is_part and subject is not None else None
    number = part if is_part and not listed else number
    leaves = (listed or number == 1 or is_part) and len(whom) == 1
    leaves = leaves and any(_adds(one, groups_of(mention(one)), whom[0]) for one in _listed(token))
    if leaves and whom[0].is_several and whom[0].number != number:  # 'one of them is a woman'
        whole, rest = whom[0], max((whom[0].number or 0) - (part or 0), 0) if part else 0
        whom = _split(token, number, whole, people)
        whole.number = rest if listed else whole.number
        if subject is not None and is_part:
            subject.people = whom
    whom = (
        whom
        or _also_meant(token, pairs)
        or _beside(token, pairs)
        or _fronted(token, people)
        or (above.people if above is not None else ())
        or _named_before(token, pairs, people, earlier)
    )
    if not whom and number and GENDER in dict(pairs):
        _leave(token, number, people)
    token.people = whom or _new(token, number, people)
    if above is not None and not above.people:
        above.people = token.people
    for one in token.people:
        one.token = one.token or token
        one.number = number if one.number is None and (number or 0) > 1 else one.number
        one.mentions.append(word)
        one.add([*pairs, *groups_after(token)])
    for other in others:
        other.people = token.people
        other.is_open = token.is_open = any(each != named[0] for each in named)


def _beside(token: Token, pairs: Pairs) -> Whom:
    """Return whom a hedged noun between commas means: 'a figure, probably a man, waits'."""
    tokens, start = token.tree.tokens, token.left_edge
    start += tokens[start].text == ","
    while start > 1 and tokens[start - 1].tag_ == "RB" and token.mood == HEDGED:
        start -= 1
    if start < 2 or token.mood != HEDGED or tokens[start].tag_ != "RB" or tokens[start - 1].text != ",":
        return ()
    before = [one for one in tokens[: start - 1] if one.people]
    whom, number = before[-1].people if before else (), number_of(token)
    alike = len(whom) == 1 and (whom[0].number == number or (number is None and whom[0].number != 1))
    return whom if alike and whom[0].fits(pairs) else ()


def _fronted(token: Token, people: list[Somebody]) -> Whom:
    """Return whom 'the man' means in 'perhaps a tourist, the man smiles'."""
    start = token.tree.tokens[token.left_edge - 1] if token.left_edge > 2 else None
    fronts = start is not None and start.text == "," and token.tree.tokens[1].mood == HEDGED
    is_subject = token.dep_ in ("nsubj", "nsubjpass") and any(one.original in _DEFINITE for one in token.lefts)
    front = [one for one in people if one.number == 1 and one.token is not None and one.token.tree is token.tree]
    said = [one for one in front if one.token is not None and one.token.mood == HEDGED]
    return tuple(front) if fronts and is_subject and len(front) == len(said) == 1 else ()


def _supposed(token: Token, pairs: Pairs, people: list[Somebody]) -> Whom:
    """Return whom 'it' means in 'it may be a woman'."""
    subjects = [child.original for child in token.head.children if child.dep_ in ("nsubj", "nsubjpass")]
    single = [one for one in people if one.number == 1 and one.fits(pairs)]
    supposes = token.dep_ == "attr" and token.mood == HEDGED and subjects and subjects[0] in _THAT
    return tuple(single if supposes and len(single) == 1 else ())


def _leave(token: Token, number: int, people: list[Somebody]) -> None:
    """Take members out of a whole of no gender: 'two people ... the woman'."""
    wholes = [one for one in people if one.is_several and one.token is not None and GENDER not in one.groups]
    whole = next((one for one in reversed(wholes) if (one.number or 0) >= number), None)
    if whole is None or whole.token is None:
        return
    own = ("the", "their") if "family" in whole.names() else ("the",)
    leaves = any(child.original in own for child in token.lefts) or tree.lemma(token) in _SPOUSES
    if whole.token.tree is token.tree:
        between = token.tree.tokens[whole.token.i + 1 : token.left_edge]
        said = [one for one in between if one.tag_[:2] == "VB" and one.original not in _CONSISTS]
        leaves = bool({one.original for one in between} & ({":"} if said else _CONSISTS))
    whole.number = (whole.number or 0) - number if leaves else whole.number


def _listed(token: Token) -> list[Token]:
    return [token, *(child for child in token.children if child.dep_ == "conj" and is_person_noun(child))]


def _also_meant(token: Token, pairs: Pairs) -> Whom:
    """Return whom a later noun means: 'the women are a mother and a daughter'."""
    above = token.head
    is_list = token.dep_ == "conj" and above.dep_ in ("attr", "appos") and len(above.people) == 1
    whole = above.people[0] if is_list and number_of(above) == number_of(token) == 1 else None
    return (whole,) if whole is not None and whole.is_several and not _adds(token, pairs, whole) else ()


def _adds(token: Token, pairs: Pairs, whole: Somebody) -> bool:
    """Return whether a noun names a group that the whole has not."""
    every = [*pairs, *(pair for child in token.lefts for pair in groups_of_adjective(child.original))]
    return any(group not in whole.groups.get(axis, ()) for axis, group in every)


def _side(token: Token) -> str:
    """Return where somebody is told to be: 'the person on the left'."""
    after = [one.original for one in token.tree.tokens[token.i : token.i + 5]]
    before = [one.original for one in token.lefts]
    return next((word for word in (*before, *after) if word in _SIDES), "")


def _alternatives(noun: Token) -> list[Token]:
    joined = [c for c in noun.children if c.dep_ == "conj" and c.i > noun.i and is_person_noun(c)]
    joined = [c for c in joined if any(one.original in ("or", "/") for one in noun.tree.tokens[noun.i : c.i])]
    return [one for child in joined for one in (child, *_alternatives(child))]


def _named_before(token: Token, pairs: Pairs, people: list[Somebody], earlier: list[Somebody]) -> Whom:
    """Return those already spoken of whom 'the man', 'the two' or 'the group' means."""
    words = {child.original for child in (*token.lefts, *(token.head.lefts if token.dep_ == "poss" else ()))}
    number, name = number_of(token), tree.lemma(token).rpartition(" ")[2]
    known = [one for one in people if one.fits([*pairs, *_predicate(token)])]
    known = [one for one in known if one.token is None or _side(one.token) in ("", _side(token) or _side(one.token))]
    same = [one for one in known if name in one.names()]
    if words & _MEMBERS or words & _FURTHER:  # 'one woman' of two women
        whole = [one for one in same if one in earlier and one.is_several and (one.number or 0) >= (number or 0)]
        means = words & _DEFINITE or ((pairs or "one" in words) and "other" not in words)
        return tuple(whole[-1:] if means and not words & _FURTHER else ())
    owners = [one for child in token.lefts if child.dep_ == "poss" for one in child.people if one.is_several]
    several = [one for one in owners if one.fits(pairs) and (one.number or 0) > 1]
    if number == 1 and several and name in _EQUALS:  # 'the older boy ... his brother' of two boys
        return tuple(several[:1])
    if number == 1 and not words & _DEFINITE:  # 'her customer', or a role said a second time
        again = [one for one in same if one.number == 1 and one in earlier and (words & _OWNED or not is_basic(name))]
        return tuple(again if len(again) == 1 else ())
    if not words & _DEFINITE:
        return ()
    if number == 1:
        wholes = [one for one in known if one.is_several and one.number != 0 and one in earlier]
        whole = [one for one in wholes if one in same or (is_basic(name) and GENDER in one.groups.keys() & dict(pairs))]
        if whole and not any(one.number == 1 for one in known):  # 'two nuns ... the nun in front'
            return tuple(whole[-1:])
        beside = [one for child in token.children if child.dep_ == "prep" for one in child.children if is_pronoun(one)]
        beside += [
            one for child in token.children for deep in child.children for one in deep.children if is_pronoun(one)
        ]
        may_be = [one for one in known if one.number == 1 and one in earlier and _may_be(one, name) and not beside]
        return tuple(
            [one for one in same if one.number == 1] or (may_be if len(may_be) == 1 or name == "person" else [])
        )[-1:]
    plural = [one for one in known if one.number != 1 and (number is None or one.number in (None, number))]
    plural = [one for one in plural if name not in _CROWDS or one.number is None or one in same]
    of_kind = [one for one in plural if one in same] or [one for one in plural if is_basic(name) or name in SEVERAL]
    singles = [one for one in known if one.number == 1 and (one in earlier or number is None)]
    is_all = len(singles) > 1 and number in (None, len(singles)) and name not in _CROWDS
    exactly = is_all and number is not None and not any(one in same or one.number == number for one in of_kind)
    return tuple(singles if exactly else of_kind[-1:] or (singles if is_all else []))


def _predicate(token: Token) -> Iterator[tuple[str, str]]:
    """Yield the groups of a noun's predicate: 'the clerk is a man'."""
    beside = (*token.children, *(token.head.children if token.dep_ == "nsubj" else ()))
    for noun in beside:
        if noun.dep_ in ("appos", "attr") and noun.i > token.i and is_person_noun(noun) and not _alternatives(noun):
            yield from groups_of(mention(noun))


def _may_be(somebody: Somebody, name: str) -> bool:
    """Return whether a noun can mean somebody: 'the man' a cyclist, not a boy."""
    first = tree.lemma(somebody.token) if somebody.token is not None else "person"
    if (AGE, CHILD) in groups_of(name) and is_grown(first):  # 'the child' is no grandmother
        return False
    if is_basic(name) != is_basic(first) or {"person", *SOMEBODY} & {name, first}:
        return True
    table = wordnet.load()
    one, other = table.most_common(first, "n"), table.most_common(name, "n")
    return one is not None and other is not None and table.is_a(one, other)


def _subject_of(token: Token) -> Token | None:
    """Return the subject of a noun: 'he is a nurse', 'a man, a doctor'."""
    above = token.head
    counts = any(child.dep_ == "nummod" for child in token.lefts) and token.left_edge == above.i + 2
    if token.dep_ == "appos" or (token.dep_ == "conj" and counts):  # 'the judges, two women and a man, are seated'
        listed = any(one.original == "and" for one in token.tree.tokens[above.i : token.i])
        return above if above.people and not listed else None
    if token.dep_ == "pobj" and above.original in ("as", "like"):
        token, above = above, above.head
    elif token.dep_ == "dobj" and tree.verb_base(above) in _IS_LIKE:
        pass
    elif token.dep_ != "attr" or any(child.dep_ == "expl" for child in above.children):
        return None
    while above is not None and not above.people:
        subjects = [child for child in above.children if child.dep_ in ("nsubj", "nsubjpass")]
        if subjects and subjects[0].original not in tree.RELATIVE:
            return subjects[0] if subjects[0].people else None
        if above.dep_ not in ("relcl", "acl", "xcomp", "ccomp", "advcl", "conj"):
            return None
        above = above.head
    return above
