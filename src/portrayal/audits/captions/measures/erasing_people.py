"""Erasing, continued: person words and identity attributes of the ground truth, and what captions make of them.

Person words (`woman`, `grandfather`) are the nouns of the identity list. Each is in the caption (the same synset or one under
it, or another listed word of its group), replaced (only a word above it, such as `adult`, `person` or `people`), or absent.
Identity attributes (`elderly`, `muslim`) are the list's adjectives said of a person: kept where the caption has any
term of their axis and group, else absent. WordNet has nothing above an adjective, so none is ever replaced.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.captions.measures.all_parts import over_all_parts
from portrayal.audits.captions.measures.kept_shares import kept
from portrayal.audits.captions.measures.options import Options
from portrayal.audits.captions.measures.outcome import Technique, by_group, row
from portrayal.audits.captions.measures.people import with_person
from portrayal.audits.captions.measures.self_identification import identity_adjectives, identity_nouns, identity_terms
from portrayal.audits.captions.measures.stages import Stages
from portrayal.stats.tests.proportions import mean_share
from portrayal.text.words import wordnet

RECOGNISED, REPLACED, ABSENT = "recognised", "replaced by a more general word", "absent"
PERSON_REPLACED, PERSON_ABSENT = f"person word {REPLACED}", "person word absent"
ATTRIBUTE_ABSENT = "identity attribute absent"
PERSON_WORDS, ATTRIBUTES = "person words", "identity attributes"
_NOTE = "technique of this project; which of several people a word means is not known"


def people_and_attributes(
    technique: Technique, stages: Stages, stage: str, truth: str, options: Options
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return rows and cases of the person words and the identity attributes the truth has."""
    words = person_fates(stages, stage, truth, options)
    attributes = attribute_fates(stages, stage, truth, options)
    rows = [
        *_word_rows(technique, stages, stage, truth, words),
        *_rows_of_lists(technique, ATTRIBUTE_ABSENT, ABSENT, stage, truth, attributes, ATTRIBUTES),
    ]
    # A little below the artifacts, which would be crowded out otherwise.
    cases = [case for lost in (words, attributes) for case in lost_cases(technique, stage, lost, 0.9)]
    return rows, cases


def person_fates(stages: Stages, stage: str, truth: str, options: Options) -> pl.DataFrame:
    """Return image, caption, word, axis, group and fate of every person word the truth has, for every caption."""
    nouns = identity_nouns(stages.at(truth, "object"), options)
    there = nouns.select("image", "word", "synset", "axis", "group").unique()
    table = there.join(_captions(stages, stage), on="image").sort("image", "caption", "axis", "group", "word")
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
    table = there.join(_captions(stages, stage), on="image").join(
        named.with_columns(pl.lit(RECOGNISED).alias("fate")), on=["image", "caption", "axis", "group"], how="left"
    )
    return table.with_columns(pl.col("fate").fill_null(ABSENT)).sort("image", "caption", "axis", "group", "word")


def _captions(stages: Stages, stage: str) -> pl.DataFrame:
    return stages.captions.filter(pl.col("stage") == stage).select("image", "caption")


def _said_people(stages: Stages, stage: str) -> dict[tuple[str, int], frozenset[str]]:
    people = with_person(stages.at(stage, "object")).filter(pl.col("person") & pl.col("synset").is_not_null())
    found: dict[tuple[str, int], set[str]] = {}
    for image, number, synset in people.select("image", "caption", "synset").iter_rows():
        found.setdefault((image, number), set()).add(synset)
    return {key: frozenset(synsets) for key, synsets in found.items()}


def _word_rows(
    technique: Technique, stages: Stages, stage: str, truth: str, words: pl.DataFrame
) -> list[dict[str, Any]]:
    """Return the person words' rows by annotated group; where nobody is annotated, by the group the word names."""
    rows: list[dict[str, Any]] = []
    for quantity, fate in ((PERSON_REPLACED, REPLACED), (PERSON_ABSENT, ABSENT)):
        if not anybody_annotated(stages):
            rows += _rows_of_lists(technique, quantity, fate, stage, truth, words, PERSON_WORDS)
        elif len(words):
            values, about = _per_image(words, fate), set(words["image"])
            rows += by_group(technique, quantity, stages, stage, truth, values, PERSON_WORDS, note=_NOTE, basis=about)
    return rows


def anybody_annotated(stages: Stages) -> bool:
    """Say whether anybody is annotated, in this or another part of the images."""
    return bool(over_all_parts("anybody annotated", set() if stages.people.is_empty() else {"somebody"}))


def _rows_of_lists(
    technique: Technique, quantity: str, fate: str, stage: str, truth: str, table: pl.DataFrame, share_of: str
) -> list[dict[str, Any]]:
    """Return a row for each group that the listed words name."""
    rows = []
    for (axis, group), part in sorted(table.group_by("axis", "group"), key=lambda item: item[0]):
        values = np.array(list(_per_image(part, fate).values()))
        note = f"words of the list for this group; {_NOTE}"
        about = {"axis": str(axis), "group": str(group), "unit": "share", "share_of": share_of, "note": note}
        told = {**about, "n_missing": 0, **kept(values, alone=True)}
        rows.append(row(technique, quantity, stage, truth, mean_share(values), **told))
    return rows


def _per_image(table: pl.DataFrame, fate: str) -> Mapping[str, float]:
    flag = (pl.col("fate") == fate).mean().alias("value")
    return dict(table.group_by("image", maintain_order=True).agg(flag).sort("image").iter_rows())


def lost_cases(technique: Technique, stage: str, table: pl.DataFrame, most: float) -> list[dict[str, Any]]:
    """Return the words that were lost, those replaced first; `most` is their score, and absent ones have half a point less."""
    lost = table.filter(pl.col("fate") != RECOGNISED)
    cases = []
    for image, number, word, group, fate in lost.select("image", "caption", "word", "group", "fate").iter_rows():
        score = most if fate == REPLACED else most - 0.5
        cases.append(technique.case(fate, stage, image, number, f"'{word}' is {fate}", word, group, score))
    return cases
