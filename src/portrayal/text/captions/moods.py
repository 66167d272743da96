"""Moods of words: denied, supposed, or no part of the picture."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from portrayal.text.captions import dependency as tree
from portrayal.text.captions.lexicon import AUXILIARIES, word_set
from portrayal.text.captions.people import groups_of_adjective
from portrayal.text.captions.trees import HEDGED, HIDDEN, NEGATED, Token, Tree

_CUES = tomllib.loads((Path(__file__).parent / "cues.toml").read_text(encoding="utf-8"))
_WORDS = {name: word_set(words) for name, words in _CUES["words"].items()}
PRESENCE = _WORDS["presence"]  # said of what is missing, and missing nothing
SUBJECTS = ("nsubj", "nsubjpass", "expl", "csubj")
_SEEMS, _ASIDE = ("acomp", "oprd", "xcomp", "attr"), ("prep", "conj", "cc", "punct", "advcl")
_TOGETHER = ("acomp", "oprd", "attr", "xcomp", "pcomp", "acl", "relcl")
_RULES: dict[str, list[tuple[int, dict[str, Any]]]] = {}
for _mood, _name in ((HIDDEN, "hidden"), (HEDGED, "hedged"), (NEGATED, "negated")):
    for _rule in _CUES[_name]:
        _beside = {key: word_set(words) if key != "scope" else words for key, words in _rule.items()}
        for _cue in _beside.pop("cues"):
            _RULES.setdefault(_cue, []).append((_mood, _beside))


def mark(sentence: Tree) -> None:
    """Give every word its mood: hidden words first, for the others hang on them."""
    found = [(*rule, token) for token in sentence.tokens for rule in _RULES.get(token.original, ())]
    for mood, rule, cue in sorted(found, key=lambda one: -one[0]):
        if not _fits(rule, cue):
            continue
        colon = next((one.i for one in sentence.tokens[cue.i :] if one.text == ":"), len(sentence.tokens))
        for top in _SCOPES[rule["scope"]](cue):
            if mood == NEGATED:
                _deny(top)
            for token in () if mood == NEGATED else [top] if top is cue else _below(top, min(cue.i + 1, top.i)):
                token.mood = max(token.mood, mood if token.i < colon or mood != HEDGED else token.mood)


def is_definite(noun: Token) -> bool:
    """Return whether a noun speaks of something known: 'the camera', 'his hat', 'her'."""
    named = any(child.dep_ in ("det", "poss") and child.original in _WORDS["definite"] for child in noun.lefts)
    return named or noun.original in tree.PRONOUNS


def _fits(rule: dict[str, Any], cue: Token) -> bool:
    before, after = _beside_of(cue, -1), _beside_of(cue, 1)
    wanted = before in rule.get("before", (before,)) and after in rule.get("after", (after,))
    return wanted and before not in rule.get("unless_before", ()) and after not in rule.get("unless_after", ())


def _beside_of(token: Token, steps: int) -> str:
    place = token.i + steps
    return token.tree.tokens[place].original if 0 <= place < len(token.tree.tokens) else ""


def _before_phrase(token: Token) -> str:
    return token.tree.tokens[token.left_edge - 1].original if token.left_edge else ""


def _main(cue: Token) -> list[Token]:
    """Return the verb that 'may' or 'not' is said of; 'may be seen' supposes nothing."""
    verb = cue if cue.tag_ == "MD" and cue.dep_ in ("relcl", "ROOT", "conj") else cue.head
    while verb.dep_ in ("aux", "auxpass"):
        verb = verb.head
    return [] if cue.tag_ == "MD" and tree.verb_base(verb) in _WORDS["seen"] else [verb]


def _verb(cue: Token) -> list[Token]:
    """Return the verb that 'not' denies, or the phrase after it."""
    helped = _beside_of(cue, -1) in AUXILIARIES or _beside_of(cue, -1) in ("", "ca", "wo", "can")
    verbs = [one for one in (cue.head, *cue.head.ancestors) if one.tag_[:2] == "VB"]
    if _beside_of(cue, -2) == "or":  # 'may or may not be'
        return []
    if not verbs or not (helped or cue.original == "no"):
        return _phrase(cue)
    return _main(verbs[0]) if verbs[0].dep_ in ("aux", "auxpass") else verbs[:1]


def _phrase(cue: Token) -> list[Token]:
    """Return the phrase after a cue, or the word before: 'a nurse, perhaps'."""
    tokens, start = cue.tree.tokens, cue.i + 1
    if start >= len(tokens) or not tokens[start].original[:1].isalnum():
        return [tokens[cue.i - 2]] if cue.i > 1 and tokens[cue.i - 1].text == "," and start >= len(tokens) - 1 else []
    top = tokens[start]
    if (
        top.dep_ == "amod" and cue.i and tokens[cue.i - 1].dep_ == "det" and cue.head is top
    ):  # 'a possibly broken chair'
        return [top]
    fronted = cue.i == 0 and top.dep_ == "prep"
    commas = [one.i for one in tokens[start:] if one.text == "," and tokens[cue.i - 1].text == ","]
    end = commas[0] if cue.i and commas else len(tokens)  # 'somebody, likely male, waits'
    while start <= top.head.i < end and top.head is not top and not fronted and not _is_cut(top):
        top = top.head  # but of 'Likely at a fair, a girl smiles' the fair alone
    return list(_nouns_below(top)) if top.dep_ == "prep" and top.tag_[:2] != "JJ" else [top]


def _noun_after(cue: Token) -> list[Token]:
    """Return the noun that begins right after a cue: 'what looks like a toddler are'."""
    top = next(iter(cue.tree.tokens[cue.i + 1 :]), cue)
    while top.dep_ in ("det", "amod", "compound", "nummod", "poss") and top.head.i > top.i:
        top = top.head
    return [top]


def _is_cut(top: Token) -> bool:
    """Return whether a comma parts a word from its head: 'maybe a child, has drawn'."""
    between = top.tree.tokens[top.i : top.head.i]
    return any(one.text == "," for one in between) and top.head.left_edge <= top.i and top.head.tag_[:2] == "VB"


def _nouns_below(preposition: Token) -> Iterator[Token]:
    yield from (child for child in preposition.children if child.dep_ in ("pobj", "pcomp", "dobj"))


def _noun(cue: Token) -> list[Token]:
    """Return the noun after 'no' and the verb of which it is the subject."""
    top = [cue.head] if cue.head.i > cue.i else _phrase(cue)
    if not top or top[0].tag_[:2] == "VB" or _beside_of(cue, 2) == "than":
        return []
    signs = [c for c in top[0].children if c.original == "of" and top[0].original in _WORDS["sign"]]
    return [*top, *(noun for of in signs for noun in _nouns_below(of)), *_verb_of_subject(top[0], cue.i)]


def _verb_of_subject(noun: Token, start: int) -> list[Token]:
    while noun.dep_ == "conj" and noun.head.i > start:
        noun = noun.head
    return _main(noun) if noun.dep_ in SUBJECTS else []


def _around(cue: Token) -> list[Token]:
    """Return what 'nobody' does, or 'neither of them'."""
    cue.mood = NEGATED
    has_nor = any(token.original == "nor" for token in cue.tree.tokens)
    clauses = [child for child in cue.children if child.dep_ in ("acl", "relcl")]
    verbs = _verb_of_subject(cue.head if cue.dep_ == "det" else cue, cue.i)
    return clauses if cue.original == "neither" and has_nor else [*verbs, *clauses]


def _subjects(cue: Token) -> list[Token]:
    """Return what is absent: the noun of 'a missing tooth', the subject of 'is absent'."""
    if any(child.dep_ == "dobj" for child in cue.children):
        return []
    verb = cue if cue.tag_[:2] == "VB" and cue.dep_ not in ("amod", "acomp") else cue.head
    subjects = [child for child in verb.children if child.dep_ in ("nsubj", "nsubjpass", "attr")]
    return [cue.head] if cue.dep_ in ("amod", "acl", "relcl") else subjects


def _complements(verb: Token) -> list[Token]:
    """Return how something seems: not where it appears, nor what somebody looks at."""
    if verb.dep_ == "auxpass":  # 'looks abandoned'
        return [verb.head]
    after = [child for child in verb.children if child.i > verb.i and child.dep_ != "advcl"]
    said = [child for child in after if child.dep_ in _SEEMS or child.original in ("like", "as")]
    said += [child for child in after if child.dep_ in ("dobj", "ccomp") and groups_of_adjective(child.original)]
    if tree.verb_base(verb) == "seem" or (said and tree.verb_base(verb) == "appear"):
        return [child for child in after if child.dep_ not in SUBJECTS]
    return said


def _speech(cue: Token) -> list[Token]:
    """Return what speakers say of themselves: 'I love this one'."""
    names_any = any(one.original == "any" for child in cue.head.children for one in child.lefts)
    speaks = cue.dep_ == "nsubj" and cue.head.dep_ == "ROOT" and tree.verb_base(cue.head) not in _WORDS["witness"]
    return [cue.head] if speaks and not names_any else []


def _is_seen(noun: Token) -> bool:
    """Return whether somebody sees or has a noun: 'I see neither the bride nor ...'."""
    first = noun.head if noun.dep_ == "conj" else noun
    return first.dep_ == "dobj" and tree.verb_base(first.head) in _WORDS["own"]


def _is_picture(noun: Token) -> bool:
    """Return whether a noun means the picture itself, and none that is depicted."""
    compound = any(child.dep_ == "compound" and child.original not in _WORDS["pictures"] for child in noun.lefts)
    if noun.original in _WORDS["frame"]:
        return not compound and noun.dep_ != "compound"
    determiner = next((child.original for child in noun.lefts if child.dep_ in ("det", "poss")), "")
    around = {child.original for child in (*noun.children, *noun.head.children)}
    if noun.dep_ in ("attr", "dobj") or noun.head.original == "like":
        around |= {child.original for child in noun.head.head.children if noun.head.original == "like"}
        return bool(around & ({"you", "i"} if noun.dep_ == "dobj" else {"it", "this", "that", "here"}))
    if noun.dep_ in ("nsubj", "nsubjpass"):
        is_placed = bool(around & _WORDS["beside"])
        is_placed |= tree.verb_base(noun.head) in _WORDS["hangs"]
        return (determiner in _WORDS["this"] or noun.i == 0) and not is_placed
    is_within = noun.dep_ == "pobj" and noun.head.original in _WORDS["within"]
    return determiner in _WORDS["this"] and not compound and is_within and "on" not in around


def _written(verb: Token) -> list[Token]:
    """Return what a sign says: 'a sign that says no parking'."""
    subjects = tree.subjects(verb) if verb.tag_[:2] == "VB" else []
    if not subjects or any(tree.is_animate(noun) for noun in subjects):
        return []
    return [child for child in verb.children if child.i > verb.i and child.dep_ not in _ASIDE]


_SCOPES = {
    "verb": _verb, "main": _main, "phrase": _phrase, "noun": _noun, "around": _around, "subjects": _subjects, "written": _written,
    "complements": _complements, "children": lambda cue: list(_nouns_below(cue)),
    "like": lambda cue: [cue.head] if cue.dep_ == "mark" else list(_nouns_below(cue)) or _noun_after(cue), "speech": _speech,
    "next": lambda cue: list(_nouns_below(cue.tree.tokens[cue.i + 1])) or _phrase(cue.tree.tokens[cue.i + 1]),
    "objects": lambda cue: [c for c in cue.children if c.dep_ in ("dobj", "xcomp") and c.i > cue.i],
    "that": lambda cue: [one for one in (*cue.children, *cue.head.children) if one.dep_ == "ccomp" and one.i > cue.i],
    "self": lambda cue: [cue], "unknown": lambda cue: [top for top in _phrase(cue) if not is_definite(top) or _is_seen(top)],
    "head": lambda cue: [cue.head] if cue.dep_ == "amod" else [],
    "right": lambda cue: [child for child in cue.children if child.i > cue.i],
    "two before": lambda cue: cue.tree.tokens[max(cue.i - 2, 0) : cue.i - 1],
    "picture": lambda noun: [noun] if noun.tag_[:2] == "NN" and _is_picture(noun) else [],
}  # fmt: skip


def _below(top: Token, start: int) -> Iterator[Token]:
    """Yield a word and all below it, without clauses that stand alone."""
    if top.i >= start:
        yield top
    for child in top.children:
        joined = child.dep_ in ("conj", "parataxis")
        concedes = any(one.dep_ == "mark" and one.original in _WORDS["though"] for one in child.children)
        own = any(c.dep_ in SUBJECTS for c in child.children) and not any(c.original == "that" for c in child.lefts)
        apart = concedes or (joined and (_before_phrase(child) in _WORDS["but"] or own))
        if child.i >= start and not apart and child.dep_ not in ("advcl", "relcl"):
            yield from _below(child, start)


def _deny(token: Token) -> None:
    """Deny a word, what is joined to it, and its open objects."""
    if token.mood >= NEGATED:
        return
    token.mood = NEGATED
    is_noun = token.tag_[:2] != "VB" and token.dep_ not in ("acomp", "oprd")
    owns = tree.verb_base(token) in _WORDS["own"]
    for child in token.children:
        if (child.i < token.i and child.dep_ not in ("attr", "dobj")) or _is_instead(child):
            continue
        if child.dep_ in ("conj", "appos"):
            if _is_joined(token, child, is_noun):
                _deny(child)
        elif child.dep_ == "ccomp" and tree.verb_base(token) not in _WORDS["raising"]:
            continue  # 'does not see where he is going'
        elif child.dep_ in _TOGETHER or (
            child.dep_ in ("dobj", "dative", "ccomp") and (owns or not is_definite(child))
        ):
            _deny(child)
        elif child.dep_ in ("prep", "agent") and not (is_noun and child.original in _WORDS["where"] | _WORDS["but"]):
            for noun in _nouns_below(child):
                if not is_definite(noun) or noun.dep_ == "pcomp":
                    _deny(noun)
    if not is_noun and _is_of_presence(token):
        for child in token.children:
            if child.dep_ in ("nsubj", "nsubjpass"):
                _deny(child)
                for of in (one for one in child.children if child.original == "none" and one.original == "of"):
                    for noun in _nouns_below(of):  # 'none of the parents are in the picture'
                        _deny(noun)


def _is_instead(token: Token) -> bool:
    """Return whether a word stands for what is denied: 'no people, just a bed'."""
    return any(one.original in _WORDS["but"] and one.original != "other" for one in token.lefts)


def _is_joined(token: Token, other: Token, is_noun: bool) -> bool:
    word = _before_phrase(other)
    if _is_instead(other):
        return False
    if word in _WORDS["but"] or (not is_noun and word not in ("or", "nor", ",")):
        return False
    own = any(child.dep_ in ("det", "nummod") for child in other.lefts)
    return not (word == "and" and own and any(child.original == "no" for child in token.lefts))


def _is_of_presence(verb: Token) -> bool:
    """Return whether a denied verb takes its subject away: 'is not visible'."""
    if any(one.dep_ in SUBJECTS and one.mood == NEGATED and one.original != "none" for one in verb.children):
        return False
    within = any(noun.mood == HIDDEN for child in verb.children if child.dep_ == "prep" for noun in child.children)
    said = any(child.original in _WORDS["present"] for child in verb.children if child.i > verb.i)
    is_seen = tree.verb_base(verb) in _WORDS["seen"] and any(c.dep_ in ("nsubjpass", "auxpass") for c in verb.children)
    return is_seen or (tree.verb_base(verb) == "be" and (within or said))
