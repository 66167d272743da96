"""Person words and identity attributes of the ground truth, and their fate in captions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache

import polars as pl

from portrayal.audits.captions.measures.technique import Shares, Values
from portrayal.audits.captions.reading.people import identity_adjectives, identity_terms, listed_nouns, with_person
from portrayal.audits.captions.reading.stages import Options, Stages
from portrayal.text.captions.senses import UNLISTED
from portrayal.text.words import wordnet

RECOGNISED, REPLACED, ABSENT = "recognised", "replaced by a more general word", "absent"
PERSON_REPLACED, PERSON_ABSENT = f"person word {REPLACED}", "person word absent"
ATTRIBUTE_ABSENT = "identity attribute absent"
PERSON_WORDS, ATTRIBUTES = "person words", "identity attributes"
ANNOTATED = "axes that people are annotated on"
NOTE = "technique of this project; which of several people a word means is not known"
PLACE = ("image", "caption")
WHOM = ("axis", "group")


def facts(stages: Stages, options: Options) -> Mapping[str, frozenset[str]]:
    """Return the axes that anybody is annotated on, in any of the images."""
    return {ANNOTATED: frozenset(stages.axes()) if stages.facts is None else stages.facts[ANNOTATED]}


def people_shares(
    stages: Stages, stage: str, truth: str, words: pl.DataFrame, attributes: pl.DataFrame, options: Options
) -> Iterator[Shares]:
    """Yield the shares of person words and identity attributes lost, by group."""
    for quantity, fate in ((PERSON_REPLACED, REPLACED), (PERSON_ABSENT, ABSENT)):
        if not facts(stages, options)[ANNOTATED]:
            yield from _of_lists(quantity, fate, stage, truth, words, PERSON_WORDS)
        elif len(words):
            values, basis = per_image(words, fate), set(words["image"])
            yield Shares(quantity, stage, truth, values, PERSON_WORDS, note=NOTE, basis=basis)
    yield from _of_lists(ATTRIBUTE_ABSENT, ABSENT, stage, truth, attributes, ATTRIBUTES)


def _of_lists(quantity: str, fate: str, stage: str, truth: str, table: pl.DataFrame, share_of: str) -> Iterator[Shares]:
    """Yield the shares for each group that the listed words name."""
    note = f"words of the list for this group; {NOTE}"
    for (axis, group), part in sorted(table.group_by(*WHOM), key=lambda item: item[0]):
        yield of_list(quantity, stage, truth, per_image(part, fate), share_of, (str(axis), str(group)), note)


def of_list(
    quantity: str, stage: str, truth: str, values: Values, share_of: str, group: tuple[str, str], note: str
) -> Shares:
    """Return the shares of a list for one group; nothing of it is missing."""
    return Shares(quantity, stage, truth, values, share_of, note=note, basis=frozenset(), only=group)


def person_fates(stages: Stages, stage: str, truth: str, options: Options) -> pl.DataFrame:
    """Return the fate of every person word of the truth in every caption."""
    there = listed_nouns(stages.at(truth, "object"), options).select("image", "word", "synset", *WHOM).unique()
    table = there.join(stages.captions_at(stage).select(PLACE), on="image").sort(*PLACE, *WHOM, "word")
    mentions = synsets_said(with_person(stages.at(stage, "object")).filter("person"))
    named = set(identity_terms(stages, stage, options).select(*PLACE, *WHOM).iter_rows())
    fate = [
        RECOGNISED if tuple(key) in named else person_fate(synset, mentions.get((key[0], key[1]), frozenset()))
        for *key, synset in table.select(*PLACE, *WHOM, "synset").iter_rows()
    ]
    return table.with_columns(pl.Series("fate", fate, dtype=pl.String))


def synsets_said(objects: pl.DataFrame) -> Mapping[tuple[str, int], frozenset[str]]:
    """Return (image, caption) -> the synsets of its objects."""
    each = objects.drop_nulls("synset").group_by(PLACE).agg(pl.col("synset").unique())
    return {(image, caption): frozenset(synsets) for image, caption, synsets in each.iter_rows()}


def person_fate(synset: str, mentions: frozenset[str]) -> str:
    """Return the fate of a person word, given the caption's synsets of people."""
    if synset in mentions or any(synset in _above(other) for other in mentions):
        return RECOGNISED
    return REPLACED if mentions & (_above(synset) | set(wordnet.PEOPLE)) else ABSENT


@lru_cache(maxsize=50_000)
def _above(synset: str) -> frozenset[str]:
    """Return the people above a synset, up to person itself."""
    table = wordnet.load()
    above = () if synset.endswith(UNLISTED) else table.ancestors(synset)
    return frozenset(up for up in above if table.is_person_synset(up))


def attribute_fates(stages: Stages, stage: str, truth: str, options: Options) -> pl.DataFrame:
    """Return the fate of every identity attribute of the truth in every caption."""
    there = identity_adjectives(stages, truth, options).rename({"term": "word"}).drop("caption").unique()
    named = identity_terms(stages, stage, options).select(*PLACE, *WHOM, fate=pl.lit(RECOGNISED)).unique()
    table = there.join(stages.captions_at(stage).select(PLACE), on="image")
    table = table.join(named, on=[*PLACE, *WHOM], how="left").with_columns(pl.col("fate").fill_null(ABSENT))
    return table.sort(*PLACE, *WHOM, "word")


def per_image(table: pl.DataFrame, fate: str) -> Values:
    """Return for each image the share of its words that have a fate."""
    flag = (pl.col("fate") == fate).mean().alias("value")
    return dict(table.group_by("image", maintain_order=True).agg(flag).sort("image").iter_rows())
