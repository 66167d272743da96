"""Tuples of captions that mention a person, with people written as `person`."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from portrayal.audits.captions.reading.people import is_person, people_mentioned
from portrayal.audits.captions.reading.stages import Options, Stages, once

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
    """Return the counts of tuples that enough images have."""
    counts = count_all(stages, stage, kind, options)
    return _chosen(counts, _images_with(counts) >= options.least_images)


def _images_with(counts: Counts) -> np.ndarray:
    return np.bincount(counts.matrix.indices, minlength=len(counts.tuples))


def _chosen(counts: Counts, chosen: np.ndarray) -> Counts:
    names = [name for name, is_chosen in zip(counts.tuples, chosen, strict=True) if is_chosen]
    return Counts(counts.images, names, counts.matrix[:, np.flatnonzero(chosen)])


@once
def count_all(stages: Stages, stage: str, kind: str, options: Options) -> Counts:
    """Return all tuples of the captions that mention a person, however rare."""
    from scipy import sparse

    inside = people_mentioned(stages, stage).select("image", "caption").unique()
    captions = inside.group_by("image").len("captions").sort("image").with_row_index("line")
    each = _named_tuples(stages, stage, kind, options, inside).group_by("image", "name").len("times")
    tuples = each.select("name").unique().sort("name").with_row_index("column")
    cells = each.join(captions, on="image").join(tuples, on="name")
    shares = (cells["times"] / cells["captions"]).to_numpy()
    places = cells["line"].to_numpy(), cells["column"].to_numpy()
    matrix = sparse.csr_matrix((shares, places), shape=(len(captions), len(tuples)))
    return Counts(captions["image"].to_list(), tuples["name"].to_list(), matrix)


def _named_tuples(stages: Stages, stage: str, kind: str, options: Options, inside: pl.DataFrame) -> pl.DataFrame:
    """Return image, caption and tuple, people written as `person` and identity terms left out."""
    listed = options.word_list("identity")
    terms = frozenset(listed.filter(pl.col("part") == "a")["term"]) if kind == "attribute" else frozenset()
    mentions = stages.at(stage, kind).join(inside, on=["image", "caption"], how="semi")
    written = mentions.select(_WORDS).unique()
    names = [_neutral(kind, terms, *words) for words in written.iter_rows()]
    written = written.with_columns(pl.Series("name", names, dtype=pl.String)).drop_nulls("name")
    return mentions.join(written, on=_WORDS, nulls_equal=True).select("image", "caption", "name").unique()


_WORDS = ("subject", "subject_synset", "word", "synset", "object", "object_synset")


def _neutral(
    kind: str, terms: Set[str], subject: str, of_subject: str, word: str, synset: str, target: str, of_target: str
) -> str | None:  # fmt: skip
    """Return a tuple as one string, or None for a person or identity term."""
    if kind == "object":
        return None if is_person(word, synset) else word
    subject = "person" if is_person(subject, of_subject) else subject
    if kind == "attribute":
        return None if subject == "person" and word in terms else f"{word} {subject}"
    return f"{subject} {word} {'person' if is_person(target, of_target) else target}"


def same_images(first: Counts, second: Counts, least: int) -> tuple[Counts, Counts]:
    """Return the counts of common images, of tuples frequent at either stage."""
    both = sorted(set(first.images) & set(second.images))
    counts = _only(first, both), _only(second, both)
    common = {name for one in counts for name in _chosen(one, _images_with(one) >= least).tuples}
    one, other = (_chosen(each, np.array([name in common for name in each.tuples], dtype=bool)) for each in counts)
    return one, other


def _only(counts: Counts, images: list[str]) -> Counts:
    line = {image: i for i, image in enumerate(counts.images)}
    return Counts(images, counts.tuples, counts.matrix[[line[image] for image in images]])


def change(now: Counts, then: Counts) -> tuple[list[str], sparse.csr_matrix]:
    """Return the tuples, and the share at one stage less the other's."""
    from scipy import sparse

    tuples = {name: i for i, name in enumerate(sorted(set(now.tuples) | set(then.tuples)))}
    moved = []
    for counts in (now, then):
        columns = np.array([tuples[name] for name in counts.tuples], dtype=int)
        ones, lines = np.ones(len(columns)), np.arange(len(columns))
        moved.append(counts.matrix @ sparse.csr_matrix((ones, (lines, columns)), shape=(len(columns), len(tuples))))
    return list(tuples), sparse.csr_matrix(moved[0] - moved[1])
