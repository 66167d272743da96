"""Stereotyping (3) and (4): how the tuples of captions differ between groups, and whether a stage widens it.

The paper gives each in one sentence; the technique is ours. Of captions that mention a person, each of the three kinds
of tuples has a distribution for every group. People and their group words are written as `person`, so that a
difference is not the group word itself, and identity terms are left out. The distance is the total variation, less what
it is on average when groups are dealt at random over images (a distance is never below zero, chance alone makes it
large). The same deals give the p-value, of the largest standardised difference of any tuple. (4) takes the distance at
one stage minus that at another, over the same images, with an interval from a bootstrap over images.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
from scipy import sparse, stats

from portrayal.measures.captions.options import Options
from portrayal.measures.captions.outcome import ESTIMATE, Outcome, Technique, row
from portrayal.measures.captions.people import is_person, people_mentioned
from portrayal.measures.captions.stages import STAGES, SYSTEM_CAPTIONS, Stages
from portrayal.measures.captions.tuple_differences import differing_tuples

KINDS = ("object", "attribute", "relation")


@dataclass(frozen=True)
class Counts:
    """How often each image has each tuple at a stage: images x tuples, a caption's share each."""

    images: list[str]
    tuples: list[str]
    matrix: sparse.csr_matrix


def measure(stages: Stages, options: Options) -> Outcome:
    """Return the distance between each pair of groups, for every stage and kind of tuple."""
    rows, tables = [], {}
    pairs = _pairs(stages)
    for (stage, kind), counts in _counted(stages, options).items() if pairs else ():
        for axis, first, second in pairs:
            flags = _flags(stages, axis, first, second, counts.images)
            if _comparable(flags, counts):
                rows.append(_distance_row(counts, flags, stages, stage, kind, axis, (first, second), options))
                name = f"{kind}s that differ ({stage}, {first} and {second})"
                tables[name] = differing_tuples(counts, flags, (first, second))
    return Outcome(rows, tables=tables, missing="" if rows else TECHNIQUE.missing)


def measure_across(stages: Stages, options: Options) -> Outcome:
    """Return the distance in the system captions minus that at every other stage."""
    rows = []
    pairs = _pairs(stages) if stages.has(SYSTEM_CAPTIONS) else []
    counted = _counted(stages, options) if pairs else {}
    for (other, kind), there in counted.items():
        if other == SYSTEM_CAPTIONS:
            continue
        now, then = _same_images(counted[SYSTEM_CAPTIONS, kind], there)
        for axis, first, second in pairs:
            flags = _flags(stages, axis, first, second, now.images)
            if _comparable(flags, now, then):
                rows.append(_change_row(now, then, flags, other, kind, axis, (first, second), options))
    return Outcome(rows, missing="" if rows else ACROSS.missing)


def _counted(stages: Stages, options: Options) -> dict[tuple[str, str], Counts]:
    return {
        (stage, kind): count(stages, stage, kind, options)
        for stage in STAGES
        if stages.has(stage)
        for kind in KINDS
    }


def _comparable(flags: np.ndarray, *counts: Counts) -> bool:
    """Both groups have images, and there is something to compare."""
    return all(c.tuples for c in counts) and min((flags == 1).sum(), (flags == 0).sum()) > 1


def _pairs(stages: Stages) -> list[tuple[str, str, str]]:
    return [
        (axis, first, second)
        for axis in stages.axes()
        for first, second in combinations(sorted(set(stages.groups(axis).values())), 2)
    ]


