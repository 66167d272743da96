"""Group terms that looks predict, by a technique of ours.

Among images of one person of a group, the test is the largest standardised difference of a feature of appearance between
captions with and without the group's term. Its value is the area under the curve of predicting the term, out of fold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.captions.measures.stereotyping_tuples import largest_difference
from portrayal.audits.captions.measures.technique import Outcome, Row, assigned, technique, unanswered, whole
from portrayal.audits.captions.reading.appearance import alone, appearance
from portrayal.audits.captions.reading.people import NAMED_BY, identity_terms, people_mentioned
from portrayal.audits.captions.reading.stages import SYSTEM_CAPTIONS, Options, Stages
from portrayal.engine import engine_map
from portrayal.stats.intervals.intervals import Auc, Fold, auc_interval, auc_over_folds
from portrayal.stats.models.logistic import fit
from portrayal.stats.tests.max_t import max_t_floor, max_t_p

LOOKS = "looks predict the group term"
TEST = "looks_predict_group_term"
FOLDS = 5
PERMUTATIONS = 199  # of the terms over the images, which give what learning adds to the interval
FEWER = 19  # enough where nothing is to be seen:
CLEARLY_NOTHING = 0.2  # a p above this
PERMUTED_AT_ONCE = 10  # at the least, and as many as have this many outcomes together:
OUTCOMES_AT_ONCE = 400_000
CLOSE = 1e-3  # a gradient at which the order of the scores is settled
LEAST = 10  # images with the term, and without it, that a group needs


def measure(stages: Stages, options: Options) -> Outcome:
    """Return for each annotated group the area under the curve of its term by looks."""
    truth = stages.truth()
    if truth is None or not stages.has(SYSTEM_CAPTIONS) or truth == SYSTEM_CAPTIONS:
        return Outcome()
    terms = identity_terms(stages, SYSTEM_CAPTIONS, options)
    candidates = set(people_mentioned(stages, SYSTEM_CAPTIONS)["image"]) & alone(stages, truth)
    rows: list[Row] = []
    tables: list[pl.DataFrame] = []
    for axis, group in [(a, g) for a in stages.axes() for g in sorted(stages.members(a))]:
        images = sorted(image for image in stages.members(axis)[group] if image in candidates)
        named = terms.filter(pl.col("axis") == NAMED_BY.get(axis, axis))
        own = named.filter(pl.col("group") == group)  # a group without terms of its own has any of the axis
        with_term = set((named if own.is_empty() else own)["image"])
        outcome = np.array([image in with_term for image in images], dtype=bool)
        if min(outcome.sum(), (~outcome).sum()) < LEAST:
            continue
        matrix, names = appearance(stages, truth, images, options)
        if names:
            about = {"axis": axis, "group": group, "n_missing": unanswered(stages, axis, [group])}
            about["note"] = assigned(stages, axis)
            rows.append(_looks_row(matrix, names, outcome, truth, options, about))
            tables.append(pl.DataFrame({"axis": axis, "group": group, **_strongest(matrix, names, outcome)}))
    return Outcome(rows, tables={"looks": tables})


def stratified_folds(outcome: np.ndarray, seed: int) -> np.ndarray:
    """Return the fold of each image; folds hold both outcomes alike."""
    rng = np.random.default_rng(seed)
    fold = np.zeros(len(outcome), dtype=int)
    for value in (True, False):
        inside = np.flatnonzero(outcome == value)
        fold[rng.permutation(inside)] = np.arange(len(inside)) % FOLDS
    return fold


def _looks_row(
    matrix: np.ndarray, names: Sequence[str], outcome: np.ndarray, truth: str, options: Options, about: Row
) -> Row:
    from scipy import sparse

    columns, flags = sparse.csr_matrix(matrix), outcome.astype(int)
    p = max_t_p([columns], flags, options.permutations, options.seed)[0]
    gap, place = largest_difference(columns, flags)
    area = auc_over_folds(out_of_fold(matrix, [outcome], options.seed)[0])
    permutations = PERMUTATIONS if p < CLEARLY_NOTHING else FEWER
    interval = auc_interval(area, _learning(matrix, outcome, options.seed, permutations))
    floor = max_t_floor(flags, options.permutations)
    direction = "more" if gap.value > 0 else "less"
    note = (
        f"{len(names)} features of appearance, the surest with {direction} of the term; p by permuting terms; images of one"
        f" person; {about['note']}; technique of this project"
    )
    own = {**about, "subject": names[place], "unit": "area under the curve", "note": note}
    tested = replace(interval, p=p, p_floor=floor, n=len(outcome), null=0.5)
    return TECHNIQUE.row(LOOKS, SYSTEM_CAPTIONS, truth, tested, TEST, **own)


def out_of_fold(matrix: np.ndarray, outcomes: Sequence[np.ndarray], seed: int) -> list[list[Fold]]:
    """Return the out-of-fold scores for each set of outcomes, fitted together."""
    folds = [stratified_folds(outcome, seed) for outcome in outcomes]
    weights = np.column_stack([fold != number for fold in folds for number in range(FOLDS)])
    margins = fit(matrix, np.repeat(np.column_stack(outcomes), FOLDS, axis=1), weights, tolerance=CLOSE).margins
    return [
        [(margins[fold == number, FOLDS * place + number], outcome[fold == number]) for number in range(FOLDS)]
        for place, (outcome, fold) in enumerate(zip(outcomes, folds, strict=True))
    ]


def _learning(matrix: np.ndarray, outcome: np.ndarray, seed: int, permutations: int) -> float:
    """Return the variance that learning adds to an area, from permuted terms."""
    rng = np.random.default_rng([seed, 1])
    permuted = [rng.permutation(outcome) for _ in range(permutations)]
    # Few at a time, so that memory stays bounded; ten are quickest.
    size = PERMUTED_AT_ONCE if len(outcome) <= 1000 else max(PERMUTED_AT_ONCE, OUTCOMES_AT_ONCE // len(outcome))
    batches = [permuted[first : first + size] for first in range(0, len(permuted), size)]
    learned = engine_map(partial(_learner, matrix, seed), batches, "permutation of term", keeps=(Auc,))
    areas = [area for some in learned for area in some]
    known = float(np.mean([area.variance for area in areas]))
    return max(float(np.var([area.value for area in areas], ddof=1)) - known, 0.0)


def _learner(matrix: np.ndarray, seed: int) -> Callable[[Sequence[np.ndarray]], list[Auc]]:
    """Return a function that learns permuted outcomes and returns their areas."""
    return lambda batch: [auc_over_folds(folds) for folds in out_of_fold(matrix, batch, seed)]


def _strongest(matrix: np.ndarray, names: list[str], outcome: np.ndarray, most: int = 15) -> dict[str, Any]:
    weights = fit(matrix, outcome, np.ones((len(outcome), 1))).coefficients[:, 0]
    order = np.argsort(-np.abs(weights), kind="stable")[:most]
    images = matrix[:, order].sum(0).astype(int)
    return {"look": [names[i] for i in order], "log odds": weights[order], "images": images}


TECHNIQUE = technique("reifying: looks predict the group term", whole(measure))
