"""Objects correctly mentioned, controlled for size and place (Wang et al. 2022, section 4.1.2).

A logistic regression (L2, C = 1) over many 70/30 splits. Splits share most images, so their spread (the paper's interval) is
too narrow; a bootstrap over images stands beside it. The p is that of a score test, which holds for rare outcomes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.captions.measures.technique import Outcome, Row, assigned, pairs, technique, unanswered, whole
from portrayal.audits.captions.reading.people import is_person
from portrayal.audits.captions.reading.scenarios import ancestors
from portrayal.audits.captions.reading.stages import CAPTIONED, HUMAN_LABELS, SYSTEM_LABELS, Options, Stages, once
from portrayal.engine import engine_map
from portrayal.stats.decisions.decision import NOT_TESTED
from portrayal.stats.estimate import Estimate
from portrayal.stats.models.logistic import effective_parameters, fit, group_score_p
from portrayal.text.formatting import number

QUANTITY = "objects whose mention depends on the group"
TEST = "object_mention_difference"
LARGEST = "object whose mention depends most on the group"
COEFFICIENT = "coefficient of the group"
BOTH_OUTCOMES = 2  # images of each outcome an object needs before it is tried at all
ENOUGH = 10  # images of the rarer outcome below which a bootstrap over images says little of the error


@dataclass(frozen=True)
class Effect:
    """One object type: the group's coefficient with both intervals, and the accuracy of the models."""

    synset: str
    images: int
    coefficient: float
    splits: Estimate  # the paper's
    bootstrap: Estimate  # over images
    p: float
    accuracy: float


def measure(stages: Stages, options: Options) -> Outcome:
    """Return for each axis the object types with an effect, ranked by accuracy."""
    truth = _truth(stages)
    if not stages.has(truth) or stages.boxes_of(truth).is_empty():
        return Outcome()
    rows: list[Row] = []
    tables: list[pl.DataFrame] = []
    for stage in filter(stages.has, CAPTIONED):
        for place, effects in _effects(stages, stage, options).items():
            if effects:
                rows += _rows(effects, stages, stage, *place)
                tables.append(_table(effects, stage, *place))
    return Outcome(rows, tables={"objects": tables})


def _truth(stages: Stages) -> str:
    """Return the labels that say what is depicted: people's, unless the study chose the system's."""
    return SYSTEM_LABELS if stages.truth() == SYSTEM_LABELS else HUMAN_LABELS


@once
def _effects(stages: Stages, stage: str, options: Options) -> dict[tuple[str, str, str], list[Effect]]:
    """Return the effects for each axis and pair of its groups."""
    return {key: effects_of(stages, stage, key[0], key[1:], options) for key in pairs(stages)}


def effects_of(stages: Stages, stage: str, axis: str, pair: tuple[str, str], options: Options) -> list[Effect]:
    """Return the effect of the first group against the second for each object type."""
    types = common_types(stages, stage, options.object_types)
    covered = stages.covered(stage)
    groups = {i: g for i, g in stages.groups(axis).items() if g in pair and i in covered}
    design, images = features(stages.boxes_of(_truth(stages)), types, sorted(groups))
    group = np.array([groups[image] == pair[0] for image in images], dtype=float)
    mentions = mentioned(stages, stage, types)
    jobs = [(at, synset, [synset in mentions.get(image, ()) for image in images]) for at, synset in enumerate(types)]
    fitter = partial(_fitter, design, group, options)
    effects = engine_map(fitter, jobs, "object type", keeps=(Effect, Estimate))
    return sorted(filter(None, effects), key=lambda effect: -effect.accuracy)


def _fitter(
    design: np.ndarray, group: np.ndarray, options: Options
) -> Callable[[tuple[int, str, list[bool]]], Effect | None]:
    """Return a function that fits one object type, given its place, name and mentions."""

    def fitted(job: tuple[int, str, list[bool]]) -> Effect | None:
        place, synset, mentions = job
        present = np.flatnonzero(design[:, place] > 0)
        matrix = np.column_stack([design[present], group[present]])
        return one_effect(synset, matrix, np.array(mentions, dtype=bool)[present], options)

    return fitted


