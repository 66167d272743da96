"""Erasing: things, people and attributes of a group lost or replaced by general words.

The technique is ours; Wang et al. 2022 give the definition (section 3.2). Captions leave most things out, so the share of a
group's artifacts not recognised is compared with that of other objects of the same images, permuted inside images.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, lru_cache, partial

import numpy as np
import polars as pl

from portrayal.audits.captions.measures import erasing_people
from portrayal.audits.captions.measures.erasing_people import ABSENT, PLACE, RECOGNISED, REPLACED
from portrayal.audits.captions.measures.technique import Outcome, Step, Steps, technique
from portrayal.audits.captions.reading.mentions import is_phrase
from portrayal.audits.captions.reading.people import is_person
from portrayal.audits.captions.reading.scenarios import all_above, ancestors
from portrayal.audits.captions.reading.stages import CAPTIONED, Options, Stages, once
from portrayal.stats.decisions.decision import NOT_TESTED
from portrayal.stats.intervals.intervals import clustered_mean
from portrayal.stats.permuted import sequential_p
from portrayal.text.captions.senses import synset_of
from portrayal.text.words import wordnet

TEST = "artifacts_lost"
EXCESS = "not recognised, beyond other objects of the same images"
NEAR = 3  # steps up that still count as a replacement: hijab - headscarf - scarf
THINGS = "words that mean things"
NOTE = "artifacts of the list for this group; technique of this project"
_LOST = pl.col("fate") != RECOGNISED


def facts(stages: Stages, options: Options) -> Mapping[str, frozenset[str]]:
    """Return the words that mean things in the ground truth of any image."""
    if stages.facts is not None:
        return {THINGS: stages.facts[THINGS]}
    pairs = _there(stages, options).select("word", "synset").unique().iter_rows()
    return {THINGS: frozenset(word for word, synset in pairs if not is_person(word, synset))}


def steps(stages: Stages, options: Options) -> Steps:
    """Yield by group the shares replaced and absent, with cases."""
    truth = stages.truth()
    for stage in filter(stages.has, CAPTIONED if truth else ()):
        if stage != truth:
            yield from _at_stage(stages, stage, str(truth), options)


@once
def _at_stage(stages: Stages, stage: str, truth: str, options: Options) -> list[Step | Callable[[], Step]]:
    words = erasing_people.person_fates(stages, stage, truth, options)
    attributes = erasing_people.attribute_fates(stages, stage, truth, options)
    # Scored below the artifacts, which would be crowded out otherwise.
    lost = [partial(_lost_cases, stage, table, 0.9) for table in (words, attributes)]
    shares = erasing_people.people_shares(stages, stage, truth, words, attributes, options)
    every: list[Step | Callable[[], Step]] = [*shares, *lost]
    things = fates(stages, stage, options)
    artifacts = things.join(_artifacts(options), on="synset")
    for (axis, group), part in artifacts.group_by("axis", "group", maintain_order=True):
        about = str(axis), str(group)
        for fate in (REPLACED, ABSENT):
            values = erasing_people.per_image(part, fate)
            every.append(erasing_people.of_list(fate, stage, truth, values, "artifacts", about, NOTE))
        every.append(cache(partial(_excess, part, things, stage, truth, about, options)))  # once for all systems
        every.append(partial(_lost_cases, stage, part, 1.0))
    return every


def _artifacts(options: Options) -> pl.DataFrame:
    table = options.word_list("artifacts")
    synsets = [f"{term}.unknown" if is_phrase(term) else synset_of(term, "n") for term in table["term"]]
    return table.select(pl.Series("synset", synsets), "axis", "group").unique(maintain_order=True)


def _things(stages: Stages, stage: str, options: Options) -> pl.DataFrame:
    """Return the objects of a stage; the list's phrases stand for themselves."""
    phrases = [term for term in options.word_list("artifacts")["term"] if is_phrase(term)]
    whole = pl.when(pl.col("word").is_in(phrases)).then(pl.format("{}.unknown", "word"))
    return stages.at(stage, "object").with_columns(whole.otherwise("synset").alias("synset"))


@once
def _there(stages: Stages, options: Options) -> pl.DataFrame:
    """Return image, word and synset of every noun the truth has."""
    things = _things(stages, stages.truth() or "", options).select("image", "word", "synset")
    return things.unique(["image", "synset"], keep="first", maintain_order=True)


