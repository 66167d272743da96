"""Erasing: artifacts, people and attributes of a group not recognised, or replaced by a more general word.

The technique is ours; the paper gives only the definition (section 3.2). Artifacts associated with a group are listed.
Of those the ground truth has, each is in the caption (the same synset or one under it), replaced (only a synset
above it, of at most `NEAR` steps), or absent. Captions leave most things out, so the share not recognised is set
against that of all other objects of the same images: the difference is what the group loses beyond brevity. It is
tested by permuting, inside each image, which of its things is the artifact.
Person words and identity attributes are in `erasing_people`; they have quantities of their own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.captions.measures.all_parts import over_all_parts
from portrayal.audits.captions.measures.erasing_people import (
    ABSENT,
    RECOGNISED,
    REPLACED,
    lost_cases,
    people_and_attributes,
)
from portrayal.audits.captions.measures.kept_shares import is_keeping, kept
from portrayal.audits.captions.measures.options import Options
from portrayal.audits.captions.measures.outcome import Outcome, Technique, at_stage, cases_table, row
from portrayal.audits.captions.measures.people import is_person
from portrayal.audits.captions.measures.phrases import is_phrase
from portrayal.audits.captions.measures.scenarios import all_above, ancestors
from portrayal.audits.captions.measures.senses import synset_of
from portrayal.audits.captions.measures.stages import HUMAN_CAPTIONS, SYSTEM_CAPTIONS, Stages
from portrayal.stats.decisions.decision import NOT_TESTED
from portrayal.stats.estimate import Estimate
from portrayal.stats.intervals.intervals import clustered_mean
from portrayal.stats.permuted import sequential_p
from portrayal.stats.tests.proportions import mean_share
from portrayal.text.words import wordnet

TEST = "artifacts_lost"
EXCESS = "not recognised, beyond other objects of the same images"
NEAR = 3  # steps up that still count as a replacement: hijab - headscarf - scarf


def measure(stages: Stages, options: Options) -> Outcome:
    """Return by group the shares replaced and absent, of artifacts, person words and attributes, with cases."""
    truth = stages.truth()
    artifacts = _artifacts(options)
    if truth is None:
        return Outcome(missing=TECHNIQUE.missing)
    rows, cases = [], []
    for stage in filter(stages.has, (HUMAN_CAPTIONS, SYSTEM_CAPTIONS)):
        if stage != truth:
            found = partial(_at_stage, stages, stage, truth, options, artifacts)
            more_rows, more_cases = at_stage(TECHNIQUE, stages, stage, options, found)
            rows += more_rows
            cases += more_cases
    return Outcome(rows, cases_table(cases), missing="" if rows else TECHNIQUE.missing)


def _at_stage(
    stages: Stages, stage: str, truth: str, options: Options, artifacts: pl.DataFrame
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    rows, cases = people_and_attributes(TECHNIQUE, stages, stage, truth, options)
    things = fates(stages, stage, truth, options)
    for axis, group, part in _by_group(things, artifacts):
        rows += _rows(part, things, stage, truth, axis, group, options)
        cases += lost_cases(TECHNIQUE, stage, part, 1.0)
    return rows, cases


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


def _by_group(things: pl.DataFrame, artifacts: pl.DataFrame) -> Iterator[tuple[str, str, pl.DataFrame]]:
    of_groups = things.join(artifacts, on="synset")
    for (axis, group), part in of_groups.group_by("axis", "group", maintain_order=True):
        yield str(axis), str(group), part


def fates(stages: Stages, stage: str, truth: str, options: Options) -> pl.DataFrame:
    """Return image, caption, word, synset and fate of every thing the truth has, for every caption of the image."""
    there = things_there(stages, truth, options)
    captions = stages.captions.filter(pl.col("stage") == stage).select("image", "caption")
    said: dict[tuple[str, int], set[str]] = {}
    for image, number, synset in _rows_of(_things(stages, stage, options), "image", "caption", "synset"):
        said.setdefault((image, number), set()).add(synset)
    all_said = {place: frozenset(synsets) for place, synsets in said.items()}
    table = there.join(captions, on="image").sort("image", "caption", "synset")
    fate = [
        fate_of(synset, all_said.get((image, number), frozenset()))
        for image, number, synset in _rows_of(table, "image", "caption", "synset")
    ]
    return table.with_columns(pl.Series("fate", fate, dtype=pl.String))


def _rows_of(table: pl.DataFrame, *columns: str) -> Iterator[tuple]:
    return zip(*(table[name].to_list() for name in columns), strict=True)


def things_there(stages: Stages, truth: str, options: Options) -> pl.DataFrame:
    """Return image, word and synset of every thing the truth has; a word that is not always a person is a thing."""
    there = (
        _things(stages, truth, options)
        .select("image", "word", "synset")
        .unique(["image", "synset"], keep="first", maintain_order=True)
    )
    things = {w for w, s in there.select("word", "synset").unique().iter_rows() if not is_person(w, s)}
    return there.filter(pl.col("word").is_in(sorted(over_all_parts(f"things of {truth}", things))))


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


def _rows(
    part: pl.DataFrame, things: pl.DataFrame, stage: str, truth: str, axis: str, group: str, options: Options
) -> list[dict[str, Any]]:
    note = "artifacts of the list for this group; technique of this project"
    about = {"axis": axis, "group": group, "note": note}
    rows = []
    for quantity in (REPLACED, ABSENT):
        values = _per_image(part, pl.col("fate") == quantity)
        told = {"unit": "share", "share_of": "artifacts", "n_missing": 0, **about, **kept(values, alone=True)}
        rows.append(row(TECHNIQUE, quantity, stage, truth, mean_share(values), **told))
    if is_keeping():  # its test permutes things within images
        return rows
    gap = _tested(part, things, options)
    return [*rows, row(TECHNIQUE, EXCESS, stage, truth, gap, TEST, unit="points", share_of="artifacts", **about)]


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


def _per_image(part: pl.DataFrame, flag: pl.Expr) -> np.ndarray:
    return part.group_by("image", maintain_order=True).agg(flag.mean().alias("value"))["value"].to_numpy()


def excess(part: pl.DataFrame, things: pl.DataFrame) -> np.ndarray:
    """Return per image the share of artifacts not recognised minus that of the other things in it."""
    lost = (pl.col("fate") != RECOGNISED).mean()
    own = part.group_by("image").agg(lost.alias("own"))
    others = things.join(part.select("image", "synset").unique(), on=["image", "synset"], how="anti")
    other = others.group_by("image").agg(lost.alias("other"))
    # Sorted, so that a sum's last bit is the same every time.
    both = own.join(other, on="image").sort("image")
    return both.select(pl.col("own") - pl.col("other")).to_series().to_numpy()


TECHNIQUE = Technique(
    "erasing",
    "artifacts not recognised",
    "a ground truth (human labels or human captions), and captions",
    "without a ground truth nothing tells what was there to be recognised",
    measure,
)
