"""People depicted and not mentioned, by group (Wang et al. 2022, section 4.2.2).

Images count whose person boxes together cover more than a tenth. Without boxes the ground truth's words say who is there.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.captions.measures.technique import (
    ESTIMATE,
    UPPER,
    Count,
    Difference,
    Outcome,
    Shares,
    Steps,
    technique,
)
from portrayal.audits.captions.reading.people import caption_numbers, is_person, people_mentioned
from portrayal.audits.captions.reading.stages import LABELS, STAGES, Options, Stages, once
from portrayal.text.formatting import percent

QUANTITY = "person not mentioned"
LEVEL, TEST, WORST = "people_not_mentioned", "people_not_mentioned_difference", "people_not_mentioned_worst_group"
GRID = 200  # a person's share of the image is counted on this many rows and columns


def steps(stages: Stages, options: Options) -> Steps:
    """Yield the share not mentioned at each stage, the test between groups, and the cases."""
    truth = stages.truth()
    if truth is None:
        return
    visible, note = shown_people(stages, truth, options.person_area), partial(_note, stages, truth, options)
    bound = UPPER if stages.boxes_of(truth).is_empty() else ESTIMATE
    about: dict[str, Any] = {"bound": bound, "note": note, "basis": visible, "truth": truth, "compares": ESTIMATE}
    by_stage: dict[str, Shares] = {}
    for stage in STAGES[1:]:
        if stages.has(stage) and stage != truth:
            shares = Shares.of(QUANTITY, stages, stage, people_mentioned(stages, stage), visible, **about)
            by_stage[stage] = replace(shares, values={image: 1 - share for image, share in shares.values.items()})
            yield by_stage[stage]
            yield partial(_cases, stages, stage, truth, list(by_stage[stage].values))
    yield Count(LEVEL, by_stage, sorted(visible, key=str), note)
    yield Difference(TEST, by_stage, note, worst=WORST)


def shown_people(stages: Stages, truth: str, least: float) -> set[str]:
    """Return the images that show people large enough to be worth mentioning."""
    if stages.boxes_of(truth).is_empty():
        return set(people_mentioned(stages, truth)["image"])
    return {image for image, area in _areas(stages, truth).items() if area > least}


@once
def _areas(stages: Stages, truth: str) -> dict[str, float]:
    return person_areas(stages.boxes_of(truth))


def person_areas(boxes: pl.DataFrame) -> dict[str, float]:
    """Return image -> share of the image under the union of its person boxes."""
    people = [synset for synset in boxes["synset"].unique() if is_person("-", synset)]
    drawn = boxes.filter(pl.col("synset").is_in(people))
    alone = pl.col("image").is_unique()  # most images show one person, whose area needs no grid
    areas = dict(drawn.filter(alone).select("image", pl.col("width") * pl.col("height")).iter_rows())
    several = drawn.filter(~alone).group_by("image", maintain_order=True)
    return areas | {str(image): _union(part) for (image,), part in several}


def _union(boxes: pl.DataFrame) -> float:
    edges = boxes.select("left", "top", "width", "height").to_numpy()
    centres = (np.arange(GRID) + 0.5) / GRID
    across = (centres >= edges[:, :1]) & (centres < edges[:, :1] + edges[:, 2:3])
    down = (centres >= edges[:, 1:2]) & (centres < edges[:, 1:2] + edges[:, 3:4])
    return float((down[:, :, None] & across[:, None, :]).any(axis=0).mean())


def _note(stages: Stages, truth: str, options: Options, stage: str) -> str:
    """Return the basis, and for captions their diversity."""
    if stages.boxes_of(truth).is_empty():
        basis = f"people the {truth} mention; whether they are worth mentioning is not known"
    else:
        basis = f"images whose person boxes together cover over {percent(options.person_area)}"
    return basis if stage in LABELS else f"{basis}; {stages.diversity(stage)}"


def _cases(stages: Stages, stage: str, truth: str, images: list[str]) -> Outcome:
    silent = caption_numbers(stages, stage).filter(pl.col("image").is_in(images))
    silent = silent.join(people_mentioned(stages, stage), on=["image", "caption"], how="anti", maintain_order="left")
    score = pl.col("image").replace_strict(_areas(stages, truth), default=0.0, return_dtype=pl.Float64)
    reason = pl.lit("a person is depicted and not mentioned")
    return TECHNIQUE.cases(QUANTITY, stage, silent, reason=reason, score=score)


TECHNIQUE = technique("demeaning: people not mentioned", steps)
