"""How often each image has each tuple at a stage, of captions that mention a person.

People and their group words are written as `person`, so that a difference is not the group word itself, and identity
terms are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from portrayal.audits.captions.measures.options import Options
from portrayal.audits.captions.measures.people import is_person, people_mentioned
from portrayal.audits.captions.measures.stages import Stages

if TYPE_CHECKING:
    from scipy import sparse

KINDS = ("object", "attribute", "relation")


@dataclass(frozen=True)
class Counts:
    """Images x tuples: the share of an image's captions that have the tuple."""

    images: list[str]
    tuples: list[str]
    matrix: sparse.csr_matrix


def count(stages: Stages, stage: str, kind: str, options: Options) -> Counts:
    """Return the tuples of the captions that mention a person; those in too few images are left out."""
    counts = count_all(stages, stage, kind, options)
    return _chosen(counts, _images_with(counts) >= options.least_images)


def count_all(stages: Stages, stage: str, kind: str, options: Options) -> Counts:
    """Return all tuples of the captions that mention a person, however rare."""
    if options.lists:  # the user's lists are not part of the name
        return _count(stages, stage, kind, options)
    return stages.once("tuples", (stage, kind), lambda _: _count(stages, stage, kind, options))


def _images_with(counts: Counts) -> np.ndarray:
    return np.bincount(counts.matrix.indices, minlength=len(counts.tuples))


def _chosen(counts: Counts, chosen: np.ndarray) -> Counts:
    names = [name for name, kept in zip(counts.tuples, chosen, strict=True) if kept]
    return Counts(counts.images, names, counts.matrix[:, np.flatnonzero(chosen)])


def _count(stages: Stages, stage: str, kind: str, options: Options) -> Counts:
    from scipy import sparse

    said = stages.at(stage, kind).join(people_mentioned(stages, stage), on=["image", "caption"])
    said = _neutral(said, kind, options)
    each = said.select("image", "caption", "tuple").unique().group_by("image", "tuple").len()
    captions = people_mentioned(stages, stage).group_by("image").len("captions")
    each = each.join(captions, on="image").with_columns((pl.col("len") / pl.col("captions")).alias("share"))
    tuples = sorted(each["tuple"].unique())
    images = sorted(captions["image"])
    line = {image: i for i, image in enumerate(images)}
    column = {name: i for i, name in enumerate(tuples)}
    matrix = sparse.csr_matrix(
        (
            each["share"].to_numpy(),
            ([line[i] for i in each["image"]], [column[t] for t in each["tuple"]]),
        ),
        shape=(len(images), len(tuples)),
    )
    return Counts(images, tuples, matrix)


def _neutral(said: pl.DataFrame, kind: str, options: Options) -> pl.DataFrame:
    """Write every person as 'person' and leave identity terms out; the tuple becomes one string."""
    for column, synset in (("word", "synset"), ("subject", "subject_synset"), ("object", "object_synset")):
        if column == "word" and kind != "object":
            continue
        distinct = said.select(column, synset).unique().drop_nulls(column)
        people = [word for word, name in distinct.iter_rows() if is_person(word, name)]
        said = said.with_columns(
            pl.when(pl.col(column).is_in(people))
            .then(pl.lit("person"))
            .otherwise(pl.col(column))
            .alias(column)
        )
    if kind == "object":
        return said.filter(pl.col("word") != "person").with_columns(pl.col("word").alias("tuple"))
    if kind == "attribute":
        terms = options.word_list("identity").filter(pl.col("part") == "a")["term"].to_list()
        said = said.filter(~((pl.col("subject") == "person") & pl.col("word").is_in(terms)))
        return said.with_columns(pl.format("{} {}", "word", "subject").alias("tuple"))
    return said.with_columns(pl.format("{} {} {}", "subject", "word", "object").alias("tuple"))


def same_images(first: Counts, second: Counts, least: int) -> tuple[Counts, Counts]:
    """Return both stages' counts of the images both have, of tuples that are in enough of them at either.

    A tuple is counted at both or at neither: one that falls short at one stage only would look like a change.
    """
    both = sorted(set(first.images) & set(second.images))
    counts = _only(first, both), _only(second, both)
    common = {
        name
        for one in counts
        for name, images in zip(one.tuples, _images_with(one), strict=True)
        if images >= least
    }
    one, other = (
        _chosen(each, np.array([name in common for name in each.tuples], dtype=bool)) for each in counts
    )
    return one, other


def _only(counts: Counts, images: list[str]) -> Counts:
    line = {image: i for i, image in enumerate(counts.images)}
    return Counts(images, counts.tuples, counts.matrix[[line[image] for image in images]])


def change(now: Counts, then: Counts) -> tuple[list[str], sparse.csr_matrix]:
    """Return the tuples of either, and images x tuples: the share at one stage minus that at the other."""
    from scipy import sparse

    tuples = {name: i for i, name in enumerate(sorted(set(now.tuples) | set(then.tuples)))}
    moved = []
    for counts in (now, then):
        columns = np.array([tuples[name] for name in counts.tuples], dtype=int)
        place = sparse.csr_matrix(
            (np.ones(len(columns)), (np.arange(len(columns)), columns)), shape=(len(columns), len(tuples))
        )
        moved.append(counts.matrix @ place)
    return list(tuples), sparse.csr_matrix(moved[0] - moved[1])
