"""From tags to pictures: one row per system and picture, with what its description was made of.

The columns of the table that every question starts from:

`system`, `stimulus`, `repeat`, `status`; `role` (baseline, composite, background), `person`, `context`, `background`
and the factors, from the stimuli; `tags` (how many), `in CLUSTER` for every super-cluster and sub-cluster, `known` (tags
the typology or a dictionary holds), `place` (tags that speak of this picture's context), `inferred` (a gender cluster, or
neutral), `recognised`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import polars as pl

from portrayal.audits.contexts.measures.codes import coded, in_chunks
from portrayal.audits.contexts.measures.counting import MOST, count_clusters, count_runs, divided, longest_run
from portrayal.audits.contexts.measures.membership import Membership, membership
from portrayal.audits.contexts.measures.sharing import shared
from portrayal.errors import PortrayalError
from portrayal.tables import ANSWERED, STIMULI, changes

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
    """Return one row per system, picture and repeat: cluster counts, inferred gender, place recognised."""
    pictures, begins, rows = _numbered(responses.select(*KEYS, "status"))
    names, codes = coded(responses["tag"].cast(pl.String))
    for start, silent in in_chunks(partial(_silent, responses.select("status", "tag")), len(codes)):
        codes[start + silent] = len(names)
    lookup, member = _members(names, typology, context_tags)
    counts = _counted(codes, begins, rows, pictures.height, member)
    counted = _with_counts(pictures, counts, lookup)
    factors = stimuli.select(_factors(stimuli))
    described = _beside(counted, factors)
    return _judge(described, lookup, genders)


def _silent(responses: pl.DataFrame, start: int, end: int) -> np.ndarray:
    """Return which rows from a start to an end tell no tag, counted from the start."""
    told = (responses["status"][start:end] == "answered") & responses["tag"][start:end].is_not_null()
    if told.all(ignore_nulls=False):
        return np.empty(0, np.int64)
    return np.flatnonzero(~told.fill_null(False).to_numpy())


def _members(names: pl.Series, typology: pl.DataFrame, context_tags: pl.DataFrame) -> tuple[Membership, np.ndarray]:
    """Look the names up; the table has a row a name: its clusters and places, whether it is known, and that it is a tag.

    Null is no tag, and neither is the row behind the last name, for rows that tell no tag.
    """
    lookup = membership(names.drop_nulls(), typology, context_tags)
    member = np.zeros((len(names) + 1, lookup.member.shape[1] + 2), dtype=bool)
    is_tag = np.flatnonzero(names.is_not_null().to_numpy())
    member[is_tag, :-2], member[is_tag, -2], member[is_tag, -1] = lookup.member, lookup.tags["known"], True
    return lookup, member


def _numbered(told: pl.DataFrame) -> tuple[pl.DataFrame, np.ndarray, np.ndarray | None]:
    """Return each picture once, where runs of its responses begin, and the row of the picture that each response is of.

    The last is None where a picture's responses lie together, as recorded ones do: then each run is a picture.
    """
    begins = _run_starts(told)
    first = told[begins]
    stimuli = first["stimulus"]
    if (stimuli[1:] > stimuli[:-1]).all(ignore_nulls=False):  # in order, which is seen without a table of them
        return first, begins, None
    if any(first[name].n_unique() == first.height for name in ("stimulus", *KEYS)):
        return first, begins, None
    pictures = first.unique(KEYS, keep="first", maintain_order=True)
    if pictures.height == first.height:
        return pictures, begins, None
    numbers = pictures.drop("status").with_row_index("row")
    rows = told.join(numbers, on=list(KEYS), how="left", nulls_equal=True, maintain_order="left")["row"]
    return pictures, begins, rows.to_numpy()


def _run_starts(told: pl.DataFrame) -> np.ndarray:
    """Return where responses of another picture begin."""

    def look(start: int, end: int) -> np.ndarray:
        before = max(start - 1, 0)
        return changes(told[before:end], KEYS).arg_true().to_numpy().astype(np.int64) + before + 1

    first = np.zeros(min(1, told.height), np.int64)
    return np.concatenate([first, *(found for _, found in in_chunks(look, told.height))])


def _counted(
    codes: np.ndarray, begins: np.ndarray, rows: np.ndarray | None, pictures: int, member: np.ndarray
) -> np.ndarray:
    """Return how many tags of each cluster each picture has, clusters by pictures."""
    if rows is None and len(codes) and longest_run(begins, len(codes)) <= MOST:
        return count_runs(codes, begins, member)
    each = np.repeat(np.arange(pictures), np.diff(begins, append=len(codes))) if rows is None else rows
    return count_clusters(codes, each, pictures, member).T


def _beside(pictures: pl.DataFrame, factors: pl.DataFrame) -> pl.DataFrame:
    """Put the factors of its stimulus beside each picture; those of the same stimuli in the same order need no look-up."""
    if factors["stimulus"].equals(pictures["stimulus"]):
        return pictures.hstack(factors.drop("stimulus").get_columns())
    return pictures.join(factors, on="stimulus", how="left", maintain_order="left")


@shared
def usable(pictures: pl.DataFrame) -> pl.DataFrame:
    """Keep the pictures that were answered. A list without a tag is an answer: it names no gender and sees no place."""
    return pictures_where(pictures, pictures["status"].is_in(ANSWERED))


@shared
def alike(pictures: pl.DataFrame) -> np.ndarray:
    """Return how many pictures each row stands for: one, or what a tally (`tally.py`) counted."""
    return pictures[ALIKE].to_numpy() if ALIKE in pictures.columns else np.ones(pictures.height, dtype=np.int64)


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
    names = [*map(column, lookup.clusters), *(f"place {context}" for context in lookup.contexts), "known", "tags"]
    return pictures.hstack(
        [pl.Series(name, numbers.astype(np.int64)) for name, numbers in zip(names, counts, strict=True)]
    )


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
        raise PortrayalError(f"a factor is called {clash[0]!r}, which the contexts audit computes. Rename the factor.")
    return found


DERIVED = ("system", "repeat", "status", "tags", "known", "place", "inferred", "recognised")


def _judge(table: pl.DataFrame, lookup: Membership, genders: Sequence[str]) -> pl.DataFrame:
    """Add the inferred gender (Section 4.5.2: the most tags win) and whether the place was recognised."""
    scores = table.select(map(column, genders)).to_numpy() if table.height else np.zeros((0, len(genders)), int)
    best = scores.max(axis=1, initial=0)
    alone = (scores == best[:, None]).sum(axis=1) == 1
    names = pl.Series("inferred", [*genders, NEUTRAL], dtype=pl.String)
    winner = np.full(table.height, len(genders), dtype=np.uint32)
    for place, score in enumerate(scores.T):
        winner[alone & (best > 0) & (score == best)] = place
    seen = pl.lit(None, dtype=pl.Int64)
    for context in lookup.contexts:
        seen = pl.when(pl.col("context") == context).then(pl.col(f"place {context}")).otherwise(seen)
    placed = table.with_columns(names.gather(winner), seen.alias("place"))
    return placed.with_columns((pl.col("place") > 0).alias("recognised")).drop(f"place {c}" for c in lookup.contexts)


@shared
def shares(pictures: pl.DataFrame, names: Sequence[str]) -> np.ndarray:
    """Return the proportion of each picture's tags in each of the named clusters; NaN where there is no tag to share out.

    Of a tally it is the mean over the pictures of a row.
    """
    if ALIKE in pictures.columns:
        sums, parts = (pictures.select(map(share_column, names)).to_numpy(), pictures[TAGGED].to_numpy()[:, None])
        return np.divide(sums, parts, out=np.full(sums.shape, np.nan), where=parts > 0)
    return divided([pictures[column(name)].to_numpy() for name in names], pictures["tags"].to_numpy())


@shared
def by_system(pictures: pl.DataFrame) -> Mapping[str, pl.DataFrame]:
    """Return the pictures of each system, in order of first appearance."""
    if pictures["system"].n_unique() == 1:
        return {str(pictures["system"][0]): pictures}
    return {str(name): part for (name,), part in pictures.group_by("system", maintain_order=True)}
