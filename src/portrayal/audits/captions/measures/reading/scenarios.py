"""The three scenarios of a word included wrongly: non-imageable, too specific, hallucinated.

Objects are compared as synsets. Attributes and relations are compared only where they speak of the same object (and
subject), that is where the nouns' Leacock-Chodorow similarity is at least `Options.same_object`. A word more general
than the ground truth's is right, and so is one of the same synset.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from functools import lru_cache

import polars as pl

from portrayal.audits.captions.measures.reading.options import Options
from portrayal.audits.captions.measures.reading.people import people_described
from portrayal.audits.captions.measures.reading.stages import Stages, once
from portrayal.text.words import wordnet
from portrayal.text.words.harm_lists import synsets_of

NON_IMAGEABLE, TOO_SPECIFIC, HALLUCINATED = "non-imageable", "too specific", "hallucinated"
SCENARIOS = (NON_IMAGEABLE, TOO_SPECIFIC, HALLUCINATED)


@once
def scenarios(stages: Stages, stage: str, truth: str, options: Options, people: Set[str]) -> pl.DataFrame:
    """Return the mentions of a stage with a column for each scenario, and `scenario`, the first that fits.

    Only images the ground truth covers are judged, and attributes and relations only where any are labelled. `people` are the
    words that mean people at this stage, in any part of the images.
    """
    said = _judged(stages, stage, truth).with_row_index("row")
    wrong = _wrong(said, _known(stages.at(truth)), options.same_object)
    flags = [pl.Series(name, [one == name for one in wrong], dtype=pl.Boolean) for name in (TOO_SPECIFIC, HALLUCINATED)]
    table = said.with_columns(*flags, _non_imageable(options, people))
    table = _only_judged(table, stages, truth)
    first = pl.coalesce(pl.when(pl.col(name)).then(pl.lit(name)) for name in SCENARIOS)
    return table.with_columns(first.alias("scenario"))


def _judged(stages: Stages, stage: str, truth: str) -> pl.DataFrame:
    """Return the mentions of a stage in images the ground truth covers."""
    return stages.at(stage).filter(pl.col("image").is_in(list(stages.covered(truth))))


@once
def people_said(stages: Stages, stage: str, truth: str) -> frozenset[str]:
    """Return the words that mean people in what is judged of a stage."""
    return frozenset(people_described(_judged(stages, stage, truth)))


def _only_judged(table: pl.DataFrame, stages: Stages, truth: str) -> pl.DataFrame:
    """Take back what was said to be wrong of a kind that nobody labelled in that image."""
    judged = pl.any_horizontal(
        (pl.col("kind") == kind) & pl.col("image").is_in(list(stages.judges(truth, kind)))
        for kind in ("object", "attribute", "relation")
    )
    return table.with_columns(pl.col(TOO_SPECIFIC) & judged, pl.col(HALLUCINATED) & judged)


def _non_imageable(options: Options, people: Set[str]) -> pl.Expr:
    """Flag words of the list; its adjectives count for people only: a 'local' bus is imageable enough."""
    listed = options.word_list("nonimageable")
    nouns = synsets_of(listed, "n")
    adjectives = listed.filter(pl.col("part") == "a")["term"].to_list()
    verbs = options.word_list("visual_verbs")["term"].to_list()
    kind, word = pl.col("kind"), pl.col("word")
    noun = (kind == "object") & pl.col("synset").is_in(list(nouns))
    adjective = (kind == "attribute") & word.is_in(adjectives) & pl.col("subject").is_in(sorted(people))
    verb = (
        (kind == "relation") & ~pl.col("synset").str.ends_with(".prep") & ~word.str.split(" ").list.first().is_in(verbs)
    )
    return (noun | adjective | verb).fill_null(False).alias(NON_IMAGEABLE)


# What the truth has of an image and a kind: the synset of the word, and of its nouns; of objects only their synsets.
Known = dict[tuple[str, str], list[tuple[str | None, str | None, str | None]]]
Names = frozenset[str]
_SYNSETS = ("synset", "subject_synset", "object_synset")


def _known(truth: pl.DataFrame) -> Known:
    known: Known = {}
    distinct = truth.select("image", "kind", *_SYNSETS).unique(maintain_order=True)
    for image, kind, *synsets in rows_of(distinct, "image", "kind", *_SYNSETS):
        known.setdefault((image, kind), []).append(tuple(synsets))
    return known


def _wrong(said: pl.DataFrame, known: Known, least: float) -> list[str | None]:
    """Return for each mention whether it is too specific or hallucinated; None where it is right.

    What an image says several times is compared once.
    """
    judged: dict[tuple, str | None] = {}
    objects = {image: _names(there) for (image, kind), there in known.items() if kind == "object"}
    found = []
    for key in rows_of(said, "image", "kind", *_SYNSETS):
        if key not in judged:
            image, kind, *synsets = key
            if kind == "object":
                judged[key] = _object(synsets[0], objects.get(image, frozenset()))
            else:
                judged[key] = _tuple(synsets, known.get((image, kind), []), least)
        found.append(judged[key])
    return found


def rows_of(table: pl.DataFrame, *columns: str) -> Iterator[tuple]:
    """Yield the values of some columns, row by row."""
    return zip(*(table[name].to_list() for name in columns), strict=True)


def _names(there: list[tuple]) -> Names:
    return frozenset(known for known, _, _ in there if known is not None)


@lru_cache(maxsize=100_000)
def _object(synset: str | None, names: Names) -> str | None:
    """Objects under a known synset are too specific, and those beside all known ones hallucinated."""
    if synset is None:
        return HALLUCINATED
    if synset in names or synset in all_above(names):
        return None
    return HALLUCINATED if names.isdisjoint(ancestors(synset)) else TOO_SPECIFIC


@lru_cache(maxsize=100_000)
def all_above(names: Names) -> Names:
    """Return the synsets above any of these."""
    return frozenset().union(*map(ancestors, names))


def _tuple(synsets: list[str | None], there: list[tuple], least: float) -> str | None:
    """Compare what speaks of the same nouns; where none of the truth does, it is hallucinated."""
    word, subject, target = synsets
    found: str | None = HALLUCINATED
    for known, known_subject, known_target in there:
        relation = _relation(word, known)
        # Seldom another than this, and cheaper than whether nouns are the same.
        if relation == "other" or not about_same(subject, known_subject, target, known_target, least):
            continue
        if relation == "right":
            return None
        found = TOO_SPECIFIC
    return found


# Synsets too high to compare by.
TOO_HIGH = frozenset([
    "entity.n.01", "physical_entity.n.01", "object.n.01", "whole.n.02", "artifact.n.01", "abstraction.n.06", "matter.n.03",
    "instrumentality.n.03", "living_thing.n.01", "organism.n.01", "causal_agent.n.01", "attribute.n.02", "unit.n.03",
])  # fmt: skip


@lru_cache(maxsize=100_000)
def ancestors(synset: str) -> frozenset[str]:
    """Return the synsets above, without those too high to compare; unknown words have none."""
    if synset.endswith((".unknown", ".prep")):
        return frozenset()
    return wordnet.load().ancestors(synset) - TOO_HIGH


@lru_cache(maxsize=500_000)
def about_same(
    subject: str | None, known_subject: str | None, target: str | None, known_target: str | None, least: float
) -> bool:
    """Say whether two tuples speak of the same nouns."""
    return _same_noun(subject, known_subject, least) and _same_noun(target, known_target, least)


@lru_cache(maxsize=500_000)
def _same_noun(first: str | None, second: str | None, least: float) -> bool:
    if first == second:
        return True
    if first is None or second is None or not (first[-5:-2] == second[-5:-2] == ".n."):
        return False
    if second in ancestors(first) or first in ancestors(second):
        return True
    similar = wordnet.load().similarity(first, second)
    return similar is not None and similar >= least


@lru_cache(maxsize=500_000)
def _relation(word: str | None, known: str | None) -> str:
    if word is None or known is None:
        return "other"
    if word == known or word in ancestors(known):
        return "right"
    if known in ancestors(word) or known in ancestors(_noun_of(word)):  # red is under color as a noun only
        return "specific"
    return "other"


@lru_cache(maxsize=100_000)
def _noun_of(synset: str) -> str:
    lemma = synset.partition(".")[0]
    found = wordnet.load().synsets(lemma, "n")
    return found[0] if found else synset