def common_types(stages: Stages, stage: str, most: int) -> list[str]:
    """Return the object types most common over the labels and this stage, people left out."""
    objects = pl.concat([stages.at(_truth(stages), "object"), stages.at(stage, "object")])
    counts = objects.group_by("synset").agg(pl.struct("image", "stage").n_unique().alias("count"))
    ordered = counts.drop_nulls().sort(["count", "synset"], descending=[True, False])["synset"]
    return [synset for synset in ordered if not is_person("-", synset)][:most]


def features(boxes: pl.DataFrame, types: Sequence[str], images: Sequence[str]) -> tuple[np.ndarray, list[str]]:
    """Return images x (sizes, then places) of the largest instance of each type."""
    lines = pl.DataFrame({"image": images}, schema={"image": pl.String}).with_row_index("line")
    columns = pl.DataFrame({"synset": types}, schema={"synset": pl.String}).with_row_index("column")
    largest = boxes.join(lines, on="image").join(columns, on="synset")
    largest = largest.with_columns(size=pl.col("width") * pl.col("height")).sort("size", descending=True)
    largest = largest.unique(["line", "column"], keep="first", maintain_order=True)
    line, column = largest["line"].to_numpy(), largest["column"].to_numpy()
    left, top, width, height = (largest[name].to_numpy() for name in ("left", "top", "width", "height"))
    design = np.zeros((len(images), 2 * len(types)))
    design[line, column] = largest["size"].to_numpy()
    design[line, column + len(types)] = np.hypot(left + width / 2 - 0.5, top + height / 2 - 0.5)
    return design, list(images)


def mentioned(stages: Stages, stage: str, types: Sequence[str]) -> dict[str, set[str]]:
    """Return image -> the types its captions mention, by themselves or a word under them."""
    wanted = set(types)
    mentions: dict[str, set[str]] = {}
    for image, synset in stages.at(stage, "object").select("image", "synset").unique().iter_rows():
        if synset is not None:
            mentions.setdefault(image, set()).update(({synset} | ancestors(synset)) & wanted)
    return mentions


def one_effect(synset: str, matrix: np.ndarray, outcome: np.ndarray, options: Options) -> Effect | None:
    """Fit one object type over splits and bootstraps, if enough splits hold both outcomes."""
    if min(outcome.sum(), (~outcome).sum()) < BOTH_OUTCOMES or len(set(matrix[:, -1])) < 2:
        return None
    rng = np.random.default_rng(options.seed)
    train = splits(len(outcome), options.splits, options.train_share, rng)
    both = (train[outcome].any(0)) & (train[~outcome].any(0))
    if both.mean() <= options.needed_splits:
        return None
    train = train[:, both]
    weights = rng.multinomial(len(outcome), np.full(len(outcome), 1 / len(outcome)), options.bootstraps).T
    usable = (weights[outcome].sum(0) > 0) & (weights[~outcome].sum(0) > 0)
    # All images, the splits and the bootstraps differ in their weights only and are fitted together.
    fits = fit(matrix, outcome, np.hstack([np.ones((len(outcome), 1)), train, weights[:, usable]]))
    last = 1 + train.shape[1]
    whole, over_splits, again = np.split(fits.coefficients[-1], [1, last])
    right = (fits.margins[:, 1:last] > 0) == outcome[:, None]
    accuracy = float((right & ~train).sum() / max((~train).sum(), 1))
    spread = Estimate(float(over_splits.mean()), *np.quantile(over_splits, [0.025, 0.975]))
    enough = min(outcome.sum(), (~outcome).sum()) >= ENOUGH
    free = len(outcome) - effective_parameters(matrix, fits.margins[:, 0])
    interval = _bootstrap(float(whole[0]), again if enough else again[:0], len(outcome), free)
    p = group_score_p(matrix[:, :-1], matrix[:, -1], outcome)
    return Effect(synset, len(outcome), interval.value, spread, interval, p, accuracy)


def splits(rows: int, number: int, share: float, rng: np.random.Generator) -> np.ndarray:
    """Return rows x splits: true where a row is in the training set."""
    order = rng.random((rows, number)).argsort(axis=0)
    return order < round(share * rows)


