"""The typology of tags: which cluster a tag belongs to, and which place it speaks of.

Tables, not code: `lexicons/typology.csv` (tag, super_cluster, sub_cluster, source), `lexicons/context_tags.csv` (context,
tag, source) and `lexicons/contexts.csv` (context, name, stereotype, median_score). A tag may be in several clusters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import polars as pl

from portrayal.text.lexicons import read_lexicon

SEE = "See docs/contexts.md."


def normalise(tag: str) -> str:
    """Return the tag as the typology spells it: lower case, one underscore for every run of spaces.

    Examples
    --------
    >>> normalise("  Wedding Gown ")
    'wedding_gown'
    """
    return re.sub(r"\s+", "_", tag.strip().lower())


def load_typology(path: Path | str | None = None) -> pl.DataFrame:
    """Read the typology that ships, or another of the same columns."""
    return _normalised(read_lexicon("typology", path, ("tag", "super_cluster", "sub_cluster", "source"), SEE))


def load_context_tags(path: Path | str | None = None) -> pl.DataFrame:
    """Read the dictionaries of the places: one row per context and tag."""
    return _normalised(read_lexicon("context_tags", path, ("context", "tag", "source"), SEE))


def load_contexts(path: Path | str | None = None) -> pl.DataFrame:
    """Read the places: code, name, and the gender cluster they are stereotyped to (empty: none)."""
    return read_lexicon("contexts", path, ("context", "name", "stereotype"), SEE)


def spellings(tag: str) -> Iterable[str]:
    """Yield the entries a tag may be found under, nearest first: itself, its spelling variants, its singular.

    Examples
    --------
    >>> list(spellings("eyes"))
    ['eyes', 'eye']
    """
    yield tag
    plain = re.sub(r"_?\([^)]*\)", "", tag).replace("-", "_").strip("_")
    if plain != tag:
        yield plain
    for ending, singular in (
        ("ies", "y"),
        ("sses", "ss"),
        ("shes", "sh"),
        ("ches", "ch"),
        ("xes", "x"),
        ("s", ""),
    ):
        if plain.endswith(ending) and not plain.endswith("ss") and len(plain) > len(ending) + 2:
            yield plain.removesuffix(ending) + singular
            break


def find(tags: Iterable[str], known: set[str]) -> dict[str, str]:
    """Return, for each normalised tag that is known under some spelling, the entry it was found under."""
    found = {}
    for tag in tags:
        for spelling in spellings(tag):
            if spelling in known:
                found[tag] = spelling
                break
    return found


def _normalised(table: pl.DataFrame) -> pl.DataFrame:
    """Spell the tags of a user's table as the typology spells them."""
    return table.with_columns(pl.col("tag").map_elements(normalise, return_dtype=pl.String))
