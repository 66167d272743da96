"""A small search study on the toy collection, for the properties every measure must obey."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from portrayal.audits.search import AUDIT
from portrayal.study.audit import Evidence
from portrayal.study.questions import make_stimuli
from portrayal.study.study import Study
from portrayal.study.study_file import make_study
from portrayal.text.collections.synthetic import reference_run, toy_collection
from properties.relabelling import with_old_names

NEW_NAMES = {"female": "quince", "male": "apple"}
SYSTEMS = ("stereotypical", "neutral")


def case() -> tuple[Study, Evidence]:
    """Return a study and what was recorded for it; one query was refused."""
    study = _study({name: name for name in NEW_NAMES})
    responses = pl.concat([_answers(name) for name in SYSTEMS])
    return study, Evidence(make_stimuli(study), responses, AUDIT.inputs(study), None, study.seed)


def relabelled(study: Study, evidence: Evidence) -> tuple[Study, Evidence]:
    """Give the groups other names."""
    other = _study(NEW_NAMES)
    return other, replace(evidence, inputs=AUDIT.inputs(other))


def told_back(results: pl.DataFrame) -> pl.DataFrame:
    """Return results with the old names in them."""
    return with_old_names(results, NEW_NAMES)


def _study(names: dict[str, str]) -> Study:
    said = {"female": ["woman", "women", "she", "her"], "male": ["man", "men", "he", "his"]}
    own = {"poles": list(names.values()), "mentions": {names[group]: words for group, words in said.items()}}
    return make_study(
        {
            "name": "properties",
            "audit": "search",
            "systems": [{"name": name, "use": name, "parameters": {"collection": "toy"}} for name in SYSTEMS],
            "family": {"measures": ["gsr", "gsr_difference", "over_representation_trend"]},
            "search": {"collection": "toy", "variants": False, "validate_direction": False, **own},
        }
    )


def _answers(name: str) -> pl.DataFrame:
    run = reference_run(toy_collection(), name)
    refused = pl.col("stimulus") == "nurse"
    return run.select(
        system=pl.lit(name),
        stimulus="query",
        repeat=pl.lit(0, pl.Int64),
        status=pl.lit("answered"),
        doc="doc",
        rank="rank",
        score="score",
    ).with_columns(
        pl.when(refused).then(pl.lit("refused")).otherwise("status").alias("status"),
        *(pl.when(refused).then(None).otherwise(column).alias(column) for column in ("doc", "rank", "score")),
    )
