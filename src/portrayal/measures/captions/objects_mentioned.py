"""Stereotyping (2): objects correctly mentioned, controlled for the size and place of all objects, section 4.1.2 of [1]_.

For each of the most common object types: images that show it and an annotated person; was it mentioned? A logistic
regression (L2, C = 1) on size and place of every type and the group, over many 70/30 splits. Size is the share of the
image under the box and place the distance of its centre from the image's centre, of the largest instance, 0 when
absent. The spread of the group's coefficient over splits is the paper's interval; splits share most of their images,
so it is too narrow, and an interval from a bootstrap over images stands beside it.

References
----------
.. [1] Wang, Barocas, Laird, Wallach (2022), Measuring representational harms in image captioning, FAccT.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
from scipy import stats

from portrayal.measures.captions.options import Options
from portrayal.measures.captions.outcome import Outcome, Technique, row
from portrayal.measures.captions.people import is_person
from portrayal.measures.captions.scenarios import ancestors
from portrayal.measures.captions.stages import HUMAN_CAPTIONS, HUMAN_LABELS, SYSTEM_CAPTIONS, Stages
from portrayal.stats.intervals import Interval
from portrayal.stats.logistic import fit

QUANTITY = "objects whose mention depends on the group"
COEFFICIENT = "coefficient of the group"
BOTH_OUTCOMES = 2  # images of each outcome an object needs before it is tried at all


@dataclass(frozen=True)
class Effect:
    """One object type: the group's coefficient with both intervals, and how well the models predict."""

    synset: str
    images: int
    coefficient: float
    splits: Interval  # the paper's
    bootstrap: Interval  # over images
    p: float
    accuracy: float


def measure(stages: Stages, options: Options) -> Outcome:
    """Return the number of object types with an effect, each effect, ranked by accuracy, for each axis."""
    if not stages.has(HUMAN_LABELS) or stages.boxes.is_empty() or not stages.axes():
        return Outcome(missing=TECHNIQUE.missing)
    rows, tables = [], {}
    for stage in (HUMAN_CAPTIONS, SYSTEM_CAPTIONS):
        if not stages.has(stage):
            continue
        for axis in stages.axes():
            for first, second in combinations(sorted(set(stages.groups(axis).values())), 2):
                effects = effects_of(stages, stage, axis, (first, second), options)
                rows += _rows(effects, stages, stage, axis, first, second)
                tables[f"objects mentioned ({stage}, {first} and {second})"] = _table(effects)
    return Outcome(rows, tables=tables, missing="" if rows else TECHNIQUE.missing)


def effects_of(
    stages: Stages,
    stage: str,
    axis: str,
    pair: tuple[str, str],
    options: Options,
    progress: Callable[[int, int], None] | None = None,
) -> list[Effect]:
    """Return the effect of being in the first group of the pair rather than the second, for each object type."""
    types = common_types(stages, stage, options.object_types)
    groups = {i: g for i, g in stages.groups(axis).items() if g in pair and i in stages.covered(stage)}
    design, images = features(stages.boxes, types, sorted(groups))
    group = np.array([groups[image] == pair[0] for image in images], dtype=float)
    said = mentioned(stages, stage, types)
    found = []
    for number, synset in enumerate(types):
        present = np.flatnonzero(design[:, number] > 0)
        outcome = np.array([synset in said.get(images[i], ()) for i in present], dtype=bool)
        matrix = np.column_stack([design[present], group[present]])
        effect = one_effect(synset, matrix, outcome, options)
        found += [effect] if effect else []
        if progress is not None:
            progress(number + 1, len(types))
    return sorted(found, key=lambda effect: -effect.accuracy)


def common_types(stages: Stages, stage: str, most: int) -> list[str]:
    """Return the object types most common over the human labels and this stage, people left out."""
    said = pl.concat([stages.at(HUMAN_LABELS, "object"), stages.at(stage, "object")])
    counts = said.group_by("synset").agg(pl.struct("image", "stage").n_unique().alias("count"))
    ordered = counts.drop_nulls().sort(["count", "synset"], descending=[True, False])["synset"]
    return [synset for synset in ordered if not is_person("-", synset)][:most]


def features(
    boxes: pl.DataFrame, types: Sequence[str], images: Sequence[str]
) -> tuple[np.ndarray, list[str]]:
    """Return images x (sizes, then places) of the largest instance of each type; 0 where there is none."""
    largest = (
        boxes.with_columns((pl.col("width") * pl.col("height")).alias("size"))
        .sort("size", descending=True)
        .unique(["image", "synset"], keep="first", maintain_order=True)
    )
    column = {synset: number for number, synset in enumerate(types)}
    line = {image: number for number, image in enumerate(images)}
    design = np.zeros((len(images), 2 * len(types)))
    for r in largest.iter_rows(named=True):
        if r["image"] in line and r["synset"] in column:
            i, j = line[r["image"]], column[r["synset"]]
            across, down = r["left"] + r["width"] / 2 - 0.5, r["top"] + r["height"] / 2 - 0.5
            design[i, j], design[i, j + len(types)] = r["size"], np.hypot(across, down)
    return design, list(images)


def mentioned(stages: Stages, stage: str, types: Sequence[str]) -> dict[str, set[str]]:
    """Return image -> the types its captions mention, by the type itself or a word under it."""
    wanted = set(types)
    said: dict[str, set[str]] = {}
    for image, synset in stages.at(stage, "object").select("image", "synset").unique().iter_rows():
        if synset is not None:
            said.setdefault(image, set()).update(({synset} | ancestors(synset)) & wanted)
    return said