def count(stages: Stages, stage: str, kind: str, options: Options) -> Counts:
    """Return the tuples of the captions that mention a person; those in too few images are left out."""
    said = stages.at(stage, kind).join(people_mentioned(stages, stage), on=["image", "caption"])
    said = _neutral(said, kind, options)
    each = said.select("image", "caption", "tuple").unique().group_by("image", "tuple").len()
    captions = people_mentioned(stages, stage).group_by("image").len("captions")
    each = each.join(captions, on="image").with_columns((pl.col("len") / pl.col("captions")).alias("share"))
    common = each.group_by("tuple").len("images").filter(pl.col("images") >= options.least_images)
    tuples = sorted(common["tuple"])
    images = sorted(captions["image"])
    line = {image: i for i, image in enumerate(images)}
    column = {name: i for i, name in enumerate(tuples)}
    kept = each.filter(pl.col("tuple").is_in(tuples))
    matrix = sparse.csr_matrix(
        (
            kept["share"].to_numpy(),
            ([line[i] for i in kept["image"]], [column[t] for t in kept["tuple"]]),
        ),
        shape=(len(images), len(tuples)),
    )
    return Counts(images, tuples, matrix)


def _neutral(said: pl.DataFrame, kind: str, options: Options) -> pl.DataFrame:
    """Write every person as 'person' and leave identity terms out; the tuple becomes one string."""
    for column, synset in (("word", "synset"), ("subject", "subject_synset"), ("object", "object_synset")):
        if column == "word" and kind != "object":
            continue
        distinct = said.select(column, synset).unique().drop_nulls(column)
        people = [word for word, name in distinct.iter_rows() if is_person(word, name)]
        said = said.with_columns(
            pl.when(pl.col(column).is_in(people))
            .then(pl.lit("person"))
            .otherwise(pl.col(column))
            .alias(column)
        )
    if kind == "object":
        return said.filter(pl.col("word") != "person").with_columns(pl.col("word").alias("tuple"))
    if kind == "attribute":
        terms = options.word_list("identity").filter(pl.col("part") == "a")["term"].to_list()
        said = said.filter(~((pl.col("subject") == "person") & pl.col("word").is_in(terms)))
        return said.with_columns(pl.format("{} | {}", "subject", "word").alias("tuple"))
    return said.with_columns(pl.format("{} | {} | {}", "subject", "word", "object").alias("tuple"))


def _flags(stages: Stages, axis: str, first: str, second: str, images: list[str]) -> np.ndarray:
    """1 for the first group, 0 for the second, -1 for neither."""
    groups = stages.groups(axis)
    return np.array([{first: 1, second: 0}.get(groups.get(image, ""), -1) for image in images])


