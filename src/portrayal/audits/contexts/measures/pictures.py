"""From tags to pictures: one row per system and picture, with what its description was made of.

The columns of the table that every question starts from:

`system`, `stimulus`, `repeat`, `status`; `role` (baseline, composite, background), `person`, `context`, `background`
and the factors, from the stimuli; `tags` (how many), `in CLUSTER` for every super-cluster and sub-cluster, `known` (tags
the typology or a dictionary holds), `place` (tags that speak of this picture's context), `inferred` (a gender cluster, or
neutral), `recognised`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from portrayal.audits.contexts.measures.counting import count_clusters
from portrayal.audits.contexts.measures.membership import Membership, membership
from portrayal.audits.contexts.measures.sharing import shared
from portrayal.errors import PortrayalError
from portrayal.tables import ANSWERED, STIMULI, starts

BASELINE = "baseline"
NEUTRAL = "neutral"
ALIKE = "pictures"  # of a tally: how many pictures its row stands for
TAGGED = "pictures with a tag"  # of these, those that have tags to share out
KEYS = ("system", "stimulus", "repeat")
SAID = pl.col("status").is_in(ANSWERED)


def describe_pictures(
    stimuli: pl.DataFrame,
    responses: pl.DataFrame,
    typology: pl.DataFrame,
    context_tags: pl.DataFrame,
    genders: Sequence[str] = ("feminine", "masculine"),
) -> pl.DataFrame:
    """Return one row per system, picture and repeat: cluster counts, inferred gender, place recognised.

    Parameters
    ----------
    stimuli
        Stimuli with `role`, `person`, `context`, `background` and the factors.
    responses
        Tagger responses: one row per tag, or a single row with the status of a missing answer.
    typology
        Columns tag, super_cluster, sub_cluster.
    context_tags
        Columns context, tag.
    genders
        The sub-clusters that name a gender. The one with most tags is inferred; a tie, or none, is neutral.
    """
    pictures, row = _numbered(responses.select(*KEYS, "status"))
    tagged = (responses["status"] == "answered") & responses["tag"].is_not_null()
    tags, rows = responses["tag"].filter(tagged), row.filter(tagged).to_numpy()
    distinct, codes = _coded(tags)
    lookup = membership(distinct, typology, context_tags)
    member = np.hstack([lookup.member, lookup.tags["known"].to_numpy()[:, None]])
    counts = count_clusters(
        codes, rows, pictures.height, np.hstack([member, np.ones((len(member), 1), bool)])
    )
    counted = _with_counts(pictures, counts, lookup)
    described = counted.join(
        stimuli.select(_factors(stimuli)), on="stimulus", how="left", maintain_order="left"
    )
    return _judge(described, lookup, genders).drop("row")


def _coded(tags: pl.Series) -> tuple[pl.Series, np.ndarray]:
    """Return the distinct tags in order, and each tag's place among them; every string is hashed once."""
    categories = tags.cast(pl.Categorical)
    numbers, codes = categories.unique(), categories.to_physical().to_numpy()
    names = numbers.cast(pl.String)
    order = names.arg_sort().to_numpy()
    places = np.zeros(int(codes.max()) + 1 if len(codes) else 0, dtype=np.uint32)
    places[numbers.to_physical().to_numpy()[order]] = np.arange(len(order), dtype=np.uint32)
    return names.gather(order), places[codes]


def _numbered(told: pl.DataFrame) -> tuple[pl.DataFrame, pl.Series]:
    """Return each picture once, with its `row`, and the row of the picture that each response is of."""
    begins = starts(told, KEYS)
    first = told.filter(begins)
    pictures = first.unique(KEYS, keep="first", maintain_order=True).with_row_index("row")
    if pictures.height == first.height:  # a picture's responses lie together, as recorded ones do
        return pictures, begins.cast(pl.UInt32).cum_sum() - 1
    rows = told.join(pictures.drop("status"), on=list(KEYS), how="left", maintain_order="left")["row"]
    return pictures, rows


@shared
def usable(pictures: pl.DataFrame) -> pl.DataFrame:
    """Keep the pictures that were answered. A list without a tag is an answer: it names no gender and sees no place."""
    return pictures_where(pictures, pictures["status"].is_in(ANSWERED))


