"""Measure of the contexts audit: from tags of pictures to results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import polars as pl

from portrayal.audits.contexts.findings import remarks_of, warnings_of
from portrayal.audits.contexts.input_checks import confounded, unassigned, unsure
from portrayal.audits.contexts.measures.coding import QUESTIONS, agreement, extend, queue, rating_table, ratings
from portrayal.audits.contexts.measures.design import FACETS, FAMILY, Design, place_names, stereotypes_of
from portrayal.audits.contexts.measures.pictures import WordLists, coverage_by_system, describe_pictures, unknown_tags
from portrayal.audits.contexts.measures.questions import Places, answers_and_differences, at_thresholds, confident
from portrayal.audits.contexts.measures.rq3_errors import CROSSED
from portrayal.audits.contexts.measures.views import BASELINE
from portrayal.audits.contexts.settings import ContextsSettings
from portrayal.errors import PortrayalError, nearest
from portrayal.study.audit import Basis, Evidence, Measured, basis_of, groups_by
from portrayal.tables import results
from portrayal.text.formatting import listed, percent, plural
from portrayal.text.words.typology import classify_tags

SHOWN = 12  # tags of an answer whose clusters `portrayal try` prints
LEAST_KNOWN = 0.2  # share of a tagger's tags that a list must know; of services in English nine in ten are known
OF_INFERRED = ("recognition_independence", "expectancy", "expectancy_of_place", "place_rating")  # groups nobody shows


def measure(evidence: Evidence, settings: ContextsSettings) -> Measured:
    """Answer the four questions for every system of the study."""
    inputs = evidence.inputs
    lists = WordLists(extend(inputs["typology"], evidence.reviews), inputs["context_tags"])
    design = Design(
        _genders(settings, lists.typology), settings.gender, settings.factors, stereotypes_of(inputs["contexts"]),
        mixed=settings.mixed, described=settings.described, seed=evidence.seed,
        tolerance=settings.misgendering_tolerance,
    )  # fmt: skip

    def answer(responses: pl.DataFrame, only: Places | None = None) -> tuple[pl.DataFrame, pl.DataFrame]:
        pictures = describe_pictures(evidence.stimuli, responses, lists, list(design.genders))
        return answers_and_differences(pictures, replace(design, only=only))

    usual = inputs.get("least_confidence", {}) if settings.least_confidence is None else settings.least_confidence
    counted = confident(evidence.responses, usual)
    answered, differences = answer(counted)
    thresholds, raw = settings.confidences, evidence.responses
    again = at_thresholds(answered, counted, thresholds, FAMILY, lambda table, only: answer(table, only)[0], raw)
    reviews = [table for table in (inputs.get("ratings"), evidence.reviews) if table is not None]
    joined = pl.concat(reviews, how="diagonal") if reviews else pl.DataFrame(schema={"question": pl.String})
    rated = joined.filter(pl.col("question").is_in(QUESTIONS))
    judged = [*(ratings(rated) if rated.height else ()), *agreement(evidence.reviews)]
    named = pl.col("place").replace(place_names(inputs["contexts"]))
    of_people = results(judged, facets=FACETS, audit="contexts")
    rows = pl.concat([answered, again, of_people]).with_columns(named)
    unknown = unknown_tags(counted, lists)
    tables = {"unknown_tags": unknown.head(500), "coverage": coverage_by_system(counted, lists)}
    if rated.height:
        tables["ratings"] = rating_table(rated).with_columns(named)
    pictures = {name: inputs[name] for name in ("contact_sheet", "places") if inputs.get(name)}
    remarks = [*remarks_of(rows, inputs, settings.factors), *unassigned(evidence.stimuli, settings)]
    warnings = [*warnings_of(rows, inputs), *unsure(counted), *confounded(evidence.stimuli, settings.factors)]
    return Measured(rows, tables, warnings, queue(unknown), pictures, differences, remarks=remarks)


def unread(evidence: Evidence, settings: ContextsSettings) -> dict[str, str]:
    """Return the taggers whose tags hardly any list knows, each with the reason."""
    inputs = evidence.inputs
    lists = WordLists(*(inputs[name] for name in ("typology", "context_tags"))) if inputs else WordLists()
    known = coverage_by_system(evidence.responses.filter(pl.col("tag").is_not_null()), lists)
    return {
        system: f"this tagger's tags are not read: the lists know {percent(share)} of {plural(uses, 'tag')}, and"
        f" {percent(LEAST_KNOWN)} is the least"
        for system, uses, share in known.select("system", "uses", "of_uses").iter_rows()
        if share < LEAST_KNOWN
    }


def clusters_read(rows: Sequence[Mapping[str, Any]], settings: ContextsSettings) -> list[str]:
    """Say which clusters and groups each tag of an answer is read as."""
    table = classify_tags(list(dict.fromkeys(row["tag"] for row in rows))[:SHOWN])
    clusters = pl.concat_str("super_cluster", "sub_cluster", separator=": ", ignore_nulls=True)
    each = table.group_by("tag", maintain_order=True).agg(clusters.replace("", None).drop_nulls())
    return [f"{tag}: {listed(read) or 'not known'}" for tag, read in each.iter_rows()]


def groups_shown(evidence: Evidence, settings: ContextsSettings) -> pl.DataFrame:
    """Return the groups of people and places that each picture shows, overall and within places."""
    names = place_names(evidence.inputs["contexts"])
    stimuli = evidence.stimuli.filter(pl.col("person").is_not_null())
    people = stimuli.with_columns(place=pl.col("context").replace(names))
    axes = list(dict.fromkeys([settings.gender, *settings.factors]))
    crossed = list(combinations([axis for axis in axes if axis in people.columns], 2))
    both = people.with_columns(
        pl.concat_str(pl.col(two), pl.col(one), separator=" ").alias(f"{one}{CROSSED}{two}") for one, two in crossed
    )
    named = [*axes, *(CROSSED.join(pair) for pair in crossed), "place"]
    overall = groups_by(both, named, "person").with_columns(within=pl.lit(None, pl.String))
    placed = people.select("stimulus", within="place").drop_nulls()
    return pl.concat([overall, groups_by(people, axes, "person").join(placed, on="stimulus")])


def basis(row: Mapping[str, Any], evidence: Evidence, settings: ContextsSettings) -> Basis:
    """Return the pictures that a row rests on: in its place, of its groups."""
    if CROSSED in (row["factor"] or ""):
        one, two = row["factor"].split(CROSSED)
        crossed = pl.concat_str(pl.col(two), pl.col(one), separator=" ")
        pictured = evidence.stimuli if row["group"] is None else evidence.stimuli.filter(crossed == row["group"])
        return Basis(("group",), stimuli=pictured["stimulus"].to_list())
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
