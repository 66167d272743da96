"""Recorded labels of two made-up generators, for the properties every measure must obey."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import polars as pl

from portrayal.audits.associations.datasets.label_tables import label_stimuli
from portrayal.study.audit import Evidence
from portrayal.study.study import Study
from portrayal.study.study_file import make_study
from properties.relabelling import with_old_names

NEW_NAMES = {"man": "quince", "person": "medlar", "woman": "apple"}
AGES = (20.0, 30.0, 40.0)
SEEDS = [str(number) for number in range(12)]


def case() -> tuple[Study, Evidence]:
    """Return a study and what was recorded for it: some images are blocked, one failed."""
    table = pl.DataFrame(
        [
            {"stimulus": f"{group}/{age:g}/{seed}", "group": group, "age": age, "seed": seed, "prompt": None}
            for group, age, seed in product(NEW_NAMES, AGES, SEEDS)
        ],
        schema_overrides={"prompt": pl.String},
    )
    random = np.random.default_rng(0)
    rows = [
        row
        for name in ("first", "second")
        for image in table.iter_rows(named=True)
        for row in _rows(name, image, random)
    ]
    responses = pl.DataFrame(rows, schema_overrides={"score": pl.Float64}, infer_schema_length=None)
    return _study(), Evidence(label_stimuli(table), responses, {"validation": _validation()})


def told_back(results: pl.DataFrame) -> pl.DataFrame:
    """Return results with the old names in them."""
    return with_old_names(results, NEW_NAMES)


def relabelled(study: Study, evidence: Evidence) -> tuple[Study, Evidence]:
    """Give the groups other names."""
    other = pl.col("group").replace(NEW_NAMES)
    validation = evidence.inputs["validation"].with_columns(other)
    return _study(), replace(evidence, stimuli=evidence.stimuli.with_columns(other), inputs={"validation": validation})


def _study() -> Study:
    return make_study(
        {
            "name": "properties",
            "audit": "associations/labels",
            "systems": [{"name": name, "use": "label_table"} for name in ("first", "second")],
            "associations": {"table": "none"},
        }
    )


def _rows(system: str, image: dict, random: np.random.Generator):
    asked = {"system": system, "stimulus": image["stimulus"], "repeat": 0}
    lost = {"man": ["7"], "person": ["7", "8"], "woman": ["7", "8", "9"]}  # each group as often as no other
    if image["seed"] in lost[image["group"]]:
        yield {**asked, "status": "failed" if image["group"] == "man" else "refused", "label": None, "score": None}
        return
    often = {"man": 0.1, "person": 0.3, "woman": 0.5}[image["group"]]
    yield {**asked, "status": "answered", "label": "sexy" if random.random() < often else "neutral", "score": None}
    yield {**asked, "status": "answered", "label": random.choice(["face:yes", "face:no"]), "score": None}


def _validation() -> pl.DataFrame:
    random = np.random.default_rng(1)
    rows = [
        {
            "group": "woman",
            "rater": rater,
            "detector": bool(random.random() < (0.7 if judged else 0.1)),
            "judgment": judged,
        }
        for rater in ("one", "two")
        for judged in [True, False] * 20
    ]
    return pl.DataFrame(rows)
