"""What the words of a caption mean together, before each is looked up alone.

A parser gives nouns and adjectives one by one. Some mean something else together, or where they stand:

    a middle-aged man          is not aged                an African American man    has one identity, not two
    a blue head wrap           is not any wrap            a man in white             is in white clothes, not among white people
    a man with a walker        has a walking frame        walkers on a path          are people
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from portrayal.audits.captions.measures.options import Options
from portrayal.audits.captions.measures.people import is_person
from portrayal.audits.captions.measures.senses import synset_of
from portrayal.text.captions.scene_graph import SceneGraph
from portrayal.text.words import wordnet

COLOURS = ("black", "white")  # identity words that are clothes after `in`
WALKER, ON_FOOT = "walker", "pedestrian"
_GAP = re.compile(r"[\s-]+")


@dataclass(frozen=True)
class Phrases:
    """Terms of several words: nouns (`head wrap`) and adjectives (`middle-aged`)."""

    nouns: tuple[str, ...] = ()
    adjectives: tuple[str, ...] = ()


def phrases_of(options: Options) -> Phrases:
    """Return the terms of several words of a study's lists of artifacts, identities and demeaning words."""
    tables = [options.word_list(name) for name in ("identity", "demeaning")]
    listed = [pair for table in tables for pair in table.select("term", "part").iter_rows()]
    listed += [(term, "n") for term in options.word_list("artifacts")["term"]]
    several = [(term, part) for term, part in listed if _GAP.search(term)]
    return Phrases(*(tuple(term for term, part in several if part == wanted) for wanted in "na"))


def is_phrase(term: str) -> bool:
    """Say whether a noun of several words has no entry of its own in WordNet, so that only the whole of it counts.

    Examples
    --------
    >>> is_phrase("rainbow flag"), is_phrase("hearing aid"), is_phrase("hijab")
    (True, False, False)
    """
    return " " in term and not wordnet.load().lemmas_of(term, "n")


def read_together(graph: SceneGraph, text: str, phrases: Phrases) -> SceneGraph:
    """Return the graph with words put together that mean one thing, and told apart by where they stand."""
    lowered = text.lower()
    for term in _said(phrases.nouns, lowered):
        graph = _joined_noun(graph, term)
    for term in _said(phrases.adjectives, lowered):
        graph = _joined_adjective(graph, term)
    if WALKER in graph.objects and _is_on_foot(graph, lowered):
        graph = renamed(graph, WALKER, ON_FOOT)
    for colour in set(COLOURS) & {target for _, relation, target in graph.relations if _is_worn(relation)}:
        graph = renamed(graph, colour, f"{colour} clothing")
    return graph


def _said(terms: Iterable[str], text: str) -> list[str]:
    pattern = _pattern(tuple(terms))
    found = {_GAP.sub(" ", match.group(1)) for match in pattern.finditer(text)} if pattern else set()
    return [term for term in terms if _GAP.sub(" ", term) in found] if found else []


@lru_cache(maxsize=16)
def _pattern(terms: tuple[str, ...]) -> re.Pattern[str] | None:
    choice = "|".join(r"[\s-]+".join(map(re.escape, _GAP.split(term))) for term in sorted(terms, key=len, reverse=True))
    return re.compile(rf"\b({choice})(?:s|es)?\b") if terms else None


def _joined_noun(graph: SceneGraph, term: str) -> SceneGraph:
    """Call every part of a phrase that the parser took for a noun by the whole phrase; the rest are no attributes of it."""
    parts = _GAP.split(term)
    pieces = {" ".join(parts[i:j]) for i in range(len(parts)) for j in range(i + 1, len(parts) + 1)}
    heads = [noun for noun in graph.objects if noun in pieces or noun.endswith(f" {term}")]
    for noun in heads:
        graph = renamed(graph, noun, term)
    kept = tuple(pair for pair in graph.attributes if pair[0] != term or pair[1] not in parts)
    return SceneGraph(graph.objects, kept, graph.relations)


def _joined_adjective(graph: SceneGraph, term: str) -> SceneGraph:
    """Replace the parts of a term, as the parser gave them to one noun, by the term."""
    parts = set(_GAP.split(term))
    whom = {noun for noun, word in graph.attributes if word in parts and is_person(noun, synset_of(noun, "n"))}
    kept = [pair for pair in graph.attributes if not (pair[0] in whom and pair[1] in parts)]
    return SceneGraph(graph.objects, (*kept, *((noun, term) for noun in sorted(whom))), graph.relations)


def _is_on_foot(graph: SceneGraph, text: str) -> bool:
    """Several walkers, or one with nobody else in the picture, are people; one beside somebody is a frame."""
    others = (noun for noun in graph.objects if noun != WALKER)
    return "walkers" in text or not any(is_person(noun, synset_of(noun, "n")) for noun in others)


def _is_worn(relation: str) -> bool:
    return relation in ("in", "wear") or relation.endswith(" in")


def renamed(graph: SceneGraph, old: str, new: str) -> SceneGraph:
    """Return the graph with one noun called otherwise, each tuple once."""

    def name(noun: str) -> str:
        return new if noun == old else noun

    return SceneGraph(
        tuple(dict.fromkeys(map(name, graph.objects))),
        tuple(dict.fromkeys((name(noun), word) for noun, word in graph.attributes)),
        tuple(dict.fromkeys((name(one), word, name(other)) for one, word, other in graph.relations)),
    )
