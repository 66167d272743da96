"""Measure of the contexts audit: from tags of pictures to results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import polars as pl

from portrayal.audits.contexts.findings import remarks_of, warnings_of
from portrayal.audits.contexts.measures.coding import QUESTIONS, agreement, extend, queue, rating_table, ratings
from portrayal.audits.contexts.measures.design import FACETS, FAMILY, Design, place_names, stereotypes_of
from portrayal.audits.contexts.measures.pictures import WordLists, coverage_by_system, describe_pictures, unknown_tags
from portrayal.audits.contexts.measures.questions import Places, answers_and_differences, at_thresholds, confident
from portrayal.audits.contexts.measures.views import BASELINE
from portrayal.audits.contexts.settings import ContextsSettings
from portrayal.errors import PortrayalError, nearest
from portrayal.study.audit import Basis, Evidence, Measured, basis_of, groups_by
from portrayal.tables import results

OF_INFERRED = ("recognition_independence", "expectancy", "expectancy_of_place", "place_rating")  # groups nobody shows


def measure(evidence: Evidence, settings: ContextsSettings) -> Measured:
    """Answer the four questions for every system of the study."""
    inputs = evidence.inputs
    lists = WordLists(extend(inputs["typology"], evidence.reviews), inputs["context_tags"])
    design = Design(
        _genders(settings, lists.typology), settings.gender, settings.factors, stereotypes_of(inputs["contexts"]),
        mixed=settings.mixed, described=settings.described, seed=evidence.seed,
    )  # fmt: skip

    def answer(responses: pl.DataFrame, only: Places | None = None) -> tuple[pl.DataFrame, pl.DataFrame]:
        pictures = describe_pictures(evidence.stimuli, responses, lists, list(design.genders))
        return answers_and_differences(pictures, replace(design, only=only))

    counted = confident(evidence.responses, settings.least_confidence)
    answered, differences = answer(counted)
    further = [least for least in settings.confidences if least > settings.least_confidence]
    again = at_thresholds(answered, counted, further, FAMILY, lambda responses, only: answer(responses, only)[0])
    reviews = [table for table in (inputs.get("ratings"), evidence.reviews) if table is not None]
    joined = pl.concat(reviews, how="diagonal") if reviews else pl.DataFrame(schema={"question": pl.String})
    rated = joined.filter(pl.col("question").is_in(QUESTIONS))
    judged = [*(ratings(rated) if rated.height else ()), *agreement(evidence.reviews, evidence.seed)]
    named = pl.col("place").replace(place_names(inputs["contexts"]))
    of_people = results(judged, facets=FACETS, audit="contexts")
    rows = pl.concat([answered, again, of_people]).with_columns(named)
    unknown = unknown_tags(counted, lists)
    tables = {"unknown_tags": unknown.head(500), "coverage": coverage_by_system(counted, lists)}
    if rated.height:
        tables["ratings"] = rating_table(rated).with_columns(named)
    pictures = {name: inputs[name] for name in ("contact_sheet", "places") if inputs.get(name)}
    remarks = remarks_of(rows, inputs, settings.factors)
    return Measured(rows, tables, warnings_of(rows, inputs), queue(unknown), pictures, differences, remarks=remarks)


def groups_shown(evidence: Evidence, settings: ContextsSettings) -> pl.DataFrame:
    """Return the groups of people and places that each picture shows, overall and within places."""
    names = place_names(evidence.inputs["contexts"])
    stimuli = evidence.stimuli.filter(pl.col("person").is_not_null())
    people = stimuli.with_columns(place=pl.col("context").replace(names))
    axes = list(dict.fromkeys([settings.gender, *settings.factors]))
    overall = groups_by(people, [*axes, "place"], "person").with_columns(within=pl.lit(None, pl.String))
    placed = people.select("stimulus", within="place").drop_nulls()
    return pl.concat([overall, groups_by(people, axes, "person").join(placed, on="stimulus")])


def basis(row: Mapping[str, Any], evidence: Evidence, settings: ContextsSettings) -> Basis:
    """Return the pictures that a row rests on: in its place, of its groups."""
    codes = {name: code for code, name in place_names(evidence.inputs["contexts"]).items()}
    place = "role" if row["place"] == BASELINE else "context"
    factors = {"place": place, "background": "background"}
    if (row["of"] or row["measure"]) not in OF_INFERRED:
        groups = {name: str(row[name]).split(", ") for name in ("group", "versus") if row[name]}
        cells = {len(levels) for levels in groups.values()} - {1}
        varied = settings.factors if cells else [row["factor"] or settings.gender]
        levels = {axis: [cell[at] for cell in groups.values()] for at, axis in enumerate(varied) if groups}
    else:
        groups, levels = {}, {}
    own = basis_of({**row, "place": codes.get(row["place"], row["place"])}, factors)
    return Basis((*groups, *own.columns), {**own.factors, **levels})


def _genders(settings: ContextsSettings, typology: pl.DataFrame) -> dict[str, list[str]]:
    """Return the gender clusters that a study names, or those usual ones that exist."""
    known = set(typology["sub_cluster"].drop_nulls())
    for cluster in settings.genders if "genders" in settings.model_fields_set else ():
        if cluster not in known:
            hint = f"{nearest(cluster, known)} Known: {', '.join(sorted(known))}."
            raise PortrayalError(f"[contexts] genders names the cluster {cluster!r}.{hint}")
    return {cluster: labels for cluster, labels in settings.genders.items() if cluster in known}