def distance(counts: Counts, weights: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return the total variation between two weightings of the images, one for each row of the weights."""
    a, b = weights @ counts.matrix, other @ counts.matrix
    a = a / np.maximum(a.sum(axis=1, keepdims=True), 1e-12)
    b = b / np.maximum(b.sum(axis=1, keepdims=True), 1e-12)
    return 0.5 * np.abs(a - b).sum(axis=1)


def largest_difference(counts: Counts, weights: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return the largest standardised difference over all tuples, one for each row of the weights.

    Differences gather in few tuples, which the distance over all of them would drown.
    """
    first, second = weights.sum(axis=1, keepdims=True), other.sum(axis=1, keepdims=True)
    inside = counts.matrix[(weights[0] + other[0]) > 0]
    spread = np.sqrt(np.maximum(inside.multiply(inside).mean(axis=0) - np.square(inside.mean(axis=0)), 0))
    error = np.asarray(spread).ravel() * np.sqrt(1 / first + 1 / second)
    gap = weights @ counts.matrix / first - other @ counts.matrix / second
    return np.divide(np.abs(gap), error, out=np.zeros_like(gap), where=error > 0).max(axis=1)


def deals(flags: np.ndarray, number: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the groups as they are (row 0) and dealt at random without replacement, as weights."""
    rng = np.random.default_rng(seed)
    inside = np.flatnonzero(flags >= 0)
    dealt = rng.permuted(np.tile(flags[inside], (number, 1)), axis=1)
    first = np.zeros((number + 1, len(flags)))
    second = np.zeros_like(first)
    first[:, inside] = np.vstack([flags[inside], dealt]) == 1
    second[:, inside] = np.vstack([flags[inside], dealt]) == 0
    return first, second


def resampled(flags: np.ndarray, number: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return bootstrap weights of the images of each group."""
    rng = np.random.default_rng(seed)
    made = []
    for group in (1, 0):
        inside = np.flatnonzero(flags == group)
        weights = np.zeros((number, len(flags)))
        weights[:, inside] = rng.multinomial(len(inside), np.full(len(inside), 1 / len(inside)), number)
        made.append(weights)
    return made[0], made[1]


def _distance_row(
    counts: Counts,
    flags: np.ndarray,
    stages: Stages,
    stage: str,
    kind: str,
    axis: str,
    pair: tuple[str, str],
    options: Options,
) -> dict[str, Any]:
    dealt = deals(flags, options.permutations, options.seed)
    all_deals, largest = distance(counts, *dealt), largest_difference(counts, *dealt)
    observed, null = all_deals[0], all_deals[1:]
    again = distance(counts, *resampled(flags, options.bootstraps, options.seed))
    excess = float(observed - null.mean())
    low, high = np.quantile(again, [0.025, 0.975]) - again.mean()
    p = (1 + int((largest[1:] >= largest[0] - 1e-9).sum())) / len(largest)
    return row(
        TECHNIQUE,
        f"{kind} tuples",
        stage,
        None,
        axis=axis,
        contrast=f"{pair[0]} and {pair[1]}",
        bound=ESTIMATE,
        value=excess,
        low=excess + float(low),
        high=excess + float(high),
        p=p,
        n=int((flags >= 0).sum()),
        unit="total variation above chance",
        note=f"total variation {observed:.3f}, {null.mean():.3f} by chance; p of the largest difference by permutation;"
        f" {axis} assigned by {stages.assigned_by(axis)}; technique of this project",
    )


def _change_row(
    now: Counts,
    then: Counts,
    flags: np.ndarray,
    other: str,
    kind: str,
    axis: str,
    pair: tuple[str, str],
    options: Options,
) -> dict[str, Any]:
    dealt = deals(flags, options.permutations, options.seed)
    here, there = distance(now, *dealt), distance(then, *dealt)
    change = float((here[0] - here[1:].mean()) - (there[0] - there[1:].mean()))
    weights = resampled(flags, options.bootstraps, options.seed)
    again = distance(now, *weights) - distance(then, *weights)
    error = float(again.std(ddof=1))
    half = stats.norm.ppf(0.975) * error
    p = float(2 * stats.norm.sf(abs(change) / error)) if error > 0 else 1.0
    return row(
        ACROSS,
        f"{kind} tuples against {other}",
        SYSTEM_CAPTIONS,
        other,
        axis=axis,
        contrast=f"{pair[0]} and {pair[1]}",
        bound=ESTIMATE,
        value=change,
        low=change - half,
        high=change + half,
        p=p,
        n=int((flags >= 0).sum()),
        unit="change of the total variation above chance",
        note="above zero: the system widens the difference; interval by bootstrap over images;"
        " technique of this project",
    )


def _same_images(first: Counts, second: Counts) -> tuple[Counts, Counts]:
    both = sorted(set(first.images) & set(second.images))
    return _only(first, both), _only(second, both)


def _only(counts: Counts, images: list[str]) -> Counts:
    line = {image: i for i, image in enumerate(counts.images)}
    return Counts(images, counts.tuples, counts.matrix[[line[image] for image in images]])


TECHNIQUE = Technique(
    "stereotyping",
    "differing tuples",
    "captions or labels, and annotated people",
    "without annotated people there are no groups to compare",
    measure,
    "object tuples",
)
ACROSS = Technique(
    "stereotyping",
    "differing tuples across stages",
    "system captions, another stage, and annotated people",
    "with one stage only nothing tells whether the system widened a difference",
    measure_across,
    "object tuples",
)
