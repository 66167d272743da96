"""Tags looked up in clusters and places, and counted by picture (Barlas et al. 2020, Section 4.5.1, Tables 5 and 6)."""

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
    def contexts(self) -> tuple[str, ...]:
        """The places, in order of code."""
        return tuple(self.context_tags["context"].unique().sort())

    @cached_property
    def clusters(self) -> tuple[str, ...]:
        """The super-clusters, then the sub-clusters."""
        named = (name for level in ("super_cluster", "sub_cluster") for name in self.typology[level].drop_nulls())
        return tuple(dict.fromkeys((*SUPER, "other", *named)))

    @cached_property
    def columns(self) -> dict[str, list[int]]:
        """The columns of clusters and contexts that every entry is in."""
        place = {name: at for at, name in enumerate((*self.clusters, *self.contexts))}
        above, below = (self.typology.select("tag", name).drop_nulls() for name in ("super_cluster", "sub_cluster"))
        columns: dict[str, list[int]] = {}
        for table in (above, below, self.context_tags.select("tag", "context")):
            for tag, name in table.iter_rows():
                columns.setdefault(tag, []).append(place[name])
        return columns


def membership(tags: Sequence[str] | pl.Series, lists: WordLists) -> tuple[pl.DataFrame, np.ndarray]:
    """Look every distinct tag up; return the tags and their clusters and contexts."""
    spelling = list(map(normalise, tags))
    read = read_tags(set(spelling), lists.known, frozenset(lists.context_tags["tag"]))
    entries = [read.get(tag, ()) for tag in spelling]
    member = np.zeros((len(entries), len(lists.clusters) + len(lists.contexts)), dtype=bool)
    for row, entry in zip(member, entries, strict=True):
        row[[column for one in entry for column in lists.columns.get(one, ())]] = True
    placed = [not lists.known.keys().isdisjoint(entry) for entry in entries]
    schema = {"tag": pl.String, "known": pl.Boolean, "placed": pl.Boolean}
    return pl.DataFrame({"tag": list(tags), "known": list(map(bool, entries)), "placed": placed}, schema), member


def tag_use(responses: Source, lists: WordLists) -> pl.DataFrame:
    """Return system, tag, rows (uses), known and placed, in order of appearance."""
    used = scan(responses, ["system", "tag"], "responses").with_row_index("first").drop_nulls("tag")
    counted = used.group_by("system", "tag").agg(pl.len().alias("rows"), pl.col("first").min())
    counts = counted.collect(engine="streaming").sort("first").drop("first")
    looked_up, _ = membership(counts["tag"].unique().sort(), lists)
    return counts.join(looked_up, on="tag", maintain_order="left")


def unknown_tags(responses: Source, lists: WordLists) -> pl.DataFrame:
    """Return the tags that are in no cluster, most frequent first: tag, rows, systems."""
    unknown = tag_use(responses, lists).filter(~pl.col("placed"))
    return (
        unknown.group_by(pl.col("tag").map_elements(normalise, return_dtype=pl.String))
        .agg(pl.col("rows").sum(), systems=pl.col("system").unique().sort().str.join(", "))
        .sort("rows", "tag", descending=[True, False])
    )


def coverage_by_system(responses: Source, lists: WordLists) -> pl.DataFrame:
    """Return the share of tags that is read, of uses and distinct ones, by system."""
    uses, read = pl.col("rows").sum(), (pl.col("rows") * pl.col("known")).sum()
    by_system = tag_use(responses, lists).group_by("system", maintain_order=True)
    return by_system.agg(uses=uses, of_uses=read / uses, distinct=pl.len(), of_distinct=pl.col("known").mean())
