"""People in captions: nouns that mean people, and identity terms said of them."""

from __future__ import annotations

from functools import lru_cache

import polars as pl

from portrayal.audits.captions.reading.senses import UNLISTED
from portrayal.audits.captions.reading.stages import Options, Stages, once
from portrayal.text.words import wordnet
from portrayal.text.words.harm_lists import read_list

# The axis of identity terms that an annotated axis is named by.
NAMED_BY = {"skin": "race", "race": "race", "ethnicity": "race", "gender": "gender", "age": "age"}


@lru_cache(maxsize=100_000)
def is_person(word: str, synset: str | None) -> bool:
    """Return True for a noun that is a person; `female` is no animal."""
    if word.split()[-1] in identity_nouns():
        return True
    if synset is None or synset.endswith(UNLISTED):
        return False
    return wordnet.load().is_person_synset(synset)


@lru_cache(maxsize=1)
def identity_nouns() -> frozenset[str]:
    """Return the identity adjectives that captions use as nouns."""
    return frozenset(read_list("identity_nouns")["term"])


def with_person(objects: pl.DataFrame) -> pl.DataFrame:
    """Return object mentions with a column `person`."""
    distinct = objects.select("word", "synset").unique()
    flags = pl.Series("person", [is_person(word, synset) for word, synset in distinct.iter_rows()], dtype=pl.Boolean)
    return objects.join(distinct.with_columns(flags), on=["word", "synset"], how="left", nulls_equal=True)


@once
def people_mentioned(stages: Stages, stage: str) -> pl.DataFrame:
    """Return (image, caption) of every caption that mentions a person; labels have caption 0."""
    denied = stages.at(stage, "attribute").filter(pl.col("word") == "no").select("image", "caption", word="subject")
    people = with_person(stages.at(stage, "object")).filter("person")
    people = people.join(denied, on=["image", "caption", "word"], how="anti")
    return people.select("image", "caption").unique(maintain_order=True)


def caption_numbers(stages: Stages, stage: str) -> pl.DataFrame:
    """Return (image, caption) of every caption at a stage; labels have caption 0."""
    table = stages.captions_at(stage).select("image", "caption")
    labelled = {"image": sorted(stages.covered(stage)) if table.is_empty() else []}
    return pl.concat([table, pl.DataFrame({**labelled, "caption": 0}, schema=table.schema)])


@once
def _counts(stages: Stages, stage: str) -> tuple[dict[str, int], dict[str, float]]:
    """Return the number of captions of each image at a stage, and zeros."""
    counts = dict(caption_numbers(stages, stage).group_by("image").len().iter_rows())
    return counts, dict.fromkeys(counts, 0.0)


def shares_of(stages: Stages, stage: str, flagged: pl.DataFrame) -> dict[str, float]:
    """Return for every image the share of its captions in `flagged` (image, caption)."""
    counts, zeros = _counts(stages, stage)
    shares = dict(zeros)
    for image, captions in flagged.select("image", "caption").unique().group_by("image").len().iter_rows():
        if image in counts:
            shares[image] = captions / counts[image]
    return shares


def people_described(attributes: pl.DataFrame) -> list[str]:
    """Return the subjects of attributes that are people."""
    pairs = attributes.select("subject", "subject_synset").unique().drop_nulls("subject")
    return [word for word, synset in pairs.iter_rows() if is_person(word, synset)]


@once
def identity_terms(stages: Stages, stage: str, options: Options) -> pl.DataFrame:
    """Return image, caption, axis, group and term of every identity term of a person."""
    listed = options.word_list("identity").select("term", "axis", "group", "part")
    objects = stages.at(stage, "object")
    nouns = listed_nouns(objects, options)
    # An adjective used as a noun ('a female') is an identity term as well.
    bare = objects.filter(pl.col("word").is_in(options.word_list("identity_nouns")["term"].to_list()))
    bare = bare.rename({"word": "term"}).join(listed.filter(pl.col("part") == "a"), on="term")
    adjectives = identity_adjectives(stages, stage, options)
    columns = ["image", "caption", "axis", "group", "term"]
    return pl.concat([table.select(columns) for table in (nouns, bare, adjectives)]).unique(maintain_order=True)


def listed_nouns(objects: pl.DataFrame, options: Options) -> pl.DataFrame:
    """Return objects with term, axis and group, by the whole noun or its head."""
    listed = options.word_list("identity").filter(pl.col("part") == "n").select("term", "axis", "group")
    head = objects.with_columns(pl.col("word").str.split(" ").list.last().alias("term"))
    several = listed.filter(pl.col("term").str.contains(" "))
    whole = objects.with_columns(pl.col("word").alias("term")).join(several, on="term")
    return pl.concat([head.join(listed, on="term"), whole.select(*head.columns, "axis", "group")])


def identity_adjectives(stages: Stages, stage: str, options: Options) -> pl.DataFrame:
    """Return the identity adjectives said of a person as adjectives."""
    listed = options.word_list("identity").filter(pl.col("part") == "a").select("term", "axis", "group")
    attributes = stages.at(stage, "attribute").with_columns(pl.col("word").alias("term"))
    adjectives = attributes.filter(pl.col("subject").is_in(people_described(attributes))).join(listed, on="term")
    return adjectives.select("image", "caption", "axis", "group", "term").unique(maintain_order=True)
