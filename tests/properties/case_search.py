"""A small search study: two made-up rankers on a generated collection."""

from __future__ import annotations

import random

import polars as pl

from portrayal.audits.base import Evidence
from portrayal.audits.search import AUDIT
from portrayal.audits.search.inputs import open_collection
from portrayal.study import Study, make_study


def case() -> tuple[Study, Evidence]:
    """Return a study and random rankings of thirty of its queries; one question was refused."""
    study = make_study(
        {
            "name": "properties",
            "audit": "search",
            "systems": [{"name": "first", "use": "bm25"}, {"name": "second", "use": "tfidf"}],
            "search": {
                "collection": "balanced",
                "vectors": ["glove"],
                "validate_direction": False,
                "variants": False,
            },
        }
    )
    stimuli = AUDIT.stimuli(study).head(30)
    docs, draw = sorted(name for name, _ in open_collection(study).documents()), random.Random(0)
    rows = []
    for system in ("first", "second"):
        for stimulus in stimuli["stimulus"]:
            asked = {"system": system, "stimulus": stimulus, "repeat": 0}
            if (system, stimulus) == ("first", stimuli["stimulus"][0]):
                rows.append({**asked, "status": "refused", "doc": None, "rank": None, "score": None})
                continue
            for rank, doc in enumerate(draw.sample(docs, 20), start=1):
                rows.append({**asked, "status": "answered", "doc": doc, "rank": rank, "score": 1.0 / rank})
    responses = pl.DataFrame(rows, infer_schema_length=None)
    return study, Evidence(stimuli, responses, AUDIT.inputs(study), None, study.seed)
