"""Captions of six people in three conditions by two made-up captioners, for the properties every measure must obey."""

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
WORDS = {"anger": ["angry", "furious"], "sadness": ["sad"]}


def case() -> tuple[Study, Evidence]:
    """Return a study and what was recorded for it: one photograph was refused, one caption is empty."""
    stimuli = pl.DataFrame([_stimulus(*each) for each in product(range(6), (*WORDS, "neutral"), NEW_NAMES)])
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
            "audit": "associations/emotion_words",
            "systems": [{"name": name, "use": "sobem_captions"} for name in ("first", "second")],
            "associations": {"recorded": "none", "minimum": 2, "baseline": baseline, "words": WORDS},
        }
    )


def _stimulus(person: int, emotion: str, condition: str) -> dict[str, object]:
    name = f"p{person} {emotion} {condition}"
    about = {"kind": "image", "content": name, "hash": name, "source": "made up", "license": "", "consent": "generated"}
    return {
        "stimulus": name,
        **about,
        "person": f"p{person}",
        "emotion": emotion,
        "intensity": "low" if person % 2 else "high",
        "condition": condition,
    }


def _rows(system: str, stimulus: dict, random: np.random.Generator):
    asked = {"system": system, "stimulus": stimulus["stimulus"], "repeat": 0}
    if stimulus["stimulus"] == "p3 anger suit":
        yield {**asked, "status": "refused", "caption": None}
        return
    if stimulus["stimulus"] == "p2 sadness sport":
        yield {**asked, "status": "empty", "caption": None}
    often = {"plain": 0.6, "suit": 0.4, "sport": 0.3}[stimulus["condition"]]
    said = WORDS.get(stimulus["emotion"], ["angry", "sad"])
    for number in range(5):
        word = random.choice(said) if random.random() < often else "calm"
        yield {**asked, "status": "answered", "caption": f"a {word} person, number {number}"}