def one_effect(synset: str, matrix: np.ndarray, outcome: np.ndarray, options: Options) -> Effect | None:
    """Fit one object type over splits and bootstraps; None where too few splits hold both outcomes."""
    if min(outcome.sum(), (~outcome).sum()) < BOTH_OUTCOMES or len(set(matrix[:, -1])) < 2:
        return None
    rng = np.random.default_rng(options.seed)
    train = splits(len(outcome), options.splits, options.train_share, rng)
    both = (train[outcome].any(0)) & (train[~outcome].any(0))
    if both.mean() <= options.needed_splits:
        return None
    train = train[:, both]
    fits = fit(matrix, outcome, train)
    right = (fits.margins > 0) == outcome[:, None]
    accuracy = float((right & ~train).sum() / max((~train).sum(), 1))
    weights = rng.multinomial(len(outcome), np.full(len(outcome), 1 / len(outcome)), options.bootstraps).T
    usable = (weights[outcome].sum(0) > 0) & (weights[~outcome].sum(0) > 0)
    again = fit(matrix, outcome, weights[:, usable]).coefficients[-1]
    whole = float(fit(matrix, outcome, np.ones((len(outcome), 1))).coefficients[-1, 0])
    spread = Interval(
        float(fits.coefficients[-1].mean()), *np.quantile(fits.coefficients[-1], [0.025, 0.975])
    )
    return Effect(synset, len(outcome), whole, spread, *_bootstrap(whole, again), accuracy)


def splits(rows: int, number: int, share: float, rng: np.random.Generator) -> np.ndarray:
    """Return rows x splits: true where a row is in the training set."""
    order = rng.random((rows, number)).argsort(axis=0)
    return order < round(share * rows)


def _bootstrap(value: float, again: np.ndarray) -> tuple[Interval, float]:
    """A normal interval with the bootstrap's standard error, and its two-sided p."""
    error = float(np.std(again, ddof=1)) if len(again) > 1 else np.nan
    z = stats.norm.ppf(0.975)
    p = float(2 * stats.norm.sf(abs(value) / error)) if error > 0 else np.nan
    return Interval(value, value - z * error, value + z * error), p


def _rows(
    effects: list[Effect], stages: Stages, stage: str, axis: str, first: str, second: str
) -> list[dict[str, Any]]:
    said = {
        "axis": axis,
        "contrast": f"{first} minus {second}",
        "unit": "log odds",
        "bound": "estimate",
    }
    assigned = f"{axis} assigned by {stages.assigned_by(axis)}"
    rows = [
        row(
            TECHNIQUE,
            f"{COEFFICIENT}: {effect.synset}",
            stage,
            HUMAN_LABELS,
            value=effect.coefficient,
            low=effect.bootstrap.low,
            high=effect.bootstrap.high,
            p=effect.p if effect.p == effect.p else None,
            n=effect.images,
            **{**said, "note": _effect_note(effect, assigned)},
        )
        for effect in effects
    ]
    if effects:
        rows.insert(0, _count_row(effects, stage, said, assigned))
    return rows


def _effect_note(effect: Effect, assigned: str) -> str:
    return (
        f"interval by bootstrap over images; over splits {effect.splits.low:.3f} to {effect.splits.high:.3f}"
        f" (the paper's, too narrow); test accuracy {effect.accuracy:.3f}; {assigned}"
    )


def _count_row(effects: list[Effect], stage: str, said: dict, assigned: str) -> dict[str, Any]:
    """The paper's headline: how many types have an interval without zero; by chance alone 5% would."""
    from portrayal.stats.multiplicity import adjust

    adjusted = adjust([effect.p for effect in effects], "holm")
    by_splits = sum(effect.splits.low > 0 or effect.splits.high < 0 for effect in effects)
    unadjusted = sum(effect.p < 0.05 for effect in effects)
    note = (
        f"after Holm's correction over {len(effects)} types; {unadjusted} without it (5% by chance);"
        f" {by_splits} by the spread over splits; {assigned}"
    )
    smallest = float(np.nanmin(adjusted)) if len(adjusted) else None
    return row(
        TECHNIQUE,
        QUANTITY,
        stage,
        HUMAN_LABELS,
        value=float((adjusted < 0.05).sum()),
        p=smallest,
        n=len(effects),
        **{**said, "unit": "object types", "note": note},
    )


def _table(effects: list[Effect]) -> pl.DataFrame:
    return pl.DataFrame(
        [
            {
                "object": effect.synset,
                "images": effect.images,
                "coefficient": effect.coefficient,
                "low (bootstrap)": effect.bootstrap.low,
                "high (bootstrap)": effect.bootstrap.high,
                "low (splits)": effect.splits.low,
                "high (splits)": effect.splits.high,
                "p": effect.p,
                "test accuracy": effect.accuracy,
            }
            for effect in effects
        ]
    )


TECHNIQUE = Technique(
    "stereotyping",
    "objects correctly mentioned",
    "human labels with boxes, captions, and annotated people",
    "without boxes and annotated people size and place cannot be held fixed; and no object type was fitted where each is"
    " always or never mentioned",
    measure,
    QUANTITY,
)
