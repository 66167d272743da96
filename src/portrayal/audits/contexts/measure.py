"""From the tags of pictures to the results of the contexts audit."""

from __future__ import annotations

from typing import Any

import polars as pl

from portrayal.audits.contexts.measures.coding import agreement, extend, queue
from portrayal.audits.contexts.measures.pictures import describe_pictures, unknown_tags
from portrayal.audits.contexts.measures.questions import FACETS, Design, answers_and_differences
from portrayal.audits.contexts.measures.ratings import QUESTIONS, ratings
from portrayal.audits.contexts.settings import ContextsSettings
from portrayal.audits.contexts.warnings import warnings_of
from portrayal.errors import PortrayalError, nearest
from portrayal.runs.audit import Evidence, Measured, groups_by
from portrayal.tables import results


def measure(evidence: Evidence, settings: ContextsSettings) -> Measured:
    """Answer the four questions for every system of the study."""
    typology, tags = extend(evidence.inputs["typology"], evidence.reviews), evidence.inputs["context_tags"]
    _check_genders(settings, typology)
    pictures = describe_pictures(evidence.stimuli, evidence.responses, typology, tags, list(settings.genders))
    answered, differences = answers_and_differences(pictures, _design(evidence, settings))
    judged = results(
        [*_ratings(evidence), *agreement(evidence.reviews, evidence.seed)], facets=FACETS, audit="contexts"
    )
    names = place_names(evidence.inputs["contexts"])
    found = pl.concat([answered, judged]).with_columns(pl.col("place").replace(names))
    unknown = unknown_tags(evidence.responses, typology, tags)
    warnings = warnings_of(found, evidence.inputs.get("unusable", ()), settings.factors)
    sheet = {name: evidence.inputs[name] for name in ("contact_sheet",) if evidence.inputs.get(name)}
    tables = {"unknown_tags": unknown.head(500)}
    return Measured(found, tables, warnings, queue(unknown), sheet, differences)


def who_is_shown(evidence: Evidence, settings: ContextsSettings) -> pl.DataFrame:
    """Return the groups of people and places whose pictures may go unanswered: overall, and of people within each place."""
    names = place_names(evidence.inputs["contexts"])
    people = evidence.stimuli.filter(pl.col("person").is_not_null()).with_columns(
        place=pl.col("context").replace(names)
    )
    axes = list(dict.fromkeys([settings.gender, *settings.factors]))
    overall = groups_by(people, [*axes, "place"], "person").with_columns(within=pl.lit(None, pl.String))
    placed = people.select("stimulus", within="place").drop_nulls()
    return pl.concat([overall, groups_by(people, axes, "person").join(placed, on="stimulus")])


def place_names(contexts: pl.DataFrame) -> dict[str, str]:
    """Return each place's name for readers; a place without one goes by its code."""
    named = contexts.select("context", "name").drop_nulls().filter(pl.col("name") != "")
    return dict(named.iter_rows())


def stereotypes_of(contexts: pl.DataFrame) -> dict[str, str]:
    """Return the gender each stereotyped place goes with."""
    return dict(contexts.drop_nulls("stereotype").select("context", "stereotype").iter_rows())


def _design(evidence: Evidence, settings: ContextsSettings) -> Design:
    return Design(
        settings.genders,
        settings.gender,
        settings.factors,
        stereotypes_of(evidence.inputs["contexts"]),
        mixed=settings.mixed,
        seed=evidence.seed,
    )


def _ratings(evidence: Evidence) -> list[dict[str, Any]]:
    tables = [table for table in (evidence.inputs.get("ratings"), evidence.reviews) if table is not None]
    if not tables:
        return []
    rated = pl.concat(tables, how="diagonal").filter(pl.col("question").is_in(QUESTIONS))
    return list(ratings(rated)) if rated.height else []


def _check_genders(settings: ContextsSettings, typology: pl.DataFrame) -> None:
    known = set(typology["sub_cluster"].drop_nulls())
    for cluster in settings.genders:
        if cluster not in known:
            raise PortrayalError(
                f"[contexts] genders names the cluster {cluster!r}.{nearest(cluster, known)} Known: {', '.join(sorted(known))}."
            )
