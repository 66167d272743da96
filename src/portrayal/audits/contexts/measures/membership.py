"""Which clusters and places a tag belongs to: every distinct tag is looked up once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import polars as pl

from portrayal.batches import Source, scan
from portrayal.text.words.tag_spelling import normalise
from portrayal.text.words.typology import clusters_of, read_tags

SUPER = ("demographics", "concrete", "abstract")  # the headline vector


@dataclass(frozen=True)
class Membership:
    """Which clusters and contexts each distinct tag belongs to: a table of tags by columns."""

    tags: pl.DataFrame  # tag (as answered), known (some list holds it or its head), placed (it is in a cluster)
    clusters: tuple[str, ...]
    contexts: tuple[str, ...]
    member: np.ndarray  # tags x (clusters + contexts), booleans


class _Lists:
    """The typology and the places' dictionaries; equal only to the same two tables, so that they are prepared once."""

    def __init__(self, typology: pl.DataFrame, context_tags: pl.DataFrame) -> None:
        self.typology, self.context_tags = typology, context_tags

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Lists) and self.typology is other.typology and self.context_tags is other.context_tags

    def __hash__(self) -> int:
        return hash((id(self.typology), id(self.context_tags)))


class _Prepared(NamedTuple):
    """The lists, ready to be asked."""

    known: dict[str, frozenset[str]]  # the clusters of every entry of the typology
    of_places: frozenset[str]
    clusters: tuple[str, ...]
    contexts: tuple[str, ...]
    columns: dict[str, list[int]]  # of every entry, the columns of clusters and contexts it is in


@lru_cache(maxsize=4)
def _prepared(lists: _Lists) -> _Prepared:
    members = _members(lists.typology, lists.context_tags)
    contexts = tuple(lists.context_tags["context"].unique().sort())
    clusters = tuple(name for name in members if name not in contexts)
    columns: dict[str, list[int]] = {}
    for place, name in enumerate((*clusters, *contexts)):
        for entry in members[name]:
            columns.setdefault(entry, []).append(place)
    known = clusters_of(lists.typology)
    return _Prepared(known, frozenset(lists.context_tags["tag"]), clusters, contexts, columns)


def membership(tags: Sequence[str] | pl.Series, typology: pl.DataFrame, context_tags: pl.DataFrame) -> Membership:
    """Look every distinct tag up once, in the typology and in the contexts' dictionaries."""
    given = list(tags)
    normal = list(map(normalise, given))
    known, of_places, clusters, contexts, columns = _prepared(_Lists(typology, context_tags))
    read = read_tags(set(normal), known, of_places)
    entries = [read.get(tag, ()) for tag in normal]
    width = len(clusters) + len(contexts)
    member = np.zeros(len(entries) * width, dtype=bool)
    member[
        [row * width + column for row, entry in enumerate(entries) for one in entry for column in columns.get(one, ())]
    ] = True
    table = pl.DataFrame(
        {
            "tag": given,
            "known": list(map(bool, entries)),
            "placed": [not known.keys().isdisjoint(entry) for entry in entries],
        },
        schema={"tag": pl.String, "known": pl.Boolean, "placed": pl.Boolean},
    )
    return Membership(table, clusters, contexts, member.reshape(len(entries), width))


def tag_counts(responses: Source) -> pl.DataFrame:
    """Return how often each system used each tag: system, tag, rows, in the order of first use.

    `responses` is a table, a lazy one or a folder of Parquet files; what is kept are the distinct tags.
    """
    used = scan(responses, ["system", "tag"], "responses").with_row_index("first").drop_nulls("tag")
    counted = used.group_by("system", "tag").agg(pl.len().alias("rows"), pl.col("first").min())
    return counted.collect(engine="streaming").sort("first").drop("first")


def unknown_tags(responses: Source, typology: pl.DataFrame, context_tags: pl.DataFrame) -> pl.DataFrame:
    """Return the tags that are in no cluster, most frequent first: tag, rows, systems."""
    counts = tag_counts(responses)
    looked_up = membership(counts["tag"].unique().sort(), typology, context_tags).tags
    return (
        counts.join(looked_up.filter(~pl.col("placed")), on="tag", how="semi")
        .with_columns(pl.col("tag").map_elements(normalise, return_dtype=pl.String))
        .group_by("tag")
        .agg(pl.col("rows").sum(), pl.col("system").unique().sort().str.join(", ").alias("systems"))
        .sort("rows", "tag", descending=[True, False])
    )


def coverage_by_system(responses: Source, typology: pl.DataFrame, context_tags: pl.DataFrame) -> pl.DataFrame:
    """Return how much of each system's tags is read: system, uses, of_uses (share), distinct, of_distinct (share)."""
    counts = tag_counts(responses)
    known = membership(counts["tag"].unique().sort(), typology, context_tags).tags.select("tag", "known")
    seen = counts.join(known, on="tag", maintain_order="left")
    read = (pl.col("rows") * pl.col("known")).sum()
    return seen.group_by("system", maintain_order=True).agg(
        uses=pl.col("rows").sum(),
        of_uses=read / pl.col("rows").sum(),
        distinct=pl.len(),
        of_distinct=pl.col("known").mean(),
    )


def _members(typology: pl.DataFrame, context_tags: pl.DataFrame) -> dict[str, set[str]]:
    """Column name to the entries in it: super-clusters, sub-clusters, then contexts."""
    columns: dict[str, set[str]] = {name: set() for name in (*SUPER, "other")}
    for level in ("super_cluster", "sub_cluster"):
        for (name,), part in typology.filter(pl.col(level).is_not_null()).group_by(level, maintain_order=True):
            columns.setdefault(str(name), set()).update(part["tag"])
    for (name,), part in context_tags.sort("context").group_by("context", maintain_order=True):
        columns[str(name)] = set(part["tag"])
    return columns
