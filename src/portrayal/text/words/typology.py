"""Typology of tags, read from `lexicons/`; a tag may be in several clusters."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

import polars as pl

from portrayal.errors import PortrayalError
from portrayal.text.lexicons import read_lexicon
from portrayal.text.words.tag_phrases import read_phrase
from portrayal.text.words.tag_spelling import find, normalise

SEE = "See docs/contexts.md."


def load_typology(path: Path | str | None = None) -> pl.DataFrame:
    """Read the typology that ships, or another of the same columns."""
    return _normalised(read_lexicon("typology", path, ("tag", "super_cluster", "sub_cluster", "source"), SEE))


def load_context_tags(path: Path | str | None = None) -> pl.DataFrame:
    """Read the dictionaries of the places: one row per context and tag."""
    return _normalised(read_lexicon("context_tags", path, ("context", "tag", "source"), SEE))


def load_contexts(path: Path | str | None = None) -> pl.DataFrame:
    """Read the places: code, name, and the gender cluster they are stereotyped to (empty: none)."""
    return read_lexicon("contexts", path, ("context", "name", "stereotype"), SEE)


def clusters_of(typology: pl.DataFrame) -> dict[str, frozenset[str]]:
    """Return every entry's clusters: sub-clusters, or the super-cluster where there is none."""
    named = typology.select("tag", cluster=pl.coalesce("sub_cluster", "super_cluster"))
    grouped = named.group_by("tag", maintain_order=True).agg("cluster")
    return {tag: frozenset(clusters) for tag, clusters in grouped.iter_rows()}


def read_tags(
    tags: Iterable[str], known: Mapping[str, frozenset[str]], further: Collection[str] = ()
) -> dict[str, tuple[str, ...]]:
    """Return the entries each normalised tag is read by."""
    everything = {**dict.fromkeys(further, frozenset()), **known}
    whole = find(tags, everything)
    read = {tag: (whole[tag],) if tag in whole else read_phrase(tag, everything) for tag in tags}
    return {tag: entries for tag, entries in read.items() if entries}


def classify_tags(tags: Iterable[str], typology: Path | str | None = None) -> pl.DataFrame:
    """Return the clusters of tags: things, people's looks and character, or who they are.

    Parameters
    ----------
    tags
        Tags of any spelling: letter case, spaces and plurals are looked through, and phrases read by their head.
    typology
        A CSV of the columns tag, super_cluster, sub_cluster and source; the typology that ships by default.

    Returns
    -------
    polars.DataFrame
        `tag` (as given), `super_cluster` (concrete, abstract, demographics or other) and `sub_cluster` (emotion, judgement,
        occupation, traits, age, feminine, masculine, nonbinary, origin, person, or null): one row for each cluster of each tag,
        both null for a tag that no list holds (Barlas, Kyriakou, Guest, Kleanthous, Otterbacher 2020).

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
    read = read_tags({normalise(tag) for tag in given}, clusters_of(table))
    rows = [(at, tag, entry) for at, tag in enumerate(given) for entry in read.get(normalise(tag), (None,))]
    looked_up = pl.DataFrame(rows, schema={"at": pl.Int64, "tag": pl.String, "entry": pl.String}, orient="row")
    clusters = table.select("super_cluster", "sub_cluster", entry="tag")
    found = looked_up.join(clusters, on="entry", how="left", maintain_order="left_right")
    return found.unique(["at", "super_cluster", "sub_cluster"], maintain_order=True).select(
        "tag", "super_cluster", "sub_cluster"
    )


def _normalised(table: pl.DataFrame) -> pl.DataFrame:
    """Spell the tags of a user's table as the typology spells them."""
    return table.with_columns(pl.col("tag").map_elements(normalise, return_dtype=pl.String))
