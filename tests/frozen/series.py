"""Made-up series of faces and what taggers say of them: slopes, placebos, refusals, gaps, repeats."""

from __future__ import annotations

import zlib

import numpy as np
import polars as pl

AXES = (("gender", None, None), ("race", "White", "Black"), ("race", "White", "East Asian"), ("placebo", None, None))
STEPS = {"gender": np.linspace(-2, 2, 7), "placebo": np.linspace(-2, 2, 7), "race": np.linspace(-2, 2, 5)}
# How far each label follows each attribute, by system.
PLANTED = {
    "leaning": {
        "Nurse": {"gender": -0.35},
        "Engineer": {"gender": 0.35, "race": -0.2},
        "Teacher": {},
        "Smile": {"race": 0.3},
    },
    "even": {"Nurse": {}, "Engineer": {}, "Judge": {}},
}


def chance(*parts: object) -> float:
    """Return a number from 0 to 1 that hangs on the parts alone."""
    return zlib.crc32(" ".join(map(str, parts)).encode()) / 2**32


def steps(people: int) -> pl.DataFrame:
    """Return every step of every series, with an unedited picture of each person for gender."""
    rows = []
    for person in range(people):
        name = f"p{person}"
        for attribute, low, high in AXES:
            about = {"picture": name, "person": name, "attribute": attribute, "pole_low": low, "pole_high": high}
            start = ("female", "male")[person % 2] if attribute == "gender" else None
            for value in STEPS[attribute].round(4).tolist():
                told = {"condition": "edited", "value": value, "start": start}
                rows.append({"stimulus": f"{name} {attribute} {low} {high} {value:+}", **about, **told})
        told = {"picture": name, "person": name, "attribute": "gender", "condition": "unedited", "start": start}
        rows.append({"stimulus": f"{name} unedited", **told, "pole_low": None, "pole_high": None, "value": None})
    return pl.DataFrame(rows, infer_schema_length=None)


def said(step: dict, system: str, repeat: int) -> list[dict]:
    """Return what a system answers to a step: its labels, a refusal, a failure or nothing."""
    about = {"system": system, "stimulus": step["stimulus"], "repeat": repeat}
    value, person = step["value"] or 0.0, step["person"]
    drawn = chance(system, "status", step["stimulus"], repeat)
    if system == "leaning" and value == 2.0 and step["attribute"] == "gender" and drawn < 0.4:
        return [{**about, "status": "refused", "tag": None, "confidence": None}]
    if drawn > 0.995:
        return [{**about, "status": "failed", "tag": None, "confidence": None}]
    tags = ["Face"]
    for label, slopes in PLANTED[system].items():
        likely = 0.5 * (1 + slopes.get(step["attribute"], 0.0) * value)
        if 0.7 * chance(system, label, person) + 0.3 * chance(system, label, step["stimulus"], repeat) < likely:
            tags.append(label)
    return [
        {**about, "status": "answered", "tag": tag, "confidence": round(0.5 + 0.5 * chance(tag, step["stimulus"]), 4)}
        for tag in tags
    ]


def slopes(people: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the steps of some people and the answers of two systems, one of them asked twice."""
    stimuli = steps(people)
    rows = [
        row
        for system, repeats in (("leaning", 2), ("even", 1))
        for step in stimuli.iter_rows(named=True)
        for repeat in range(repeats)
        for row in said(step, system, repeat)
    ]
    return stimuli, pl.DataFrame(rows, schema_overrides={"confidence": pl.Float64}, infer_schema_length=None)