def fates(stages: Stages, stage: str, options: Options) -> pl.DataFrame:
    """Return the fate of every thing of the truth in every caption of its image."""
    there = _there(stages, options).filter(pl.col("word").is_in(sorted(facts(stages, options)[THINGS])))
    mentions = erasing_people.synsets_said(_things(stages, stage, options))
    table = there.join(stages.captions_at(stage).select(PLACE), on="image").sort(*PLACE, "synset")
    rows = table.select(*PLACE, "synset").iter_rows()
    fate = [fate_of(synset, mentions.get((image, caption), frozenset())) for image, caption, synset in rows]
    return table.with_columns(pl.Series("fate", fate, dtype=pl.String))


def fate_of(synset: str, mentions: frozenset[str]) -> str:
    """Return the fate of a thing in a caption that has these synsets."""
    if synset in mentions or synset in all_above(mentions):
        return RECOGNISED
    return REPLACED if mentions & _near(synset) else ABSENT


@lru_cache(maxsize=50_000)
def _near(synset: str) -> frozenset[str]:
    phrase, unknown, _ = synset.rpartition(".unknown")
    if unknown:  # above a phrase is its head: a rainbow flag is a flag
        head = synset_of(phrase.split()[-1], "n") if " " in phrase else None
        return frozenset([head, *_near(head)]) if head else frozenset()
    near: set[str] = set()
    edge = {synset}
    for _ in range(NEAR):
        edge = {up for s in edge if not s.endswith(".prep") for up in wordnet.load().hypernyms(s)}
        near |= edge & ancestors(synset)
    return frozenset(near)


def _excess(
    part: pl.DataFrame, things: pl.DataFrame, stage: str, truth: str, about: tuple[str, str], options: Options
) -> Outcome:
    """Return the row of the excess, with the p of artifacts permuted inside each image."""
    gap = clustered_mean(excess(part, things))
    lost = _lost(part, things)
    varying = lost.filter(pl.col("lost").max().over("image") > pl.col("lost").min().over("image"))
    if varying.is_empty() or not gap.n:
        reason = "what the images show is all mentioned or all left out" if gap.n else "no other thing is in the images"
        gap = replace(gap, decision=NOT_TESTED, reason=reason)
    else:
        gap = replace(gap, p=_permuted(varying, options), p_floor=_floor(varying, options.permutations))
    named = {"axis": about[0], "group": about[1], "unit": "points", "share_of": "artifacts", "note": NOTE}
    return Outcome([TECHNIQUE.row(EXCESS, stage, truth, gap, TEST, **named)])


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
    """Return the share of captions that lost each thing, of images with artifacts and others."""
    own = part.select("image", "synset").unique().with_columns(artifact=pl.lit(True))
    beside = things.join(own.select("image").unique(), on="image")
    table = beside.group_by("image", "synset").agg(_LOST.mean().alias("lost"))
    table = table.join(own, on=["image", "synset"], how="left").with_columns(pl.col("artifact").fill_null(False))
    both = pl.col("artifact").any().over("image") & ~pl.col("artifact").all().over("image")
    return table.filter(both).sort("image", "synset")


def _floor(varying: pl.DataFrame, permutations: int) -> float:
    """Return the smallest possible p: one arrangement of all, or one permutation of all drawn."""
    sizes = varying.group_by("image").agg(pl.len().alias("things"), pl.col("artifact").sum())
    arrangements = sum(math.log(math.comb(things, own)) for _, things, own in sizes.iter_rows())
    return max(math.exp(-arrangements), 1 / (permutations + 1))


def excess(part: pl.DataFrame, things: pl.DataFrame) -> np.ndarray:
    """Return per image the share of artifacts lost minus that of its other things."""
    own = part.group_by("image").agg(_LOST.mean().alias("own"))
    others = things.join(part.select("image", "synset").unique(), on=["image", "synset"], how="anti")
    other = others.group_by("image").agg(_LOST.mean().alias("other"))
    # Sorted, so that a sum's last bit is the same every time.
    both = own.join(other, on="image").sort("image")
    return both.select(pl.col("own") - pl.col("other")).to_series().to_numpy()


def _lost_cases(stage: str, table: pl.DataFrame, most: float) -> Outcome:
    """Return the lost words as cases; replaced words score higher than absent ones."""
    about = {"tuple": pl.col("word"), "reason": pl.format("'{}' is {}", "word", "fate")}
    parts = [
        TECHNIQUE.cases(fate, stage, table.filter(pl.col("fate") == fate), score=pl.lit(score), **about).cases
        for fate, score in ((REPLACED, most), (ABSENT, most - 0.5))
    ]
    return Outcome(cases=pl.concat(parts))


TECHNIQUE = technique("erasing: artifacts not recognised", steps)
