"""Saliency of six people in three conditions for two made-up encoders, for the properties every measure must obey."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import polars as pl

from portrayal.study.audit import Evidence
from portrayal.study.study import Study
from portrayal.study.study_file import make_study
from properties.relabelling import with_old_names

NEW_NAMES = {"plain": "quince", "suit": "apple", "sport": "medlar"}


def case() -> tuple[Study, Evidence]:
    """Return a study and what was recorded for it: one picture failed."""
    stimuli = pl.DataFrame([_stimulus(*each) for each in product(range(6), ("anger", "sadness"), NEW_NAMES)])
    random = np.random.default_rng(0)
    rows = [
        row
        for name in ("first", "second")
        for stimulus in stimuli.iter_rows(named=True)
        for row in _rows(name, stimulus, random)
    ]
    return _study("plain"), Evidence(stimuli, pl.DataFrame(rows, infer_schema_length=None))


def told_back(results: pl.DataFrame) -> pl.DataFrame:
    """Return results with the old names in them."""
    return with_old_names(results, NEW_NAMES)


def relabelled(study: Study, evidence: Evidence) -> tuple[Study, Evidence]:
    """Give the conditions other names."""
    stimuli = evidence.stimuli.with_columns(pl.col("condition").replace(NEW_NAMES))
    return _study(NEW_NAMES["plain"]), replace(evidence, stimuli=stimuli)


def _study(baseline: str) -> Study:
    return make_study(
        {
            "name": "properties",
            "audit": "associations/saliency",
            "systems": [{"name": name, "use": "clip_saliency"} for name in ("first", "second")],
            "associations": {"table": "none", "baseline": baseline},
        }
    )


def _stimulus(person: int, factor: str, condition: str) -> dict[str, object]:
    name = f"p{person} {factor} {condition}"
    about = {"kind": "image", "content": name, "hash": name, "source": "made up", "license": "", "consent": "generated"}
    return {"stimulus": name, **about, "person": f"p{person}", "factor": factor, "condition": condition}


def _rows(system: str, stimulus: dict, random: np.random.Generator):
    asked = {"system": system, "stimulus": stimulus["stimulus"], "repeat": 0}
    if stimulus["stimulus"] == "p3 anger suit":
        yield {**asked, "status": "failed", "tag": None, "confidence": None}
        return
    shares = random.dirichlet({"plain": [6, 2, 2], "suit": [5, 3, 2], "sport": [3, 5, 2]}[stimulus["condition"]])
    for region, share in zip(("face", "torso", "background"), shares, strict=True):
        yield {**asked, "status": "answered", "tag": region, "confidence": float(share)}
    for place, mass in enumerate(random.random(4)):
        yield {**asked, "status": "answered", "tag": f"cell {place // 2} {place % 2}", "confidence": float(mass)}
