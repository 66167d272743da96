"""Clusters and places that a tag belongs to: every distinct tag is looked up once.

Barlas et al. (2020), To "See" is to Stereotype, CSCW3, Section 4.5.1, Tables 5 (clusters) and 6 (dictionaries of places).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import polars as pl

from portrayal.audits.contexts.measures.design import SUPER
from portrayal.batches import Source, scan
from portrayal.text.words.tag_spelling import normalise
from portrayal.text.words.typology import clusters_of, load_context_tags, load_typology, read_tags


@dataclass(frozen=True, eq=False)
class WordLists:
    """The typology and the places' dictionaries (those that ship when left out), each prepared once."""

    typology: pl.DataFrame = field(default_factory=load_typology)
    context_tags: pl.DataFrame = field(default_factory=load_context_tags)

    @cached_property
    def known(self) -> dict[str, frozenset[str]]:
        """The clusters of every entry of the typology."""
        return clusters_of(self.typology)

    @cached_property
    def of_places(self) -> frozenset[str]:
        """The entries of all places."""
        return frozenset(self.context_tags["tag"])

    @cached_property
    def members(self) -> dict[str, set[str]]:
        """The entries of each column: super-clusters, sub-clusters, then contexts."""
        columns: dict[str, set[str]] = {name: set() for name in (*SUPER, "other")}
        for level in ("super_cluster", "sub_cluster"):
            filled = self.typology.filter(pl.col(level).is_not_null())
            for (name,), part in filled.group_by(level, maintain_order=True):
                columns.setdefault(str(name), set()).update(part["tag"])
        for (name,), part in self.context_tags.sort("context").group_by("context", maintain_order=True):
            columns[str(name)] = set(part["tag"])
        return columns

    @cached_property
    def contexts(self) -> tuple[str, ...]:
        """The places, in order of code."""
        return tuple(self.context_tags["context"].unique().sort())

    @cached_property
    def clusters(self) -> tuple[str, ...]:
        """The super-clusters, then the sub-clusters."""
        return tuple(name for name in self.members if name not in self.contexts)

    @cached_property
    def columns(self) -> dict[str, list[int]]:
        """The columns of clusters and contexts that every entry is in."""
        columns: dict[str, list[int]] = {}
        for place, name in enumerate((*self.clusters, *self.contexts)):
            for entry in self.members[name]:
                columns.setdefault(entry, []).append(place)
        return columns


def membership(tags: Sequence[str] | pl.Series, lists: WordLists) -> tuple[pl.DataFrame, np.ndarray]:
    """Look every distinct tag up; return the tags and their clusters and contexts.

    Of the tags: tag (as answered), known (some list holds it or its head), placed (it is in a cluster).
    """
    named = list(tags)
    normal = list(map(normalise, named))
    read = read_tags(set(normal), lists.known, lists.of_places)
    entries = [read.get(tag, ()) for tag in normal]
    width = len(lists.clusters) + len(lists.contexts)
    member = np.zeros(len(entries) * width, dtype=bool)
    cells = ((row, one) for row, entry in enumerate(entries) for one in entry)
    member[[row * width + column for row, one in cells for column in lists.columns.get(one, ())]] = True
    placed = [not lists.known.keys().isdisjoint(entry) for entry in entries]
    schema = {"tag": pl.String, "known": pl.Boolean, "placed": pl.Boolean}
    table = pl.DataFrame({"tag": named, "known": list(map(bool, entries)), "placed": placed}, schema)
    return table, member.reshape(len(entries), width)


def tag_counts(responses: Source) -> pl.DataFrame:
    """Return system, tag, rows: how often each tag was used, in order of appearance.

    `responses` is a table, a lazy one or a folder of Parquet files; what is kept are the distinct tags.
    """
    used = scan(responses, ["system", "tag"], "responses").with_row_index("first").drop_nulls("tag")
    counted = used.group_by("system", "tag").agg(pl.len().alias("rows"), pl.col("first").min())
    return counted.collect(engine="streaming").sort("first").drop("first")


def unknown_tags(responses: Source, lists: WordLists) -> pl.DataFrame:
    """Return the tags that are in no cluster, most frequent first: tag, rows, systems."""
    counts = tag_counts(responses)
    looked_up, _ = membership(counts["tag"].unique().sort(), lists)
    return (
        counts.join(looked_up.filter(~pl.col("placed")), on="tag", how="semi")
        .with_columns(pl.col("tag").map_elements(normalise, return_dtype=pl.String))
        .group_by("tag")
        .agg(pl.col("rows").sum(), pl.col("system").unique().sort().str.join(", ").alias("systems"))
        .sort("rows", "tag", descending=[True, False])
    )


def coverage_by_system(responses: Source, lists: WordLists) -> pl.DataFrame:
    """Return the share of tags that is read, of uses and distinct ones, by system."""
    counts = tag_counts(responses)
    looked_up, _ = membership(counts["tag"].unique().sort(), lists)
    seen = counts.join(looked_up.select("tag", "known"), on="tag", maintain_order="left")
    uses = pl.col("rows").sum()
    read = (pl.col("rows") * pl.col("known")).sum()
    return seen.group_by("system", maintain_order=True).agg(
        uses=uses, of_uses=read / uses, distinct=pl.len(), of_distinct=pl.col("known").mean()
    )
