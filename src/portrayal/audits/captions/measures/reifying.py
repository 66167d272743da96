"""Reifying social groups: whether what is visible decides the group term, and whose group is named at all.

Both techniques are ours; the paper gives only the definition (section 3.2).

Looks: among images of people annotated with the same group, a model predicts from the other things the ground truth
has (clothes, objects, attributes) whether the caption uses the group's term. The area under the curve, out of fold,
is one half when looks say nothing. It fails where looks stand for something else that decides, such as size.

Markedness: among captions that mention a person, how often the caption names the group on an axis; a difference
between groups shows who is marked and who is the default.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from portrayal.audits.captions.measures.options import Options
from portrayal.audits.captions.measures.outcome import (
    Outcome,
    Technique,
    by_group,
    cases_table,
    difference_tests,
    row,
    unanswered,
)
from portrayal.audits.captions.measures.people import is_person, people_mentioned, shares
from portrayal.audits.captions.measures.self_identification import identity_terms
from portrayal.audits.captions.measures.stages import HUMAN_CAPTIONS, SYSTEM_CAPTIONS, Stages
from portrayal.stats.auc import Fold, auc_interval, auc_over_folds
from portrayal.stats.logistic import fit

LOOKS = "looks predict the group term"
LOOKS_TEST, NAMED_TEST = "looks_predict_group_term", "group_named_difference"
FOLDS = 5
PERMUTATIONS = 199  # of the terms over the images, which give the p
FEWER = 19  # enough to see that there is nothing to see:
CLEARLY_NOTHING = 0.2  # a p above this is not made more exact
PERMUTED_AT_ONCE = 10  # at the least, and as many as have this many outcomes together:
OUTCOMES_AT_ONCE = 400_000
CLOSE = 1e-3  # a gradient at which the order of the scores is settled
LEAST = 10  # images with the term, and without it, that a group needs
WITH_PERSON = "captions that mention a person"
_ALL = {name: pl.col(name) for name in ("look", "log odds", "images")}
# The axis of identity terms that an annotated axis is named by.
NAMED_BY = {"skin": "race", "race": "race", "ethnicity": "race", "gender": "gender", "age": "age"}


def measure_looks(stages: Stages, options: Options) -> Outcome:
    """Return for each annotated group how well looks predict its term: one half where they say nothing."""
    truth = stages.truth()
    if truth is None or not stages.has(SYSTEM_CAPTIONS) or truth == SYSTEM_CAPTIONS:
        return Outcome(missing=PREDICTED.missing)
    terms = identity_terms(stages, SYSTEM_CAPTIONS, options)
    shown = set(people_mentioned(stages, SYSTEM_CAPTIONS)["image"]) & stages.covered(truth)
    rows: list[dict[str, Any]] = []
    tables: list[pl.DataFrame] = []
    for axis in stages.axes():
        groups = stages.groups(axis)
        for group in sorted(set(groups.values()) & set(terms["group"])):
            images = sorted(i for i, g in groups.items() if g == group and i in shown)
            with_term = set(terms.filter(pl.col("group") == group)["image"])
            outcome = np.array([image in with_term for image in images], dtype=bool)
            if min(outcome.sum(), (~outcome).sum()) < LEAST:
                continue
            matrix, names = looks(stages, truth, images, options.least_images)
            if not names:
                continue
            rows.append(_looks_row(matrix, outcome, stages, truth, axis, group, options.seed))
            place = {"axis": pl.lit(axis), "group": pl.lit(group)}
            tables.append(_strongest(matrix, names, outcome).select(**place, **_ALL))
    return Outcome(rows, tables={"looks": tables}, missing="" if rows else PREDICTED.missing)


def looks(stages: Stages, truth: str, images: list[str], least: int) -> tuple[np.ndarray, list[str]]:
    """Return images x visual characteristics: the things and attributes the truth has, people left out."""
    said = stages.at(truth).filter(pl.col("image").is_in(images) & (pl.col("kind") != "relation"))
    distinct = said.select("kind", "word", "synset").unique()
    people = [w for kind, w, s in distinct.iter_rows() if kind == "object" and is_person(w, s)]
    said = said.filter(~((pl.col("kind") == "object") & pl.col("word").is_in(people)))
    pairs = said.select("image", pl.format("{}: {}", "kind", "word").alias("look")).unique()
    common = pairs.group_by("look").len().filter(pl.col("len") >= least)["look"]
    names = sorted(common)
    column = {name: i for i, name in enumerate(names)}
    line = {image: i for i, image in enumerate(images)}
    matrix = np.zeros((len(images), len(names)))
    for image, look in pairs.filter(pl.col("look").is_in(names)).iter_rows():
        matrix[line[image], column[look]] = 1.0
    return matrix, names


def stratified_folds(outcome: np.ndarray, seed: int) -> np.ndarray:
    """Return the fold of each image; folds hold both outcomes alike."""
    rng = np.random.default_rng(seed)
    fold = np.zeros(len(outcome), dtype=int)
    for value in (True, False):
        inside = np.flatnonzero(outcome == value)
        fold[rng.permutation(inside)] = np.arange(len(inside)) % FOLDS
    return fold


def _looks_row(
    matrix: np.ndarray, outcome: np.ndarray, stages: Stages, truth: str, axis: str, group: str, seed: int
) -> dict[str, Any]:
    area = auc_over_folds(out_of_fold(matrix, [outcome], seed)[0])
    chance = _chance(matrix, outcome, seed, FEWER)
    if _p(area.value, chance) < CLEARLY_NOTHING:
        chance = _chance(matrix, outcome, seed, PERMUTATIONS)
    found = auc_interval(area, chance.learning)
    return row(
        PREDICTED,
        LOOKS,
        SYSTEM_CAPTIONS,
        truth,
        replace(found, p=_p(area.value, chance), n=len(outcome), null=0.5),
        LOOKS_TEST,
        axis=axis,
        group=group,
        n_missing=unanswered(stages, axis, [group]),
        unit="area under the curve",
        note=f"{matrix.shape[1]} characteristics; one-sided p by permuting terms; {axis} assigned by {stages.assigned_by(axis)};"
        " technique of this project",
    )


def _p(area: float, chance: Chance) -> float:
    """One-sided; t, because centre and spread are themselves known from some permutations only.

    Permuted areas lean to the left, which would make a symmetric p too cautious: the first term of Cornish and Fisher's
    expansion takes that out. It was made for moderate values and is held beyond three spreads.
    """
    from scipy import stats

    z = (area - chance.centre) / (chance.spread * np.sqrt(1 + 1 / chance.permutations))
    z -= chance.skewness / 6 * (min(z**2, 9.0) - 1)
    return float(stats.t.sf(z, chance.permutations - 1))


def out_of_fold(matrix: np.ndarray, outcomes: Sequence[np.ndarray], seed: int) -> list[list[Fold]]:
    """Return, for each set of outcomes, every fold's scores by the model of the others, with its outcomes.

    The models of all outcomes and folds are fitted together.
    """
    folds = [stratified_folds(outcome, seed) for outcome in outcomes]
    weights = np.column_stack([fold != number for fold in folds for number in range(FOLDS)])
    margins = fit(
        matrix, np.repeat(np.column_stack(outcomes), FOLDS, axis=1), weights, tolerance=CLOSE
    ).margins
    return [
        [
            (margins[fold == number, FOLDS * place + number], outcome[fold == number])
            for number in range(FOLDS)
        ]
        for place, (outcome, fold) in enumerate(zip(outcomes, folds, strict=True))
    ]


class Chance(NamedTuple):
    """The area when terms are permuted over the images, and what learning adds to its variance there."""

    centre: float
    spread: float
    skewness: float
    learning: float
    permutations: int = PERMUTATIONS


def _chance(matrix: np.ndarray, outcome: np.ndarray, seed: int, permutations: int) -> Chance:
    """Permute the terms, learn them again and again. Folds share most of their training images, so errors hang together."""
    from scipy import stats

    rng = np.random.default_rng([seed, 1])
    permuted = [rng.permutation(outcome) for _ in range(permutations)]
    areas = [
        auc_over_folds(folds) for batch in _batches(permuted) for folds in out_of_fold(matrix, batch, seed)
    ]
    values = np.array([area.value for area in areas])
    given = float(np.mean([area.variance for area in areas]))
    variance = float(values.var(ddof=1))
    skewness, learning = float(stats.skew(values)), max(variance - given, 0.0)
    return Chance(float(values.mean()), float(np.sqrt(variance)), skewness, learning, permutations)


def _batches(permuted: Sequence[np.ndarray]) -> Iterator[Sequence[np.ndarray]]:
    """Yield permutations to be learned together: few, so that memory stays bounded, but the matrix is taken apart each time.

    With few images that costs nothing, and ten are quickest.
    """
    images = len(permuted[0])
    size = PERMUTED_AT_ONCE if images <= 1000 else max(PERMUTED_AT_ONCE, OUTCOMES_AT_ONCE // images)
    for first in range(0, len(permuted), size):
        yield permuted[first : first + size]


def _strongest(matrix: np.ndarray, names: list[str], outcome: np.ndarray, most: int = 15) -> pl.DataFrame:
    weights = fit(matrix, outcome, np.ones((len(outcome), 1))).coefficients[:, 0]
    order = np.argsort(-np.abs(weights), kind="stable")[:most]
    return pl.DataFrame(
        {
            "look": [names[i] for i in order],
            "log odds": weights[order],
            "images": matrix[:, order].sum(0).astype(int),
        }
    )


def measure_markedness(stages: Stages, options: Options) -> Outcome:
    """Return how often each annotated group is named in captions that mention a person, with differences."""
    rows, cases = [], []
    nameable = set(options.word_list("identity")["axis"])
    for axis in stages.axes():
        named = NAMED_BY.get(axis, axis)
        if named not in nameable:
            continue
        by_stage = {}
        for stage in filter(stages.has, (HUMAN_CAPTIONS, SYSTEM_CAPTIONS)):
            hits = _naming(stages, stage, named, options)
            shown = set(people_mentioned(stages, stage)["image"])
            by_stage[stage] = {i: v for i, v in shares(stages, stage, hits).items() if i in shown}
            rows += by_group(
                MARKED, f"{named} named", stages, stage, None, by_stage[stage], WITH_PERSON,
                note="technique of this project", overall=False, axes=[axis],
            )  # fmt: skip
            cases += [
                MARKED.case(f"{named} named", stage, image, number, f"{named} is named", term, group)
                for image, number, term, group in hits.select("image", "caption", "term", "group").iter_rows()
            ]
        rows += difference_tests(
            MARKED, NAMED_TEST, f"{named} named", stages, None, by_stage, options.permutations, options.seed,
            axes=[axis], subject=named, share_of=WITH_PERSON,
        )  # fmt: skip
    return Outcome(rows, cases_table(cases), missing="" if rows else MARKED.missing)


def _naming(stages: Stages, stage: str, named: str, options: Options) -> pl.DataFrame:
    """Return the terms of an axis; nouns of gender are the default way to speak of people, and adjectives mark."""
    hits = identity_terms(stages, stage, options).filter(pl.col("axis") == named)
    return hits.filter(pl.col("term").is_in(_adjectives(options))) if named == "gender" else hits


def _adjectives(options: Options) -> list[str]:
    return options.word_list("identity").filter(pl.col("part") == "a")["term"].to_list()


PREDICTED = Technique(
    "reifying",
    "looks predict the group term",
    "a ground truth, system captions, and annotated people",
    "without a ground truth nothing tells what is visible; and a group whose term is nearly always or never used has nothing"
    " to predict",
    measure_looks,
)
MARKED = Technique(
    "reifying",
    "markedness",
    "captions, and annotated people",
    "without annotated people nothing tells whose group is named",
    measure_markedness,
)
