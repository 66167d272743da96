"""Which nouns of a caption are people, and which captions mention any."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import polars as pl

from portrayal.audits.captions.measures.stages import Stages
from portrayal.text.words import wordnet
from portrayal.text.words.harm_lists import read_list


@lru_cache(maxsize=100_000)
def is_person(word: str, synset: str | None) -> bool:
    """Say whether a noun is a person: by its synset, or as an identity adjective used as a noun.

    `female` is first of all an animal in WordNet; a caption's `a female` is a person.
    """
    if word.split()[-1] in identity_nouns():
        return True
    if synset is None or synset.endswith((".unknown", ".prep")):
        return False
    return wordnet.load().is_person_synset(synset)


@lru_cache(maxsize=1)
def identity_nouns() -> frozenset[str]:
    """Return the identity adjectives that captions use as nouns."""
    return frozenset(read_list("identity_nouns")["term"])


def with_person(objects: pl.DataFrame) -> pl.DataFrame:
    """Return object mentions with a column `person`."""
    distinct = objects.select("word", "synset").unique()
    flags = [is_person(word, synset) for word, synset in distinct.iter_rows()]
    return objects.join(
        distinct.with_columns(pl.Series("person", flags, dtype=pl.Boolean)),
        on=["word", "synset"],
        how="left",
        nulls_equal=True,
    )


def people_mentioned(stages: Stages, stage: str) -> pl.DataFrame:
    """Return (image, caption) of every caption that mentions a person; labels have caption 0."""
    return stages.once("people mentioned", stage, lambda name: _people_mentioned(stages, name))


def _people_mentioned(stages: Stages, stage: str) -> pl.DataFrame:
    objects = with_person(stages.at(stage, "object"))
    denied = stages.at(stage, "attribute").filter(pl.col("word") == "no").select("image", "caption", "subject")
    said = objects.filter(pl.col("person")).join(
        denied, left_on=["image", "caption", "word"], right_on=["image", "caption", "subject"], how="anti"
    )
    return said.select("image", "caption").unique(maintain_order=True)


def caption_numbers(stages: Stages, stage: str) -> list[tuple[str, int]]:
    """Return (image, caption) of every caption at a stage, by the numbers they came with; labels have caption 0."""
    table = stages.captions.filter(pl.col("stage") == stage)
    if table.is_empty():
        return [(image, 0) for image in sorted(stages.covered(stage))]
    return list(table.select("image", "caption").iter_rows())


def caption_counts(stages: Stages, stage: str) -> Mapping[str, int]:
    """Return how many captions each image has at a stage; labels count as one."""
    return stages.once("caption counts", stage, lambda name: _caption_counts(stages, name))


def _caption_counts(stages: Stages, stage: str) -> dict[str, int]:
    table = stages.captions.filter(pl.col("stage") == stage)
    if table.is_empty():
        return dict.fromkeys(stages.covered(stage), 1)
    counts = table.group_by("image").len()
    return dict(zip(counts["image"].to_list(), counts["len"].to_list(), strict=True))


def shares(stages: Stages, stage: str, flagged: pl.DataFrame) -> dict[str, float]:
    """Return for every image of a stage the share of its captions in `flagged` (image, caption)."""
    counts = caption_counts(stages, stage)
    found = dict(stages.once("no shares", stage, lambda _: dict.fromkeys(counts, 0.0)))
    each = flagged.select("image", "caption").unique().group_by("image").len()
    for image, captions in zip(each["image"].to_list(), each["len"].to_list(), strict=True):
        if image in counts:
            found[image] = captions / counts[image]
    return found
