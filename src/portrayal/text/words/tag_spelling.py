"""Spellings of tags."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container, Iterable

PLURALS = {"feet": "foot", "teeth": "tooth", "mice": "mouse", "geese": "goose", "leaves": "leaf", "knives": "knife", "shelves": "shelf",
           "wolves": "wolf", "calves": "calf", "loaves": "loaf", "scarves": "scarf", "halves": "half", "oxen": "ox",
           "potatoes": "potato", "tomatoes": "tomato", "mangoes": "mango", "buses": "bus"}  # fmt: skip


def normalise(tag: str) -> str:
    """Return the tag in lower case, one underscore for every run of spaces."""
    return "_".join(tag.lower().split())


def spellings(tag: str) -> Iterable[str]:
    """Yield the entries of a tag, nearest first: itself, its variants, its singular."""
    yield tag
    plain = re.sub(r"_?\([^()]{0,200}\)", "", _without_accents(tag)).replace("-", "_").strip("_")
    if plain != tag:
        yield plain
    if plain in PLURALS:
        yield PLURALS[plain]
    for ending, singular in (("ies", "y"), ("sses", "ss"), ("shes", "sh"), ("ches", "ch"), ("xes", "x"), ("s", "")):
        if plain.endswith(ending) and not plain.endswith("ss") and len(plain) > len(ending) + 1:
            yield plain.removesuffix(ending) + singular
            break


def _without_accents(tag: str) -> str:
    """Return the tag in plain letters: a café is a cafe."""
    if tag.isascii():
        return tag
    return "".join(sign for sign in unicodedata.normalize("NFD", tag) if not unicodedata.combining(sign))


def find(tags: Iterable[str], known: Container[str]) -> dict[str, str]:
    """Return the entry of each normalised tag that is known under some spelling."""
    entries = {tag: next((spelling for spelling in spellings(tag) if spelling in known), None) for tag in tags}
    return {tag: entry for tag, entry in entries.items() if entry is not None}
