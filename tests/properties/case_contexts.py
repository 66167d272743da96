"""A small contexts study of recorded tags with two made-up taggers, for the properties every measure must obey."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from portrayal.study.audit import Evidence
from portrayal.study.study import Study
from portrayal.study.study_file import make_study
from portrayal.text.words.typology import load_context_tags, load_contexts, load_typology
from properties.relabelling import with_old_names

WORDS = {"F1": ["bride", "veil"], "M1": ["garage", "wrench"]}
NEW_NAMES = {"female": "quince", "male": "apple", "Asian": "walnut", "Black": "medlar"}
POOL = ["hair", "face", "shirt", "happy", "serious", "beautiful", "person", "zzz"]


def case() -> tuple[Study, Evidence]:
    """Return a study and what was recorded for it: one answer failed, one was empty."""
    study = _study({"feminine": ["female"], "masculine": ["male"]})
    stimuli = pl.DataFrame(list(_stimuli()), schema_overrides={"context": pl.String, "background": pl.String})
    random = np.random.default_rng(0)
    rows = [
        {"system": system, "stimulus": row["stimulus"], "repeat": 0, "status": status, "tag": tag, "confidence": None}
        for system in ("first", "second")
        for row in stimuli.iter_rows(named=True)
        for status, tag in _answer(row, random)
    ]
    responses = pl.DataFrame(
        rows, schema_overrides={"confidence": pl.Float64, "tag": pl.String}, infer_schema_length=None
    )
    inputs = {"typology": load_typology(), "contexts": load_contexts(), "context_tags": load_context_tags()}
    return study, Evidence(stimuli, responses, inputs, None, study.seed)


def told_back(results: pl.DataFrame) -> pl.DataFrame:
    """Return results with the old names in them."""
    return with_old_names(results, NEW_NAMES)


def relabelled(study: Study, evidence: Evidence) -> tuple[Study, Evidence]:
    """Give genders and races other names, wherever they stand."""
    contexts = evidence.inputs["contexts"].with_columns(pl.col("stereotype").replace(NEW_NAMES))
    return _study({"feminine": [NEW_NAMES["female"]], "masculine": [NEW_NAMES["male"]]}), replace(
        evidence,
        stimuli=evidence.stimuli.with_columns(pl.col("gender", "race").replace(NEW_NAMES)),
        inputs={**evidence.inputs, "contexts": contexts},
    )


def _study(genders: dict[str, list[str]]) -> Study:
    return make_study(
        {
            "name": "properties",
            "audit": "contexts",
            "systems": [{"name": name, "use": "local"} for name in ("first", "second")],
            "contexts": {"factors": ["gender", "race"], "genders": genders},
        }
    )


def _stimuli():
    for number in range(16):
        person = f"p{number:02d}"
        factors = {"gender": "female" if number % 2 else "male", "race": ("Asian", "Black")[number // 2 % 2]}
        for place in (None, "F1", "M1"):
            role = "composite" if place else "baseline"
            name = f"{person}@{place}"
            yield {
                "stimulus": name, "kind": "image", "content": "", "hash": name, "source": "made up", "license": "none",
                "consent": "generated", "role": role, "person": person, "context": place, "background": place, **factors,
            }  # fmt: skip


def _answer(row: dict, random: np.random.Generator) -> list[tuple[str, str | None]]:
    if row["stimulus"] == "p03@F1":
        return [("failed", None)]
    if row["stimulus"] == "p04@M1":
        return [("empty", None)]
    gender = random.choice(["woman", "man", "hair"], p=[0.4, 0.4, 0.2])
    place = [random.choice(WORDS[row["context"]])] if row["context"] and random.random() < 0.7 else []
    return [("answered", str(tag)) for tag in (gender, *random.choice(POOL, 4, replace=False), *place)]
