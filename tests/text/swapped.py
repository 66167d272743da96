"""Texts and graphs with the gender of everybody in them swapped, by the counterparts of the group words."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, partial
from typing import Any

from portrayal.text.words.group_words import group_words

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
# After these "her" stands for a person and not before what is hers.
_AFTER_OBJECT = re.compile(
    r"\s*(?:[^\w\s]|$|(?:in|on|at|to|with|by|from|and|or|as|while|who|is|are|for|near|next|behind|beside|over|up|down|into|of|the|an?|how)\b)"
)
OTHER = {"female": "male", "male": "female"}


@cache
def counterparts() -> dict[str, str]:
    """Return every gendered form, singular or plural, with its counterpart."""
    words = [word for word in group_words() if word.axis == "gender" and word.counterpart]
    plurals = {word.term: word.plural for word in words}
    pairs: dict[str, str] = {}
    for word in words:
        pairs.setdefault(word.term, word.counterpart)
        if word.plural and plurals.get(word.counterpart):
            pairs.setdefault(word.plural, plurals[word.counterpart])
    return pairs | {"her": "his", "his": "her", "him": "her"}


def swap_text(text: str) -> str:
    """Return a text about the other gender."""
    return _WORD.sub(partial(_swap_match, text), text)


def _swap_match(text: str, match: re.Match[str]) -> str:
    word = match[0]
    stem, _, rest = word.partition("'")
    other = _swap_form(stem.lower())
    if stem.lower() == "her" and _AFTER_OBJECT.match(text, match.end()):
        other = "him"
    if other is None:
        return "-".join(_swap_part(part) for part in word.split("-"))
    other = other.upper() if stem.isupper() and len(stem) > 1 else other.capitalize() if stem[0].isupper() else other
    return other + ("'" + rest if rest else "")


def _swap_part(part: str) -> str:
    return _swap_form(part) or part


def _swap_form(word: str) -> str | None:
    return counterparts().get(word)


def swap_words(words: str) -> str:
    """Return the words of a graph's node or relation, each by its counterpart."""
    return " ".join(_swap_form(word) or word for word in words.split())


def content(graph: Any, change: Callable[[str], str] = str) -> dict[str, list[Any]]:
    """Return what a graph says in an order of its own, its words changed."""
    said: dict[str, list[Any]] = {
        kind: sorted(map(change, getattr(graph, kind))) for kind in ("objects", "negated", "hedged")
    }
    for kind in ("attributes", "relations"):
        said[kind] = sorted(tuple(map(change, words)) for words in getattr(graph, kind))
    turned = change is swap_words
    people = [(str(person.number), sorted(_groups(person.groups, turned).items())) for person in graph.people]
    return {**said, "people": sorted(people)}


def _groups(groups: Any, turned: bool) -> dict[str, str]:
    return {
        axis: OTHER.get(group, group) if turned and axis == "gender" else group for axis, group in dict(groups).items()
    }
