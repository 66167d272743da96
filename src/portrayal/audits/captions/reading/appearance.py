"""Looks of people according to a stage: clothes, hair and build, not the scene."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import polars as pl

from portrayal.audits.captions.reading.people import is_person, people_described, with_person
from portrayal.audits.captions.reading.stages import Options, Stages, once
from portrayal.text.captions.lexicon import word_set
from portrayal.text.captions.senses import UNLISTED
from portrayal.text.words import wordnet
from portrayal.text.words.harm_lists import synsets_of

WEAR = "wear"
_GROUPS = frozenset(wordnet.PEOPLE) - {wordnet.PERSON}  # synsets of several people
# Words that make a person several.
SEVERAL = word_set(
    "two three four five six seven eight nine ten several many some few both multiple various group couple pair bunch crowd team"
    " line row family other more"
)


def appearance(stages: Stages, stage: str, images: list[str], options: Options) -> tuple[np.ndarray, list[str]]:
    """Return images x features of appearance (`dress: red`) that enough images have and lack."""
    looks = _features(stages, stage, options).filter(pl.col("image").is_in(images))
    counts = looks.group_by("look").len()
    least, most = options.least_images, len(images) - options.least_images
    names = sorted(counts.filter(pl.col("len").is_between(least, most))["look"])
    column, line = {name: i for i, name in enumerate(names)}, {image: i for i, image in enumerate(images)}
    matrix = np.zeros((len(images), len(names)))
    for image, look in looks.filter(pl.col("look").is_in(names)).iter_rows():
        matrix[line[image], column[look]] = 1.0
    return matrix, names


@once
def _features(stages: Stages, stage: str, options: Options) -> pl.DataFrame:
    """Return (image, look), each once."""
    listed = options.word_list("appearance")
    roots, adjectives = synsets_of(listed, "n"), listed.filter(pl.col("part") == "a")["term"]
    worn = _worn(stages, stage, roots)
    attributes = stages.at(stage, "attribute")
    people = people_described(attributes)
    of_people = attributes.filter(pl.col("subject").is_in(people) & pl.col("word").is_in(adjectives.to_list()))
    of_things = attributes.join(worn, left_on=["image", "subject"], right_on=["image", "word"], how="semi")
    looks = [
        worn.select("image", look=pl.format("object: {}", "word")),
        of_things.select("image", look=pl.format("{}: {}", "subject", "word")),
        of_people.select("image", look=pl.format("person: {}", "word")),
    ]
    return pl.concat(looks).unique()


def _worn(stages: Stages, stage: str, roots: frozenset[str]) -> pl.DataFrame:
    """Return (image, word) of clothes, hair and everything said to be worn."""
    objects = stages.at(stage, "object")
    distinct = objects.select("word", "synset").unique().drop_nulls()
    listed = [word for word, synset in distinct.iter_rows() if _is_under(synset, roots)]
    by_kind = objects.filter(pl.col("word").is_in(listed)).select("image", "word")
    by_verb = stages.at(stage, "relation").filter(pl.col("word") == WEAR).select("image", word="object").drop_nulls()
    return pl.concat([by_kind, by_verb]).unique()


@lru_cache(maxsize=50_000)
def _is_under(synset: str, roots: frozenset[str]) -> bool:
    if synset.endswith(UNLISTED):
        return False
    return synset in roots or bool(wordnet.load().ancestors(synset) & roots)


def alone(stages: Stages, stage: str) -> set[str]:
    """Return the images in which a stage has exactly one person."""
    objects = with_person(stages.at(stage, "object")).filter("person")
    many = [synset for synset in objects["synset"].unique().drop_nulls() if _is_under(synset, _GROUPS)]
    people = objects["word"].unique().to_list()
    attributes = stages.at(stage, "attribute").filter(pl.col("subject").is_in(people) & pl.col("word").is_in(SEVERAL))
    boxes = stages.boxes_of(stage)
    drawn = boxes.filter(pl.col("synset").is_in([s for s in boxes["synset"].unique() if is_person("-", s)]))
    crowded = drawn.filter(pl.col("image").is_duplicated())["image"]
    together = {*objects.filter(pl.col("synset").is_in(many))["image"], *attributes["image"], *crowded}
    return set(objects["image"]) - together
