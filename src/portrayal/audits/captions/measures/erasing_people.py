"""Erasing, continued: person words and identity attributes of the ground truth, and their fate in captions.

Person words (`woman`, `grandfather`) are the nouns of the identity list. Each is in the caption (the same synset or one under
it, or another listed word of its group), replaced (only a word above it, such as `adult`, `person` or `people`), or absent.
Identity attributes (`elderly`, `muslim`) are the list's adjectives said of a person: kept where the caption has any
term of their axis and group, else absent. WordNet has nothing above an adjective, so none is ever replaced.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import polars as pl

from portrayal.audits.captions.measures.reading.options import Options
from portrayal.audits.captions.measures.reading.people import (
    identity_adjectives,
    identity_terms,
    listed_nouns,
    with_person,
)
from portrayal.audits.captions.measures.reading.stages import Stages
from portrayal.audits.captions.measures.shares import Shares, Values
from portrayal.folds import Fold, Known
from portrayal.text.words import wordnet

RECOGNISED, REPLACED, ABSENT = "recognised", "replaced by a more general word", "absent"
PERSON_REPLACED, PERSON_ABSENT = f"person word {REPLACED}", "person word absent"
ATTRIBUTE_ABSENT = "identity attribute absent"
PERSON_WORDS, ATTRIBUTES = "person words", "identity attributes"
ANNOTATED = "whether anybody is annotated"
_NOTE = "technique of this project; which of several people a word means is not known"


def anybody_annotated(options: Options) -> Fold:
    """Return the fold of whether anybody is annotated, in any part of the images."""
    return Fold(ANNOTATED, _annotated, lambda sums, _: bool(sums))


def _annotated(stages: Stages, known: Known) -> int:
    return len(stages.people)


def people_shares(
    stages: Stages, stage: str, truth: str, words: pl.DataFrame, attributes: pl.DataFrame, annotated: bool
) -> Iterator[Shares]:
    """Yield the shares of person words lost, by annotated group or else the group they name, and of attributes."""
    for quantity, fate in ((PERSON_REPLACED, REPLACED), (PERSON_ABSENT, ABSENT)):
        if not annotated:
            yield from _of_lists(quantity, fate, stage, truth, words, PERSON_WORDS)
        elif len(words):
            values, about = per_image(words, fate), set(words["image"])
            yield Shares(quantity, stage, truth, values, PERSON_WORDS, note=lambda _: _NOTE, basis=about)
    yield from _of_lists(ATTRIBUTE_ABSENT, ABSENT, stage, truth, attributes, ATTRIBUTES)


def _of_lists(quantity: str, fate: str, stage: str, truth: str, table: pl.DataFrame, share_of: str) -> Iterator[Shares]:
    """Yield the shares for each group that the listed words name."""
    for (axis, group), part in sorted(table.group_by("axis", "group"), key=lambda item: item[0]):
        yield of_list(
            quantity,
            stage,
            truth,
            per_image(part, fate),
            share_of,
            (str(axis), str(group)),
            f"words {_OF_LIST}; {_NOTE}",
        )


def of_list(
    quantity: str, stage: str, truth: str, values: Values, share_of: str, group: tuple[str, str], note: str
) -> Shares:
    """Return the shares of what a list has for one group; nothing of it is missing."""
    return Shares(quantity, stage, truth, values, share_of, note=lambda _: note, basis=frozenset(), only=group)


_OF_LIST = "of the list for this group"


def person_fates(stages: Stages, stage: str, truth: str, options: Options) -> pl.DataFrame:
    """Return image, caption, word, axis, group and fate of every person word the truth has, for every caption."""
    nouns = listed_nouns(stages.at(truth, "object"), options)
    there = nouns.select("image", "word", "synset", "axis", "group").unique()
    table = there.join(stages.captions_at(stage).select("image", "caption"), on="image").sort(
        "image", "caption", "axis", "group", "word"
    )
    said = _said_people(stages, stage)
    named = set(identity_terms(stages, stage, options).select("image", "caption", "axis", "group").iter_rows())
    keys = table.select("image", "caption", "axis", "group", "synset").iter_rows()
    fate = [
        RECOGNISED if tuple(key) in named else person_fate(synset, said.get((key[0], key[1]), frozenset()))
        for *key, synset in keys
    ]
    return table.with_columns(pl.Series("fate", fate, dtype=pl.String))


def person_fate(synset: str, said: frozenset[str]) -> str:
    """Return what became of a person word in a caption that has these synsets of people.

    Examples
    --------
    >>> [person_fate("woman.n.01", frozenset([said])) for said in ("girl.n.01", "person.n.01", "man.n.01")]
    ['recognised', 'replaced by a more general word', 'absent']
    """
    if synset in said or any(synset in _above(other) for other in said):
        return RECOGNISED
    return REPLACED if said & (_above(synset) | set(wordnet.PEOPLE)) else ABSENT


@lru_cache(maxsize=50_000)
def _above(synset: str) -> frozenset[str]:
    """Return the people above a synset, up to person itself, which is the general word meant here."""
    if synset.endswith((".unknown", ".prep")):
        return frozenset()
    table = wordnet.load()
    return frozenset(up for up in table.ancestors(synset) if table.is_person_synset(up))


def attribute_fates(stages: Stages, stage: str, truth: str, options: Options) -> pl.DataFrame:
    """Return image, caption, word, axis, group and fate of every identity attribute the truth has of a person."""
    there = identity_adjectives(stages, truth, options).rename({"term": "word"}).drop("caption").unique()
    named = identity_terms(stages, stage, options).select("image", "caption", "axis", "group").unique()
    table = there.join(stages.captions_at(stage).select("image", "caption"), on="image").join(
        named.with_columns(pl.lit(RECOGNISED).alias("fate")), on=["image", "caption", "axis", "group"], how="left"
    )
    return table.with_columns(pl.col("fate").fill_null(ABSENT)).sort("image", "caption", "axis", "group", "word")


def _said_people(stages: Stages, stage: str) -> dict[tuple[str, int], frozenset[str]]:
    people = with_person(stages.at(stage, "object")).filter(pl.col("person") & pl.col("synset").is_not_null())
    found: dict[tuple[str, int], set[str]] = {}
    for image, number, synset in people.select("image", "caption", "synset").iter_rows():
        found.setdefault((image, number), set()).add(synset)
    return {key: frozenset(synsets) for key, synsets in found.items()}


def per_image(table: pl.DataFrame, fate: str) -> Values:
    """Return for each image the share of its words that have a fate."""
    flag = (pl.col("fate") == fate).mean().alias("value")
    return dict(table.group_by("image", maintain_order=True).agg(flag).sort("image").iter_rows())
