"""Two phantom captioners on a few generated scenes, for the properties every measure must obey."""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import files

import polars as pl

from portrayal.audits.captions import AUDIT
from portrayal.audits.captions.phantom import PHANTOMS, draws, speak
from portrayal.audits.captions.world import read_scene, text
from portrayal.study.audit import Evidence
from portrayal.study.questions import make_stimuli
from portrayal.study.study import Study
from portrayal.study.study_file import make_study
from portrayal.text.words.harm_lists import read_list
from properties.relabelling import with_old_names

NEW_NAMES = {"female": "quince", "male": "apple", "darker": "walnut", "lighter": "medlar"}
PLANTED = {"first": "objects correctly mentioned", "second": "looks predict the group term"}


def case() -> tuple[Study, Evidence]:
    """Return a study and what was recorded for it; one scene was refused."""
    study = make_study(
        {
            "name": "properties",
            "audit": "captions",
            "systems": [
                {"name": name, "use": "phantom:captions", "parameters": {"plants": planted}}
                for name, planted in PLANTED.items()
            ],
            "captions": {
                "scenes": 120,
                "object_types": 10,
                "splits": 30,
                "bootstraps": 30,
                "permutations": 99,
                "processes": 1,
            },
        }
    )
    stimuli = make_stimuli(study)
    rows = [
        {
            "system": name,
            "stimulus": image,
            "repeat": 0,
            "status": "refused" if image.endswith("00007") else "answered",
            "caption": None if image.endswith("00007") else _caption(planted, image, content),
        }
        for name, planted in PLANTED.items()
        for image, content in stimuli.select("stimulus", "content").iter_rows()
    ]
    return study, Evidence(stimuli, pl.DataFrame(rows), AUDIT.inputs(study), None, study.seed)


def _caption(planted: str, image: str, content: str) -> str:
    return text(speak(PHANTOMS[planted].system, read_scene(image, content), 0.6, draws(planted, image)))


def told_back(results: pl.DataFrame) -> pl.DataFrame:
    """Return results with the old names in them."""
    return with_old_names(results, NEW_NAMES)


def relabelled(study: Study, evidence: Evidence) -> tuple[Study, Evidence]:
    """Give the groups of gender and skin other names: in the annotation, the word lists and the rules."""
    other = pl.col("group").replace(NEW_NAMES)
    lists = {f"list_{name}": read_list(name).with_columns(other) for name in ("gendered", "identity", "artifacts")}
    rules = (files("portrayal.text") / "lexicons" / "caption_rules.toml").read_text(encoding="utf-8")
    for old, new in NEW_NAMES.items():
        rules = rules.replace(f'"{old}"', f'"{new}"')
    people = evidence.inputs["people"].with_columns(other)
    return study, replace(evidence, inputs={**evidence.inputs, **lists, "people": people, "rules": rules})
