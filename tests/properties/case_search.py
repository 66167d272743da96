"""A small search study on the toy collection, for the properties every measure must obey."""

from __future__ import annotations

import polars as pl

from portrayal.audits.search import AUDIT
from portrayal.runs.audit import Evidence
from portrayal.runs.study import Study
from portrayal.runs.study_file import make_study
from portrayal.runs.work import make_stimuli
from portrayal.text.collections.synthetic import reference_run, toy_collection


def case() -> tuple[Study, Evidence]:
    """Return a study and what was recorded for it; one query was refused."""
    names = ("stereotypical", "neutral")
    systems = [{"name": name, "use": name, "parameters": {"collection": "toy"}} for name in names]
    study = make_study(
        {
            "name": "properties",
            "audit": "search",
            "systems": systems,
            "family": {"measures": ["gsr", "gsr_difference", "over_representation_trend"]},
            "search": {"collection": "toy", "variants": False, "validate_direction": False},
        }
    )
    responses = pl.concat([_answers(name) for name in names])
    return study, Evidence(make_stimuli(study), responses, AUDIT.inputs(study), None, study.seed)


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