def _bootstrap(value: float, again: np.ndarray, images: int, free: float) -> Estimate:
    """Return the t interval by the bootstrap's error, widened by the parameters used up."""
    from scipy import stats

    if len(again) < 2 or free < 1:
        return Estimate(value)
    half = float(stats.t.ppf(0.975, free) * np.std(again, ddof=1) * np.sqrt(images / free))
    return Estimate(value, value - half, value + half)


def _rows(effects: list[Effect], stages: Stages, stage: str, axis: str, first: str, second: str) -> list[Row]:
    about: dict[str, Any] = {"axis": axis, "group": first, "versus": second}
    about["n_missing"] = unanswered(stages, axis, (first, second))
    truth, by = _truth(stages), assigned(stages, axis)
    # The paper's headline; described only, because it is too narrow.
    by_splits = sum(effect.splits.low > 0 or effect.splits.high < 0 for effect in effects)
    note = f"by the spread over splits (the paper's, too narrow: more than 5% by chance); {by}"
    number_of = Estimate(float(by_splits), n=len(effects), unit="object types")
    rows = [TECHNIQUE.row(QUANTITY, stage, truth, number_of, note=note, counted="object types", **about)]
    rows.append(_largest_row(effects, stage, truth, about))
    for effect in effects:
        odds = replace(effect.bootstrap, p=effect.p, n=effect.images, unit="log odds")
        narrow = np.isnan(effect.bootstrap.low)
        ends = f"no interval under {ENOUGH} images of an outcome" if narrow else "interval by bootstrap over images"
        note = (
            f"{ends}; over splits {number(effect.splits.low)} to {number(effect.splits.high)}"
            f" (the paper's, too narrow); p by a score test; test accuracy {number(effect.accuracy)}; {by}"
        )
        rows.append(TECHNIQUE.row(COEFFICIENT, stage, truth, odds, note=note, subject=_noun(effect.synset), **about))
    return rows


def _noun(synset: str) -> str:
    """Return the noun a synset is named by: dog of dog.n.01."""
    return synset.rsplit(".", 2)[0].replace("_", " ")


def _largest_row(effects: list[Effect], stage: str, truth: str, about: dict[str, Any]) -> Row:
    """Return the test of all object types together (Bonferroni), named by the smallest p."""
    from scipy import stats

    tested = [effect for effect in effects if not np.isnan(effect.p) and not np.isnan(effect.bootstrap.low)]
    about = {**about, "unit": "log odds", "note": f"the largest of {len(tested)} object types; penalised"}
    if not tested:
        reason = f"no object is both mentioned and left out in {ENOUGH} images or more"
        nothing = Estimate(n=max(effect.images for effect in effects), decision=NOT_TESTED, reason=reason)
        return TECHNIQUE.row(LARGEST, stage, truth, nothing, TEST, **about)
    least = min(tested, key=lambda effect: (effect.p, effect.synset))
    wider = float(stats.norm.isf(0.025 / len(tested)) / stats.norm.isf(0.025))
    middle, half = least.coefficient, (least.bootstrap.high - least.bootstrap.low) / 2 * wider
    estimate = Estimate(middle, middle - half, middle + half, min(least.p * len(tested), 1.0), least.images)
    return TECHNIQUE.row(LARGEST, stage, truth, estimate, TEST, subject=_noun(least.synset), **about)


def _table(effects: list[Effect], stage: str, axis: str, first: str, second: str) -> pl.DataFrame:
    rows = [
        {
            **{"stage": stage, "axis": axis, "group": first, "versus": second},
            **{"object": effect.synset, "images": effect.images, "coefficient": effect.coefficient},
            **{"low (bootstrap)": effect.bootstrap.low, "high (bootstrap)": effect.bootstrap.high},
            **{"low (splits)": effect.splits.low, "high (splits)": effect.splits.high},
            **{"p": effect.p, "test accuracy": effect.accuracy},
        }
        for effect in effects
    ]
    return pl.DataFrame(rows).fill_nan(None)


TECHNIQUE = technique("stereotyping: objects correctly mentioned", whole(measure))
