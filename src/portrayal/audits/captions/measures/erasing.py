"""Erasing: artifacts, people and attributes of a group not recognised, or replaced by a more general word.

The technique is ours; Wang et al. 2022 give only the definition (section 3.2). Artifacts associated with a group are listed.
Of those the ground truth has, each is in the caption (the same synset or one under it), replaced (only a synset
above it, of at most `NEAR` steps), or absent. Captions leave most things out, so the share not recognised is set
against that of all other objects of the same images: the difference is what the group loses beyond brevity. It is
tested by permuting, inside each image, which of its things is the artifact.
Person words and identity attributes are in `erasing_people`; they have quantities of their own.
"""

from __future__ import annotations

import math
from collections.abc import Set
from dataclasses import replace
from functools import cache, lru_cache, partial
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.captions.measures.erasing_people import (
    ABSENT,
    ANNOTATED,
    RECOGNISED,
    REPLACED,
    anybody_annotated,
    attribute_fates,
    of_list,
    people_shares,
    per_image,
    person_fates,
)
from portrayal.audits.captions.measures.outcome import Outcome
from portrayal.audits.captions.measures.reading.mentions import is_phrase
from portrayal.audits.captions.measures.reading.options import Options
from portrayal.audits.captions.measures.reading.people import is_person
from portrayal.audits.captions.measures.reading.scenarios import all_above, ancestors, rows_of
from portrayal.audits.captions.measures.reading.senses import synset_of
from portrayal.audits.captions.measures.reading.stages import CAPTIONED, Stages, once
from portrayal.audits.captions.measures.shares import ShareTechnique, Steps, read
from portrayal.folds import Fold, Known
from portrayal.stats.decisions.decision import NOT_TESTED
from portrayal.stats.estimate import Estimate
from portrayal.stats.intervals.intervals import clustered_mean
from portrayal.stats.permuted import sequential_p
from portrayal.text.words import wordnet

TEST = "artifacts_lost"
EXCESS = "not recognised, beyond other objects of the same images"
NEAR = 3  # steps up that still count as a replacement: hijab - headscarf - scarf
THINGS = "words that mean things"
NOTE = "artifacts of the list for this group; technique of this project"


def things_words(options: Options) -> Fold:
    """Return the fold of the words that mean things in the ground truth, in any part of the images."""
    return Fold(THINGS, partial(_things_words, options), lambda sums, _: sums, add=frozenset.union)


def _things_words(options: Options, stages: Stages, known: Known) -> frozenset[str]:
    truth = stages.truth()
    return frozenset() if truth is None else _words_of_things(stages, truth, options)


@once
def _words_of_things(stages: Stages, truth: str, options: Options) -> frozenset[str]:
    pairs = _there(stages, truth, options).select("word", "synset").unique().iter_rows()
    return frozenset(word for word, synset in pairs if not is_person(word, synset))


def steps(stages: Stages, options: Options, known: Known) -> Steps:
    """Yield by group the shares replaced and absent, of artifacts, person words and attributes, with cases."""
    truth = stages.truth()
    for stage in filter(stages.has, CAPTIONED if truth else ()):
        if stage != truth:
            yield from _at_stage(stages, stage, truth, options, known[THINGS], known[ANNOTATED])


@once
def _at_stage(
    stages: Stages, stage: str, truth: str, options: Options, meant: frozenset[str], annotated: bool
) -> list[Any]:
    words, attributes = (rule(stages, stage, truth, options) for rule in (person_fates, attribute_fates))
    found: list[Any] = [*people_shares(stages, stage, truth, words, attributes, annotated)]
    # A little below the artifacts, which would be crowded out otherwise.
    found += [partial(_lost_cases, stage, table, 0.9) for table in (words, attributes)]
    things = fates(stages, stage, truth, options, meant)
    artifacts = things.join(_artifacts(options), on="synset")
    for (axis, group), part in artifacts.group_by("axis", "group", maintain_order=True):
        about = str(axis), str(group)
        for fate in (REPLACED, ABSENT):
            found.append(of_list(fate, stage, truth, per_image(part, fate), "artifacts", about, NOTE))
        found.append(cache(partial(_excess_row, part, things, stage, truth, about, options)))  # once for all systems
        found.append(partial(_lost_cases, stage, part, 1.0))
    return found


