"""People in captions: nouns that mean people, and identity terms said of them."""

from __future__ import annotations

import re
from collections.abc import Iterable

import polars as pl

from portrayal.audits.captions.reading.stages import DENIED, PERSON, Options, Stages, once
from portrayal.text.captions.layout import clean
from portrayal.text.captions.lexicon import base_of_noun
from portrayal.text.captions.people import groups_of
from portrayal.text.captions.senses import is_person

_WORD = re.compile(r"[^\W\d_]+")
# The axis of identity terms that an annotated axis is named by.
NAMED_BY = {"skin": "race", "race": "race", "ethnicity": "race", "gender": "gender", "age": "age"}

# After a noun one of these follows, after an adjective hardly ever.
AFTER_NOUNS = ("by", "in", "on", "at", "with", "from", "near", "of", "for", "to", "who", "is", "are", "was", "were")
WINDOWS = r"\b(?:windows?|curtains?|shades?|shutters?|(?:through|behind|under|over|past|\w*(?:open|clos|pull|rais)\w*) the blind)\b"


def with_person(objects: pl.DataFrame) -> pl.DataFrame:
    """Return object mentions with a column `person`."""
    distinct = objects.select("word", "synset").unique()
    flags = pl.Series("person", [is_person(word, synset) for word, synset in distinct.iter_rows()], dtype=pl.Boolean)
    return objects.join(distinct.with_columns(flags), on=["word", "synset"], how="left", nulls_equal=True)


@once
def people_mentioned(stages: Stages, stage: str) -> pl.DataFrame:
    """Return (image, caption) of every caption that mentions a person; labels have caption 0."""
    return words_for_people(stages, stage).select("image", "caption").unique(maintain_order=True)


@once
def words_for_people(stages: Stages, stage: str) -> pl.DataFrame:
    """Return image, caption, person and word of every mention of somebody."""
    columns = ["image", "caption", "person", "word"]
    said = stages.at(stage, PERSON).rename({"object": "person"}).select(columns)
    nouns = with_person(stages.at(stage, "object")).filter("person").with_columns(person="word").select(columns)
    # Labels, and tables of mentions made without a reader, have no people beside their nouns.
    return pl.concat([said, nouns.join(said, on=["image", "caption"], how="anti")])


@once
def affirmed_captions(stages: Stages, stage: str) -> pl.DataFrame:
    """Return captions without layout and without words that they deny."""
    denied = stages.at(stage, DENIED).group_by("image", "caption").agg(denied="word")
    table = stages.captions_at(stage).join(denied, on=["image", "caption"], how="left", maintain_order="left")
    texts = [_affirmed(text, words or ()) for text, words in table.select("text", "denied").iter_rows()]
    return table.drop("denied").with_columns(pl.Series("text", texts, dtype=pl.String))


def _affirmed(text: str, denied: Iterable[str]) -> str:
    words, text = frozenset(denied), clean(text)
    return _WORD.sub(lambda word: "" if base_of_noun(word[0].lower()) in words else word[0], text) if words else text


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
def identities_as_nouns(stages: Stages, stage: str, options: Options) -> pl.DataFrame:
    """Return image, caption and word of identity adjectives used as nouns."""
    listed = options.word_list("identity_nouns")["term"]
    objects = stages.at(stage, "object").select("image", "caption", "word")
    found = [objects.filter(pl.col("word").is_in(listed.implode()))]
    captions = stages.captions_at(stage).with_columns(pl.col("text").str.to_lowercase())
    for term in listed.filter(listed.str.contains(" ")):  # with an article: "the blind" are people, "blinds" are none
        word = term.rpartition(" ")[2]
        said = captions.filter(pl.col("text").str.contains(rf"\b{term}\b"), ~pl.col("text").str.contains(WINDOWS))
        ends = pl.col("text").str.contains(rf"\b{term}(?:\W*$|\W+(?:{'|'.join(AFTER_NOUNS)})\b)")
        noun = said.join(objects.filter(word=word), on=["image", "caption"], how="semi")
        hits = pl.concat([said.filter(ends), noun]).select("image", "caption")
        found.append(hits.with_columns(word=pl.lit(word if word in listed else term)))
    return pl.concat(found).unique(maintain_order=True)


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
    pronouns = _pronouns(stages, stage).filter(pl.col("axis").is_in(listed["axis"].unique().implode()))
    return pl.concat([each.select(columns) for each in (nouns, bare, adjectives, pronouns)]).unique(maintain_order=True)


@once
def _pronouns(stages: Stages, stage: str) -> pl.DataFrame:
    """Return image, caption, axis, group and term of every pronoun that names a group."""
    said = stages.at(stage, PERSON).select("image", "caption", term="word")
    named = [(word, *pair) for word in said["term"].unique().sort() for pair in groups_of(word, pronoun=True)]
    return said.join(pl.DataFrame(named, schema=["term", "axis", "group"], orient="row").cast(pl.String), on="term")


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
