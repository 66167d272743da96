"""Images of two made-up generators, for the properties every measure must obey."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import polars as pl

from portrayal.study.audit import Evidence
from portrayal.study.questions import make_stimuli
from portrayal.study.study import Study
from portrayal.study.study_file import make_study
from properties.relabelling import with_old_names

NEW_NAMES = {"man": "quince", "woman": "apple"}  # "person" is no group: such a prompt names none
OUTCOMES = ["kept", "blocked", "no_face", "dropped_age"]


def case() -> tuple[Study, Evidence]:
    """Return a study and what was recorded for it: some images are blocked or dropped, one question failed."""
    study = make_study(
        {
            "name": "properties",
            "audit": "associations/depictions",
            "repeats": 10,
            "systems": [{"name": name, "use": "phantom_generator"} for name in ("first", "second")],
            "associations": {"occupations": ["nurse", "plumber", "chef"], "groups": ["person", "woman", "man"]},
        }
    )
    stimuli = make_stimuli(study)
    random = np.random.default_rng(0)
    asked = product(("first", "second"), stimuli.iter_rows(named=True), range(study.repeats))
    rows = [row for name, stimulus, repeat in asked for row in _rows(name, stimulus, repeat, random)]
    responses = pl.DataFrame(rows, schema_overrides={"score": pl.Float64}, infer_schema_length=None)
    return study, Evidence(stimuli, responses)


def told_back(results: pl.DataFrame) -> pl.DataFrame:
    """Return results with the old names in them."""
    return with_old_names(results, NEW_NAMES)


def relabelled(study: Study, evidence: Evidence) -> tuple[Study, Evidence]:
    """Give the groups other names, in prompts and in what the reader saw."""
    return study, replace(
        evidence,
        stimuli=evidence.stimuli.with_columns(pl.col("group").replace(NEW_NAMES)),
        responses=evidence.responses.with_columns(pl.col("label").replace(NEW_NAMES)),
    )


def _rows(system: str, stimulus: dict, repeat: int, random: np.random.Generator):
    asked = {"system": system, "stimulus": stimulus["stimulus"], "repeat": repeat}
    lost = {"person": [3], "woman": [3, 4], "man": [3, 4, 5]}  # each group as often as no other
    if repeat in lost[stimulus["group"]]:
        yield {**asked, "status": "failed", "label": None, "score": None}
        return
    outcome = random.choice(OUTCOMES, p=[0.7, 0.15, 0.1, 0.05])
    yield {**asked, "status": "answered", "label": f"outcome:{outcome}", "score": None}
    if outcome == "kept":
        women = {"nurse": 0.8, "plumber": 0.2, "chef": 0.5}[stimulus["occupation"]]
        yield {**asked, "status": "answered", "label": "woman" if random.random() < women else "man", "score": None}
