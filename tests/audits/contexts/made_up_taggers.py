"""Contexts studies of made-up taggers: what they answer is a function of the person, the gender, the place and chance."""

from itertools import product

import numpy as np
import polars as pl

from portrayal.study.audit import Evidence
from portrayal.study.study_file import make_study
from portrayal.text.words.typology import load_context_tags, load_contexts, load_typology

PLACES = ("F1", "F2", "M1", "M2")
COLUMNS = {
    "system": pl.String,
    "stimulus": pl.String,
    "repeat": pl.Int64,
    "status": pl.String,
    "tag": pl.String,
    "confidence": pl.Float64,
}


def study_for(answers, **settings):
    """Return a study of these systems."""
    systems = [{"name": name, "use": "local"} for name in answers]
    return make_study(
        {"name": "made up", "audit": "contexts", "systems": systems, "contexts": {"mixed": False, **settings}}
    )


def evidence_of(answers, genders=("female", "male"), each=8, races=("A", "B"), places=PLACES, typology=None):
    """Return what systems say that answer by these functions: tags, or a status."""
    random, stimuli, rows = np.random.default_rng(0), [], []
    people = [(f"{gender}{i}", gender, races[i % len(races)]) for gender in genders for i in range(each)]
    for (person, gender, race), place in product(people, (None, *places)):
        name = f"{person}@{place}"
        stimuli.append({
            "stimulus": name, "kind": "image", "content": "", "hash": name, "source": "made up", "license": "none",
            "consent": "generated", "role": "composite" if place else "baseline", "person": person, "context": place,
            "background": place, "gender": gender, "race": race,
        })  # fmt: skip
        for system, told in answers.items():
            answer = told(person, gender, place, random)
            status = answer if isinstance(answer, str) else "answered"
            tags = answer if isinstance(answer, list) else [None]
            rows += [(system, name, 0, status, tag, None) for tag in tags]
    known = load_typology() if typology is None else pl.concat([load_typology(), typology])
    inputs = {"typology": known, "contexts": load_contexts(), "context_tags": load_context_tags()}
    responses = pl.DataFrame(rows, schema=COLUMNS, orient="row")
    return Evidence(pl.DataFrame(stimuli, infer_schema_length=None), responses, inputs)
