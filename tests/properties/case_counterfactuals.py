"""A small counterfactuals study: sixteen source images along gender and race, before two made-up taggers."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import product

import polars as pl

from portrayal.audits.counterfactuals.inputs import references
from portrayal.study.audit import Evidence
from portrayal.study.study import Study
from portrayal.study.study_file import make_study

TAGS = ["person", "nurse", "engineer", "smile", "hair", "beard", "portrait"]

ENDS = ["made more feminine", "made more masculine", "made closer to the pole White", "made closer to the pole Black"]


def case() -> tuple[Study, Evidence]:
    """Return a study and random tags that follow the value a little; one step of each tagger failed."""
    study = make_study(
        {
            "name": "properties",
            "audit": "counterfactuals",
            "systems": [{"name": "first", "use": "replay:a.csv"}, {"name": "second", "use": "replay:b.csv"}],
            "counterfactuals": {"series": "made-elsewhere"},
        }
    )
    stimuli = pl.DataFrame([_stimulus(*step) for step in product(range(16), ("gender", "race"), (-1.0, 0.0, 1.0))])
    responses = pl.DataFrame(list(_rows(stimuli)), infer_schema_length=None)
    return study, Evidence(stimuli, responses, references(study), None, study.seed)


def _stimulus(number: int, attribute: str, value: float) -> dict[str, object]:
    name = f"p{number}_{attribute}_{value:g}"
    about = {"source": "made up", "license": "CC0-1.0", "consent": "generated"}
    factors = {"picture": f"p{number}", "person": f"p{number}", "attribute": attribute, "condition": "edited"}
    return {"stimulus": name, "kind": "image", "content": name, "hash": name, **about, **factors, "value": value}


def _rows(stimuli: pl.DataFrame) -> list[dict[str, object]]:
    draw, rows = random.Random(0), []
    for system, stimulus in product(("first", "second"), stimuli.iter_rows(named=True)):
        asked = {"system": system, "stimulus": stimulus["stimulus"], "repeat": 0}
        if stimulus["stimulus"] == "p3_gender_1":
            rows.append({**asked, "status": "failed", "tag": None, "confidence": None})
            continue
        for place, tag in enumerate(TAGS):
            if place == 0 or draw.random() < 0.5 + 0.2 * stimulus["value"] * (place % 2):
                rows.append({**asked, "status": "answered", "tag": tag, "confidence": draw.random()})
    return rows


def relabelled(study: Study, evidence: Evidence) -> tuple[Study, Evidence]:
    """Call the low end of each attribute its high end."""
    return study, replace(evidence, stimuli=evidence.stimuli.with_columns(-pl.col("value")))


def told_back(results: pl.DataFrame) -> pl.DataFrame:
    """Return results with the ends where they were: slopes have the other sign, what comes goes."""
    turned = pl.col("measure").str.contains("slope")
    changed = {
        name: pl.when(turned).then(-pl.col(other)).otherwise(name)
        for name, other in (("value", "value"), ("low", "high"), ("high", "low"))
    }
    flips = pl.col("measure").replace({"flip_comes": "flip_goes", "flip_goes": "flip_comes"})
    names = dict(zip(ENDS, [ENDS[1], ENDS[0], ENDS[3], ENDS[2]], strict=True))
    return results.with_columns(flips, pl.col("group", "versus").replace(names), **changed)
