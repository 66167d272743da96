"""A small contexts study on recorded tags: twelve people alone and in two places, before two made-up taggers."""

from __future__ import annotations

import random
import tempfile
from itertools import product
from pathlib import Path

import polars as pl

from portrayal.audits.base import Evidence
from portrayal.audits.contexts import AUDIT
from portrayal.study import Study, make_study

TAGS = [
    "person",
    "woman",
    "man",
    "smile",
    "beauty",
    "kitchen",
    "hospital",
    "nurse",
    "doctor",
    "dress",
    "suit",
]
PLACES = ["kitchen", "hospital"]


def case() -> tuple[Study, Evidence]:
    """Return a study and random tags; one picture of each tagger got no answer."""
    people = [
        {"person": f"p{n}", "gender": "FM"[n % 2], "race": ["Asian", "Black", "White"][n % 3]}
        for n in range(12)
    ]
    rows = [
        {"image_id": f"{who['person']}-{place or 'alone'}", **who, "context": place, "background": place}
        for who, place in product(people, ["", *PLACES])
    ]
    with tempfile.TemporaryDirectory() as folder:
        pl.DataFrame(rows).write_csv(Path(folder) / "people.csv")
        study = make_study(
            {
                "name": "properties",
                "audit": "contexts",
                "systems": [
                    {"name": "first", "use": "replay:a.csv"},
                    {"name": "second", "use": "replay:b.csv"},
                ],
                "contexts": {"people": "people.csv", "images": False, "mixed": False, "contact_sheet": False},
            },
            folder,
        )
        stimuli, inputs = AUDIT.stimuli(study), AUDIT.inputs(study)
    return study, Evidence(stimuli, _responses(stimuli["stimulus"].to_list()), inputs, None, study.seed)


def _responses(pictures: list[str]) -> pl.DataFrame:
    draw, rows = random.Random(0), []
    for system, picture in product(("first", "second"), pictures):
        asked = {"system": system, "stimulus": picture, "repeat": 0}
        if picture == pictures[3]:
            rows.append({**asked, "status": "failed", "tag": None, "confidence": None})
            continue
        for tag in draw.sample(TAGS, 5):
            rows.append({**asked, "status": "answered", "tag": tag, "confidence": draw.random()})
    return pl.DataFrame(rows, infer_schema_length=None)
