"""The typology of tags: which cluster a tag belongs to, and which place it speaks of.

Tables, not code: `lexicons/typology.csv` (tag, super_cluster, sub_cluster, source), `lexicons/context_tags.csv` (context,
tag, source) and `lexicons/contexts.csv` (context, name, stereotype, median_score). A tag may be in several clusters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import polars as pl

from portrayal.errors import PortrayalError
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
    plain = re.sub(r"_?\([^()]{0,200}\)", "", tag).replace("-", "_").strip("_")
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


def classify_tags(tags: Iterable[str], typology: Path | str | None = None) -> pl.DataFrame:
    """Return the clusters of tags: things, people's looks and character, or who they are [1]_.

    Parameters
    ----------
    tags
        Tags of any spelling: letter case, spaces and plurals are looked through.
    typology
        A CSV of the columns tag, super_cluster, sub_cluster and source; the typology that ships by default.

    Returns
    -------
    polars.DataFrame
        `tag` (as given), `super_cluster` (concrete, abstract, demographics or other) and `sub_cluster` (emotion, judgement,
        occupation, traits, age, feminine, masculine, origin, person, or null): one row for each cluster of each tag, in
        the tags' order. A tag that no list holds has one row in which both are null.

    References
    ----------
    .. [1] Barlas, Kyriakou, Guest, Kleanthous, Otterbacher (2020), To "see" is to stereotype, CSCW.

    Examples
    --------
    >>> from portrayal import classify_tags
    >>> classify_tags(["Girl", "t-shirt", "zqx"]).rows()
    [('Girl', 'demographics', 'age'), ('Girl', 'demographics', 'feminine'), ('t-shirt', 'concrete', None), ('zqx', None, None)]
    """
    if isinstance(tags, str):
        raise PortrayalError("tags is one text. Expected a list of tags: classify_tags([tag]).")
    given = list(tags)
    table = load_typology(typology)
    entries = find([normalise(tag) for tag in given], set(table["tag"]))
    looked_up = pl.DataFrame(
        [(tag, entries.get(normalise(tag))) for tag in given],
        schema={"tag": pl.String, "entry": pl.String},
        orient="row",
    )
    clusters = table.select("super_cluster", "sub_cluster", entry="tag")
    found = looked_up.join(clusters, on="entry", how="left", maintain_order="left_right")
    return found.select("tag", "super_cluster", "sub_cluster")


def _normalised(table: pl.DataFrame) -> pl.DataFrame:
    """Spell the tags of a user's table as the typology spells them."""
    return table.with_columns(pl.col("tag").map_elements(normalise, return_dtype=pl.String))