def _artifacts(options: Options) -> pl.DataFrame:
    table = options.word_list("artifacts")
    synsets = [_whole(term) if is_phrase(term) else synset_of(term, "n") for term in table["term"]]
    return (
        table.with_columns(pl.Series("synset", synsets)).select("synset", "axis", "group").unique(maintain_order=True)
    )


def _whole(term: str) -> str:
    """Return what stands for a phrase in place of a synset: the phrase itself, so that no part of it matches."""
    return f"{term}.unknown"


def _things(stages: Stages, stage: str, options: Options) -> pl.DataFrame:
    """Return the objects of a stage; the list's phrases stand for themselves and not for their heads."""
    phrases = [term for term in options.word_list("artifacts")["term"] if is_phrase(term)]
    whole = pl.format("{}.unknown", "word")
    return stages.at(stage, "object").with_columns(
        pl.when(pl.col("word").is_in(phrases)).then(whole).otherwise("synset").alias("synset")
    )


def fates(stages: Stages, stage: str, truth: str, options: Options, words: Set[str]) -> pl.DataFrame:
    """Return image, caption, word, synset and fate of every thing the truth has, for every caption of the image."""
    there = _there(stages, truth, options).filter(pl.col("word").is_in(sorted(words)))
    said: dict[tuple[str, int], set[str]] = {}
    for image, number, synset in rows_of(_things(stages, stage, options), "image", "caption", "synset"):
        said.setdefault((image, number), set()).add(synset)
    all_said = {place: frozenset(synsets) for place, synsets in said.items()}
    captions = stages.captions_at(stage).select("image", "caption")
    table = there.join(captions, on="image").sort("image", "caption", "synset")
    fate = [
        fate_of(synset, all_said.get((image, number), frozenset()))
        for image, number, synset in rows_of(table, "image", "caption", "synset")
    ]
    return table.with_columns(pl.Series("fate", fate, dtype=pl.String))


@once
def _there(stages: Stages, truth: str, options: Options) -> pl.DataFrame:
    """Return image, word and synset of every noun the truth has; a word that is not always a person is a thing."""
    things = _things(stages, truth, options).select("image", "word", "synset")
    return things.unique(["image", "synset"], keep="first", maintain_order=True)


def fate_of(synset: str, said: frozenset[str]) -> str:
    """Return what became of a thing in a caption that has these synsets."""
    if synset in said or synset in all_above(said):
        return RECOGNISED
    return REPLACED if said & _near(synset) else ABSENT


@lru_cache(maxsize=50_000)
def _near(synset: str) -> frozenset[str]:
    phrase, unknown, _ = synset.rpartition(".unknown")
    if unknown:  # above a phrase is its head: a rainbow flag is a flag
        head = synset_of(phrase.split()[-1], "n") if " " in phrase else None
        return frozenset([head, *_near(head)]) if head else frozenset()
    found: set[str] = set()
    edge = {synset}
    for _ in range(NEAR):
        edge = {up for s in edge if not s.endswith(".prep") for up in wordnet.load().hypernyms(s)}
        found |= edge & ancestors(synset)
    return frozenset(found)


def _excess_row(
    part: pl.DataFrame, things: pl.DataFrame, stage: str, truth: str, about: tuple[str, str], options: Options
) -> Outcome:
    gap = _tested(part, things, options)
    return Outcome(
        [
            TECHNIQUE.row(
                EXCESS,
                stage,
                truth,
                gap,
                TEST,
                unit="points",
                share_of="artifacts",
                note=NOTE,
                axis=about[0],
                group=about[1],
            )
        ]
    )


def _tested(part: pl.DataFrame, things: pl.DataFrame, options: Options) -> Estimate:
    """Return the excess with the p of an artifact being lost as often as any other thing of its image.

    Which things of an image are the artifacts is permuted inside the image.
    """
    gap = clustered_mean(excess(part, things))
    lost = _lost(part, things)
    varying = lost.filter(pl.col("lost").max().over("image") > pl.col("lost").min().over("image"))
    if varying.is_empty() or not gap.n:
        told = "what the images show is all mentioned or all left out" if gap.n else "no other thing is in the images"
        return replace(gap, decision=NOT_TESTED, reason=told)
    return replace(gap, p=_permuted(varying, options), p_floor=_floor(varying, options.permutations))


