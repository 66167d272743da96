"""Reifying social groups: whether looks decide the group term, and whose group is named at all.

Both techniques are ours; the paper gives only the definition (section 3.2).

Looks: among images that show one person, annotated with the same group, does how the person looks (`appearance`: clothes, hair,
build, and nothing else of the picture) go with the caption using the group's term? Tested is the largest standardised
difference of any feature between captions with and without the term, terms permuted over images; the row names the feature.
Its value is the area under the curve, out of fold, of predicting the term from all of them: one half when looks say nothing.
Where a group has no terms of its own (skin tones), its term is any of the axis that names it (race).

Markedness: among captions that mention a person, how often the caption names the group on an axis; a difference
between groups shows who is marked and who is the default.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.captions.measures.appearance import alone, appearance
from portrayal.audits.captions.measures.distributions import largest_difference
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
from portrayal.audits.captions.measures.people import people_mentioned, shares
from portrayal.audits.captions.measures.self_identification import NAMED_BY, identity_terms
from portrayal.audits.captions.measures.stages import HUMAN_CAPTIONS, SYSTEM_CAPTIONS, Stages
from portrayal.engine import engine_map
from portrayal.stats.intervals.auc import Auc, Fold, auc_interval, auc_over_folds
from portrayal.stats.models.logistic import fit
from portrayal.stats.tests.max_t import max_t_floor, max_t_p

LOOKS = "looks predict the group term"
LOOKS_TEST, NAMED_TEST = "looks_predict_group_term", "group_named_difference"
FOLDS = 5
PERMUTATIONS = 199  # of the terms over the images, which give what learning adds to the interval
FEWER = 19  # enough where nothing is to be seen:
CLEARLY_NOTHING = 0.2  # a p above this
PERMUTED_AT_ONCE = 10  # at the least, and as many as have this many outcomes together:
OUTCOMES_AT_ONCE = 400_000
CLOSE = 1e-3  # a gradient at which the order of the scores is settled
LEAST = 10  # images with the term, and without it, that a group needs
WITH_PERSON = "captions that mention a person"
_ALL = {name: pl.col(name) for name in ("look", "log odds", "images")}


def measure_looks(stages: Stages, options: Options) -> Outcome:
    """Return for each annotated group how well looks predict its term: one half where they say nothing."""
    truth = stages.truth()
    if truth is None or not stages.has(SYSTEM_CAPTIONS) or truth == SYSTEM_CAPTIONS:
        return Outcome(missing=PREDICTED.missing)
    terms = identity_terms(stages, SYSTEM_CAPTIONS, options)
    shown = set(people_mentioned(stages, SYSTEM_CAPTIONS)["image"]) & alone(stages, truth)
    rows: list[dict[str, Any]] = []
    tables: list[pl.DataFrame] = []
    for axis in stages.axes():
        groups = stages.groups(axis)
        for group in sorted(set(groups.values())):
            images = sorted(i for i, g in groups.items() if g == group and i in shown)
            with_term = _with_term(terms, axis, group)
            outcome = np.array([image in with_term for image in images], dtype=bool)
            if min(outcome.sum(), (~outcome).sum()) < LEAST:
                continue
            matrix, names = appearance(stages, truth, images, options)
            if not names:
                continue
            rows.append(_looks_row(matrix, names, outcome, stages, truth, axis, group, options))
            place = {"axis": pl.lit(axis), "group": pl.lit(group)}
            tables.append(_strongest(matrix, names, outcome).select(**place, **_ALL))
    return Outcome(rows, tables={"looks": tables}, missing="" if rows else PREDICTED.missing)


def _with_term(terms: pl.DataFrame, axis: str, group: str) -> set[str]:
    """Return the images whose captions use a term of the group, or of its axis where the group has none."""
    named = terms.filter(pl.col("axis") == NAMED_BY.get(axis, axis))
    own = named.filter(pl.col("group") == group)
    return set((named if own.is_empty() else own)["image"])


def stratified_folds(outcome: np.ndarray, seed: int) -> np.ndarray:
    """Return the fold of each image; folds hold both outcomes alike."""
    rng = np.random.default_rng(seed)
    fold = np.zeros(len(outcome), dtype=int)
    for value in (True, False):
        inside = np.flatnonzero(outcome == value)
        fold[rng.permutation(inside)] = np.arange(len(inside)) % FOLDS
    return fold


def _looks_row(
    matrix: np.ndarray, names: Sequence[str], outcome: np.ndarray, stages: Stages, truth: str, axis: str, group: str,
    options: Options,
) -> dict[str, Any]:  # fmt: skip
    from scipy import sparse

    columns, flags = sparse.csr_matrix(matrix), outcome.astype(int)
    p = max_t_p([columns], flags, options.permutations, options.seed)[0]
    gap, place = largest_difference(columns, flags)
    area = auc_over_folds(out_of_fold(matrix, [outcome], options.seed)[0])
    permutations = PERMUTATIONS if p < CLEARLY_NOTHING else FEWER
    found = auc_interval(area, _learning(matrix, outcome, options.seed, permutations))
    floor = max_t_floor(flags, options.permutations)
    direction = "more" if gap.value > 0 else "less"
    return row(
        PREDICTED,
        LOOKS,
        SYSTEM_CAPTIONS,
        truth,
        replace(found, p=p, p_floor=floor, n=len(outcome), null=0.5),
        LOOKS_TEST,
        axis=axis,
        group=group,
        subject=names[place],
        n_missing=unanswered(stages, axis, [group]),
        unit="area under the curve",
        note=f"{len(names)} features of appearance, the surest with {direction} of the term; p by permuting terms; images of one person;"
        f" {axis} assigned by {stages.assigned_by(axis)}; technique of this project",
    )


def out_of_fold(matrix: np.ndarray, outcomes: Sequence[np.ndarray], seed: int) -> list[list[Fold]]:
    """Return, for each set of outcomes, every fold's scores by the model of the others, with its outcomes.

    The models of all outcomes and folds are fitted together.
    """
    folds = [stratified_folds(outcome, seed) for outcome in outcomes]
    weights = np.column_stack([fold != number for fold in folds for number in range(FOLDS)])
    margins = fit(matrix, np.repeat(np.column_stack(outcomes), FOLDS, axis=1), weights, tolerance=CLOSE).margins
    return [
        [(margins[fold == number, FOLDS * place + number], outcome[fold == number]) for number in range(FOLDS)]
        for place, (outcome, fold) in enumerate(zip(outcomes, folds, strict=True))
    ]


def _learning(matrix: np.ndarray, outcome: np.ndarray, seed: int, permutations: int) -> float:
    """Return what learning adds to an area's variance: terms are permuted, and learned again and again.

    Folds share most of their training images, so errors hang together.
    """
    rng = np.random.default_rng([seed, 1])
    permuted = [rng.permutation(outcome) for _ in range(permutations)]
    learner, batches = partial(_learner, matrix, seed), list(_batches(permuted))
    learned = engine_map(learner, batches, "permutation of term", keeps=(Auc,))
    areas = [area for some in learned for area in some]
    given = float(np.mean([area.variance for area in areas]))
    return max(float(np.var([area.value for area in areas], ddof=1)) - given, 0.0)


def _learner(matrix: np.ndarray, seed: int) -> Callable[[Sequence[np.ndarray]], list[Any]]:
    """Return what learns permuted outcomes and returns their areas."""
    return lambda batch: [auc_over_folds(folds) for folds in out_of_fold(matrix, batch, seed)]


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
        {"look": [names[i] for i in order], "log odds": weights[order], "images": matrix[:, order].sum(0).astype(int)}
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
    "without a ground truth nothing tells how people look; and there is nothing to predict where it says nothing of looks, or where"
    " a group's term is nearly always or never used",
    measure_looks,
)
MARKED = Technique(
    "reifying",
    "markedness",
    "captions, and annotated people",
    "without annotated people nothing tells whose group is named",
    measure_markedness,
)