@shared
def alike(pictures: pl.DataFrame) -> np.ndarray:
    """Return how many pictures each row stands for: one, or what a tally (`tally.py`) counted."""
    return (
        pictures[ALIKE].to_numpy() if ALIKE in pictures.columns else np.ones(pictures.height, dtype=np.int64)
    )


def how_many(pictures: pl.DataFrame) -> int:
    """Return how many pictures there are."""
    return int(alike(pictures).sum())


@shared
def is_inferred(pictures: pl.DataFrame, gender: str) -> np.ndarray:
    """Say in which of the pictures this gender is inferred."""
    return pictures["inferred"].eq_missing(gender).to_numpy()


def pictures_where(pictures: pl.DataFrame, chosen: pl.Series) -> pl.DataFrame:
    """Return the chosen pictures: the very same table where all are, so that nothing is copied or worked out again."""
    return pictures if not chosen.null_count() and chosen.all() else pictures.filter(chosen)


def _with_counts(pictures: pl.DataFrame, counts: np.ndarray, lookup: Membership) -> pl.DataFrame:
    names = [
        *map(column, lookup.clusters),
        *(f"place {context}" for context in lookup.contexts),
        "known",
        "tags",
    ]
    return pictures.with_columns(pl.Series(name, counts[:, place]) for place, name in enumerate(names))


def column(cluster: str) -> str:
    """Return the column that counts a cluster's tags; factors may be called like clusters."""
    return f"in {cluster}"


def share_column(cluster: str) -> str:
    """Return the column of a tally that sums a cluster's shares of the tags."""
    return f"shares of {cluster}"


def _factors(stimuli: pl.DataFrame) -> list[str]:
    """The stimuli's own id and everything that is not part of the contract."""
    found = ["stimulus", *(name for name in stimuli.columns if name not in STIMULI)]
    clash = sorted(set(found) & set(DERIVED))
    if clash:
        raise PortrayalError(
            f"a factor is called {clash[0]!r}, which the contexts audit computes. Rename the factor."
        )
    return found


DERIVED = ("system", "repeat", "status", "tags", "known", "place", "inferred", "recognised")


def _judge(table: pl.DataFrame, lookup: Membership, genders: Sequence[str]) -> pl.DataFrame:
    """Add the inferred gender (Section 4.5.2: the most tags win) and whether the place was recognised."""
    scores = (
        table.select(map(column, genders)).to_numpy() if table.height else np.zeros((0, len(genders)), int)
    )
    best = scores.max(axis=1, initial=0)
    alone = (scores == best[:, None]).sum(axis=1) == 1
    names = np.array([*genders, NEUTRAL], dtype=object)
    inferred = names[np.where((best > 0) & alone, scores.argmax(axis=1), len(genders))]
    place = pl.lit(None, dtype=pl.Int64)
    for context in lookup.contexts:
        place = pl.when(pl.col("context") == context).then(pl.col(f"place {context}")).otherwise(place)
    placed = table.with_columns(pl.Series("inferred", inferred, dtype=pl.String), place.alias("place"))
    return placed.with_columns((pl.col("place") > 0).alias("recognised")).drop(
        f"place {c}" for c in lookup.contexts
    )


@shared
def shares(pictures: pl.DataFrame, names: Sequence[str]) -> np.ndarray:
    """Return the proportion of each picture's tags in each of the named clusters; NaN where there is no tag to share out.

    Of a tally it is the mean over the pictures of a row.
    """
    if ALIKE in pictures.columns:
        sums, parts = (
            pictures.select(map(share_column, names)).to_numpy(),
            pictures[TAGGED].to_numpy()[:, None],
        )
        return np.divide(sums, parts, out=np.full(sums.shape, np.nan), where=parts > 0)
    counts = pictures.select(map(column, names)).to_numpy().astype(float)
    tags = pictures["tags"].to_numpy()[:, None]
    return np.divide(counts, tags, out=np.full(counts.shape, np.nan), where=tags > 0)


@shared
def by_system(pictures: pl.DataFrame) -> Mapping[str, pl.DataFrame]:
    """Return the pictures of each system, in order of first appearance."""
    if pictures["system"].n_unique() == 1:
        return {str(pictures["system"][0]): pictures}
    return {str(name): part for (name,), part in pictures.group_by("system", maintain_order=True)}
