"""Scenarios of a word included wrongly: non-imageable, too specific, hallucinated.

Attributes and relations are compared only where their nouns are alike (Leacock-Chodorow); a more general word is right.
"""

from __future__ import annotations

from functools import lru_cache

import polars as pl

from portrayal.audits.captions.reading.people import people_described
from portrayal.audits.captions.reading.stages import Options, Stages, once
from portrayal.text.captions.senses import UNLISTED
from portrayal.text.words import wordnet
from portrayal.text.words.harm_lists import synsets_of
from portrayal.text.words.tokens import stop_words

NON_IMAGEABLE, TOO_SPECIFIC, HALLUCINATED = "non-imageable", "too specific", "hallucinated"
SCENARIOS = (NON_IMAGEABLE, TOO_SPECIFIC, HALLUCINATED)


@once
def scenarios(stages: Stages, stage: str, truth: str, options: Options) -> pl.DataFrame:
    """Return the mentions of a stage with each scenario, and the first that fits."""
    mentions = _judged(stages, stage, truth).with_row_index("row")
    wrong = pl.Series(_wrong(mentions, stages.at(truth), options.same_object), dtype=pl.String)
    # Mentions of a kind that nobody labelled in that image are not judged.
    judged = pl.any_horizontal(
        (pl.col("kind") == kind) & pl.col("image").is_in(list(stages.judges(truth, kind)))
        for kind in ("object", "attribute", "relation")
    )
    flags = {name: judged & (wrong == name).fill_null(False) for name in (TOO_SPECIFIC, HALLUCINATED)}
    flags[NON_IMAGEABLE] = _non_imageable(options, people_said(stages, stage, truth))
    table = mentions.with_columns(**flags)
    return table.with_columns(scenario=pl.coalesce(pl.when(name).then(pl.lit(name)) for name in SCENARIOS))


def _judged(stages: Stages, stage: str, truth: str) -> pl.DataFrame:
    """Return the content words of a stage in images the ground truth covers."""
    inside = pl.col("image").is_in(list(stages.covered(truth)))
    first = pl.when(kind="relation").then(pl.col("word").str.split(" ").list.first()).otherwise("word")
    function = first.is_in(list(stop_words("snowball"))) | pl.col("synset").str.ends_with(".prep").fill_null(False)
    return stages.at(stage).filter(inside, ~function)


def people_said(stages: Stages, stage: str, truth: str) -> frozenset[str]:
    """Return the words that mean people among the judged mentions of a stage."""
    if stages.facts is not None:
        return stages.facts[stage]
    return frozenset(people_described(_judged(stages, stage, truth)))


def _non_imageable(options: Options, people: frozenset[str]) -> pl.Expr:
    """Flag words of the list; its adjectives count for people only, not for buses."""
    listed = options.word_list("nonimageable")
    nouns = synsets_of(listed, "n")
    adjectives = listed.filter(pl.col("part") == "a")["term"].to_list()
    verbs = options.word_list("visual_verbs")["term"].to_list()
    kind, word = pl.col("kind"), pl.col("word")
    noun = (kind == "object") & pl.col("synset").is_in(list(nouns))
    adjective = (kind == "attribute") & word.is_in(adjectives) & pl.col("subject").is_in(sorted(people))
    verb = (kind == "relation") & ~word.str.split(" ").list.first().is_in(verbs)
    return (noun | adjective | verb).fill_null(False)


Names = frozenset[str]
_SYNSETS = ("synset", "subject_synset", "object_synset")
_TUPLE = ("image", "kind", *_SYNSETS)


def _wrong(mentions: pl.DataFrame, truth: pl.DataFrame, least: float) -> list[str | None]:
    """Return for each mention TOO_SPECIFIC, HALLUCINATED, or None where it is right."""
    known: dict[tuple[str, str], list[tuple]] = {}  # by image and kind: the synsets of the word and of its nouns
    for image, kind, *synsets in truth.select(_TUPLE).unique(maintain_order=True).iter_rows():
        known.setdefault((image, kind), []).append(tuple(synsets))
    nouns = {image: frozenset(s for s, *_ in there if s) for (image, kind), there in known.items() if kind == "object"}
    judged: dict[tuple, str | None] = {}
    for key in mentions.select(_TUPLE).unique().iter_rows():
        image, kind, *synsets = key
        if kind == "object":
            judged[key] = _object(synsets[0], nouns.get(image, frozenset()))
        else:
            judged[key] = _tuple(synsets, known.get((image, kind), []), least)
    return [judged[key] for key in mentions.select(_TUPLE).iter_rows()]


@lru_cache(maxsize=100_000)
def _object(synset: str | None, names: Names) -> str | None:
    """Judge an object: too specific under a known synset, else hallucinated."""
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
    """Judge a tuple by those of the same nouns; without any it is hallucinated."""
    word, subject, target = synsets
    wrong: str | None = HALLUCINATED
    for known, known_subject, known_target in there:
        relation = _relation(word, known)
        # Seldom another than this, and cheaper than whether nouns are the same.
        if relation == "other" or not _same_noun(subject, known_subject, least):
            continue
        if _same_noun(target, known_target, least):
            if relation == "right":
                return None
            wrong = TOO_SPECIFIC
    return wrong


# Synsets too high to compare by.
TOO_HIGH = frozenset([
    "entity.n.01", "physical_entity.n.01", "object.n.01", "whole.n.02", "artifact.n.01", "abstraction.n.06", "matter.n.03",
    "instrumentality.n.03", "living_thing.n.01", "organism.n.01", "causal_agent.n.01", "attribute.n.02", "unit.n.03",
])  # fmt: skip


@lru_cache(maxsize=100_000)
def ancestors(synset: str) -> frozenset[str]:
    """Return the synsets above, without those too high to compare; unknown words have none."""
    if synset.endswith(UNLISTED):
        return frozenset()
    return wordnet.load().ancestors(synset) - TOO_HIGH


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
    synsets = wordnet.load().synsets(lemma, "n")
    return synsets[0] if synsets else synset
