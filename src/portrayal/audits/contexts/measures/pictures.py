"""Tables of pictures: tags by cluster and place (Barlas et al. 2020, Section 4.5).

Columns: `system`, `stimulus`, `repeat`, `status`; `role`, `person`, `context`, `background` and the factors; `tags` (how
many), `in CLUSTER`, `known` (held by some list), `place` (speak of the context), `inferred` (a gender), `recognised`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import polars as pl

from portrayal.audits.contexts.measures.design import SUPER
from portrayal.audits.contexts.measures.views import NEUTRAL, column
from portrayal.errors import PortrayalError
from portrayal.tables import STIMULI, starts
from portrayal.tables.batches import Source, scan
from portrayal.text.words.tag_spelling import normalise
from portrayal.text.words.typology import DENIED, clusters_of, load_context_tags, load_typology, read_tags

KEYS = ("system", "stimulus", "repeat")
DERIVED = ("system", "repeat", "status", "tags", "known", "place", "inferred", "recognised")


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
    placed = [entry == (DENIED,) or not lists.known.keys().isdisjoint(entry) for entry in entries]
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


def describe_pictures(
    stimuli: pl.DataFrame, responses: pl.DataFrame, lists: WordLists, genders: Sequence[str] = ("feminine", "masculine")
) -> pl.DataFrame:
    """Return one row per system, picture and repeat: cluster counts, inferred gender, place recognised."""
    factors = stimuli.select("stimulus", *(name for name in stimuli.columns if name not in STIMULI))
    if clash := sorted(set(factors.columns) & set(DERIVED)):
        raise PortrayalError(f"a factor is called {clash[0]!r}, which the contexts audit computes. Rename the factor.")
    rows = responses.select(*KEYS, "status", "tag")
    begins = starts(rows, KEYS).arg_true()
    if rows[begins].select(KEYS).n_unique() < len(begins):  # a picture's responses lie apart
        rows = rows.with_row_index("first").sort(pl.col("first").min().over(KEYS), maintain_order=True).drop("first")
        begins = starts(rows, KEYS).arg_true()
    pictures = rows[begins].drop("tag").hstack(_count(rows, begins.to_numpy(), lists))
    described = pictures.join(factors, on="stimulus", how="left", maintain_order="left")
    return _judge(described, lists.contexts, genders)


def _count(rows: pl.DataFrame, begins: np.ndarray, lists: WordLists) -> pl.DataFrame:
    """Count the clusters and places of each picture's tags: one product of a sparse matrix."""
    from scipy import sparse

    tags = rows.select(pl.when(pl.col("status") == "answered").then(pl.col("tag").cast(pl.String)))["tag"]
    distinct = tags.unique(maintain_order=True).drop_nulls()
    looked_up, member = membership(distinct, lists)
    of_tag = np.column_stack([member, looked_up["known"], np.ones(len(distinct), bool)])
    of_tag = np.vstack([of_tag, np.zeros_like(of_tag, shape=(1, of_tag.shape[1]))]).astype(np.int32)  # last: no tag
    codes = tags.cast(pl.Enum(distinct)).to_physical().cast(pl.Int32).fill_null(len(distinct)).to_numpy()
    shape = (len(begins), len(of_tag))
    runs = sparse.csr_array((np.ones(len(codes), np.int32), codes, np.append(begins, len(codes))), shape)
    columns = [*map(column, lists.clusters), *(f"place {context}" for context in lists.contexts), "known", "tags"]
    return pl.DataFrame((runs @ of_tag).astype(np.int64), schema=columns, orient="row")


def _judge(table: pl.DataFrame, contexts: Sequence[str], genders: Sequence[str]) -> pl.DataFrame:
    """Add the inferred gender (the most tags win) and whether the place was recognised."""
    scores = table.select(map(column, genders)).to_numpy() if table.height else np.zeros((0, len(genders)), int)
    best = scores.max(axis=1, initial=0)
    sure = (best > 0) & ((scores == best[:, None]).sum(axis=1) == 1)
    names = pl.Series("inferred", [*genders, NEUTRAL], dtype=pl.String)
    winner = np.where(sure, scores.argmax(axis=1) if genders else 0, len(genders)).astype(np.uint32)
    place = pl.coalesce(
        pl.lit(None, pl.Int64), *(pl.when(context=context).then(f"place {context}") for context in contexts)
    )
    judged = table.with_columns(names.gather(winner), place=place)
    return judged.with_columns(recognised=pl.col("place") > 0).drop(f"place {context}" for context in contexts)