def _permuted(varying: pl.DataFrame, options: Options) -> float:
    """Return the two-sided p of how much of the artifacts is lost, permuted inside images."""
    images = varying["image"].rank("dense").to_numpy().astype(int) - 1
    place = varying.select(pl.int_range(pl.len()).over("image")).to_series().to_numpy()
    shape = images.max() + 1, place.max() + 1
    lost, own, there = np.zeros(shape), np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
    lost[images, place], own[images, place] = varying["lost"].to_numpy(), varying["artifact"].to_numpy()
    there[images, place] = True
    centred = np.where(there, lost - (lost.sum(axis=1) / there.sum(axis=1))[:, None], 0.0)
    rng = np.random.default_rng(options.seed)

    def draw(size: int) -> np.ndarray:
        keys = np.where(there, rng.random((size, *shape)), 2.0)
        chosen = keys.argsort(axis=2).argsort(axis=2) < own.sum(axis=1)[:, None]
        return np.abs((centred * chosen).sum(axis=(1, 2)))[:, None]

    observed = np.array([abs(float(centred[own].sum()))])
    return float(sequential_p(draw, observed, options.permutations)[0])


def _lost(part: pl.DataFrame, things: pl.DataFrame) -> pl.DataFrame:
    """Return image, synset, the share of captions that lost it, and whether it is the group's, where an image has both."""
    own = part.select("image", "synset").unique().with_columns(artifact=pl.lit(True))
    lost = (pl.col("fate") != RECOGNISED).mean().alias("lost")
    table = things.join(own.select("image").unique(), on="image").group_by("image", "synset").agg(lost)
    table = table.join(own, on=["image", "synset"], how="left").with_columns(pl.col("artifact").fill_null(False))
    both = pl.col("artifact").any().over("image") & ~pl.col("artifact").all().over("image")
    return table.filter(both).sort("image", "synset")


def _floor(varying: pl.DataFrame, permutations: int) -> float:
    """Return the smallest p there could be: one arrangement of all in each image, or one permutation of all drawn."""
    sizes = varying.group_by("image").agg(pl.len().alias("things"), pl.col("artifact").sum())
    arrangements = sum(math.log(math.comb(things, own)) for _, things, own in sizes.iter_rows())
    return max(math.exp(-arrangements), 1 / (permutations + 1))


def excess(part: pl.DataFrame, things: pl.DataFrame) -> np.ndarray:
    """Return per image the share of artifacts not recognised minus that of the other things in it."""
    lost = (pl.col("fate") != RECOGNISED).mean()
    own = part.group_by("image").agg(lost.alias("own"))
    others = things.join(part.select("image", "synset").unique(), on=["image", "synset"], how="anti")
    other = others.group_by("image").agg(lost.alias("other"))
    # Sorted, so that a sum's last bit is the same every time.
    both = own.join(other, on="image").sort("image")
    return both.select(pl.col("own") - pl.col("other")).to_series().to_numpy()


def _lost_cases(stage: str, table: pl.DataFrame, most: float) -> Outcome:
    """Return the words that were lost, those replaced first; `most` is their score, and absent ones have half a point less."""
    lost = table.filter(pl.col("fate") != RECOGNISED).select("image", "caption", "word", "group", "fate")
    return read(
        TECHNIQUE.case(
            fate, stage, image, number, f"'{word}' is {fate}", word, group, most if fate == REPLACED else most - 0.5
        )
        for image, number, word, group, fate in lost.iter_rows()
    )


TECHNIQUE = ShareTechnique(
    "erasing",
    "artifacts not recognised",
    "a ground truth (human labels or human captions), and captions",
    "without a ground truth nothing tells what was there to be recognised",
    steps=steps,
    after=(things_words, anybody_annotated),
    paper="definition: Wang et al. 2022, section 3.2",
)
