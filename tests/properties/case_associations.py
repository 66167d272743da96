"""A small association study on two made-up encoders, for the properties every measure must obey."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from portrayal.audits.associations import AUDIT
from portrayal.study.audit import Evidence
from portrayal.study.questions import make_stimuli
from portrayal.study.study import Study
from portrayal.study.study_file import make_study

AXES = {
    "women's names and men's names": "men's names and women's names",
    "physical illness and mental illness": "mental illness and physical illness",
    "the arts and mathematics": "mathematics and the arts",
}


def case() -> tuple[Study, Evidence]:
    """Return a study and what was recorded for it; one word has no vector."""
    study = make_study(
        {
            "name": "properties",
            "audit": "associations",
            "systems": [{"name": "first", "use": "glove"}, {"name": "second", "use": "minilm"}],
            "associations": {
                "alternative": "two-sided",  # so that p stays when two sides are named the other way round
                "tests": ["weat6", "weat9"],
                "test": [
                    {"name": "paired", "base": "weat7", "x_cluster": list("abcdefgh"), "y_cluster": list("abcdefgh")}
                ],
            },
        }
    )
    stimuli = make_stimuli(study)
    rng = np.random.default_rng(0)
    rows = [
        {
            "system": system,
            "stimulus": stimulus,
            "repeat": 0,
            "status": "empty" if stimulus == "gloomy" else "answered",
            "embedding": None if stimulus == "gloomy" else rng.normal(size=6).tolist(),
        }
        for system in ("first", "second")
        for stimulus in stimuli["stimulus"]
    ]
    responses = pl.DataFrame(rows, schema_overrides={"embedding": pl.List(pl.Float64)}, infer_schema_length=None)
    return study, Evidence(stimuli, responses, AUDIT.inputs(study), None, study.seed)


def relabelled(study: Study, evidence: Evidence) -> tuple[Study, Evidence]:
    """Call X what was called Y, and put it there."""
    tests = [
        {**test, "x": test["y"], "y": test["x"], "x_name": test["y_name"], "y_name": test["x_name"]}
        for test in evidence.inputs["tests"]
    ]
    return study, replace(evidence, inputs={**evidence.inputs, "tests": tests})


def told_back(results: pl.DataFrame) -> pl.DataFrame:
    """Return results with X and Y where they were: d has the other sign."""
    # Silence names the worse served side first, whichever it is called; it has no attribute.
    of_tests = pl.col("attribute").is_not_null()
    turned = {"value": -pl.col("value"), "low": -pl.col("high"), "high": -pl.col("low"),
              "group": pl.col("versus"), "versus": pl.col("group")}  # fmt: skip
    axis = pl.col("axis").replace(AXES)
    return results.with_columns(
        axis, **{name: pl.when(of_tests).then(new).otherwise(pl.col(name)) for name, new in turned.items()}
    )
