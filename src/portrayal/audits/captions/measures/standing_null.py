"""Standing null system: one human caption of each image, held out.

Systems and people are measured against the same other captions. What systems do no more than people is "also true of people".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.captions.measures import stereotyping_objects, stereotyping_tuples
from portrayal.audits.captions.reading.stages import HUMAN_CAPTIONS, HUMAN_SAME, SYSTEM_CAPTIONS, Stages
from portrayal.stats import scipy
from portrayal.stats.decisions.decision import FOUND
from portrayal.stats.decisions.multiplicity import LEVEL, adjust

HELD = "held-out human captions"  # system and stage of the null's rows
ALSO = "also true of people"  # the kind of a finding
NOTE = "one human caption of each image, drawn with seed {}, measured like a system against the others"
Row = Mapping[str, Any]
ABOUT = ("measure", "quantity", "axis", "group", "versus")


def hold_out(stages: Stages, seed: int) -> tuple[Stages, Stages | None]:
    """Return the stages without the held-out captions, and those of people as a system."""
    human = pl.col("stage") == HUMAN_CAPTIONS
    written = stages.captions.filter(human).select("image", "caption").unique().sort("image", "caption")
    several = written.filter(pl.len().over("image") > 1)
    if several.is_empty() or several["image"].n_unique() < written["image"].n_unique() / 2:
        return stages, None
    chance = pl.Series("chance", np.random.default_rng([seed, 7]).random(len(several)))
    held = several.with_columns(chance, held=True).sort("chance").unique("image", keep="first").drop("chance")
    mine = human & pl.col("held").fill_null(False)
    tables = (stages.mentions, stages.captions)
    marked = [table.join(held, on=["image", "caption"], how="left", maintain_order="left") for table in tables]
    mentions, captions = (table.filter(~mine).drop("held") for table in marked)
    said, texts = (table.filter(mine).with_columns(stage=pl.lit(SYSTEM_CAPTIONS)).drop("held") for table in marked)
    others = replace(stages, mentions=mentions, captions=captions)
    return others, others.with_system(said, texts, stages.faults.clear())


def mark_shared(results: pl.DataFrame) -> pl.DataFrame:
    """Return decided results with the kind of findings that are also true of people."""
    if "stage" not in results.columns:
        return results
    rows = results.with_row_index("row").with_columns(pl.col("null").fill_nan(None)).to_dicts()
    people = _by_place(row for row in rows if row["stage"] in (HELD, HUMAN_CAPTIONS))
    for system in results["system"].unique(maintain_order=True):
        own = [row for row in rows if row["system"] == system]
        beside = {**people, **_by_place(row for row in own if row["stage"] == HUMAN_SAME)}
        found = [row for row in own if row["stage"] == SYSTEM_CAPTIONS and row["decision"] == FOUND]
        further = {row["row"]: p for row in found if (p := _p_beyond(row, beside, _by_place(own))) is not None}
        for row, p in zip(further, adjust(list(further.values())), strict=True):
            rows[row]["kind"] = None if p < LEVEL else ALSO
    return results.with_columns(kind=pl.Series([row["kind"] for row in rows], dtype=pl.String))


def _by_place(rows: Iterable[Row]) -> dict[tuple, Row]:
    return {_place(row): row for row in rows if row["value"] is not None}


def _place(row: Row) -> tuple:
    return tuple(row[name] for name in ABOUT)


def _p_beyond(row: Row, people: Mapping[tuple, Row], own: Mapping[tuple, Row]) -> float | None:
    """Return the p of doing more than people; None where people do not do it."""
    theirs, side = people.get(_place(row)), row["null"] or 0.0
    if theirs is None or theirs["bound"] != row["bound"]:  # an estimate from judgments stands for itself
        return None
    if row["measure"] in (stereotyping_tuples.TEST, stereotyping_objects.TEST) and theirs["subject"] != row["subject"]:
        is_there = theirs["p"] is not None and theirs["p"] < LEVEL
    else:
        is_there = (theirs["value"] - side) * (row["value"] - side) > 0
    if is_there and row["measure"] == stereotyping_tuples.TEST:
        name = stereotyping_tuples.CHANGE_TEST, f"{row['quantity']} against {HUMAN_CAPTIONS}"
        change = own.get((*name, *_place(row)[2:]), {}).get("p")
        return 1.0 if change is None else float(change)
    return _p_of_more(row, theirs, side) if is_there else None


def _p_of_more(row: Row, theirs: Row, side: float) -> float:
    """Return the p of a value beyond people's, from the ends that face each other."""
    near, far = ("low", "high") if row["value"] > side else ("high", "low")
    if row[near] is None or theirs[far] is None or abs(row["value"] - side) <= abs(theirs["value"] - side):
        return 1.0
    error = np.hypot(row["value"] - row[near], theirs[far] - theirs["value"]) / scipy.special.ndtri(0.975)
    return float(2 * scipy.special.ndtr(-abs(row["value"] - theirs["value"]) / error)) if error > 0 else 0.0
