"""Checks of a contexts study's inputs: factors, labels, places, confidences, composed pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from portrayal.audits.contexts.settings import ContextsSettings
from portrayal.errors import PortrayalError, nearest
from portrayal.stats.tests.people import level_test
from portrayal.study.study import Study
from portrayal.systems.core.settings import SystemSettings
from portrayal.text.formatting import listed, percent
from portrayal.text.words.typology import load_contexts

USUAL = {"rekognition": 0.55}  # what a service leaves out unless it is asked for less; others say what they are sure of
UNSURE, MANY = 0.5, 0.25  # tags under this confidence are warned of where they are such a share
COMPOSED = {"person_share": "fill {} of the picture", "flagged": "have a remark on their cut-out in {} of cases"}
CHANCE, APART = 0.01, 0.1  # p of a check that differs by group, and the least difference of sizes that matters


def check_design(people: pl.DataFrame, study: Study) -> pl.DataFrame:
    """Return the people, or refuse an unknown factor, label or place."""
    settings: ContextsSettings = study.settings
    if people["person"].null_count() == people.height:
        raise PortrayalError(f"{settings.people} shows nobody. Expected one row per person; see docs/contexts.md.")
    wanted = {"factors": settings.factors, "gender": [settings.gender]}
    for factor in [name for key, names in wanted.items() if key in settings.model_fields_set for name in names]:
        if factor not in people.columns:
            raise PortrayalError(f"[contexts] names the factor {factor!r}, and {settings.people} has no such column."
                                 f"{nearest(factor, people.columns)} Found: {', '.join(people.columns)}.")  # fmt: skip
    known = [label for group in settings.genders.values() for label in group]
    for label in _strange(people, settings):
        if hint := nearest(label, known):
            raise PortrayalError(f"{settings.people} has the {settings.gender} {label!r}, which no group of [contexts] genders has."
                                 f"{hint} Known: {', '.join(known)}. Add it, or leave the cell empty.")  # fmt: skip
    contexts = load_contexts(study.folder / settings.contexts if settings.contexts else None)["context"].to_list()
    for place in sorted(set(people["context"].drop_nulls() if "context" in people.columns else ()) - {"", *contexts}):
        raise PortrayalError(f"{settings.people} has the place {place!r}, which the table of contexts does not know."
                             f"{nearest(place, contexts)} Known: {', '.join(contexts)}.")  # fmt: skip
    return people


def _strange(people: pl.DataFrame, settings: ContextsSettings) -> list[str]:
    """Return the labels of people's gender that no declared group has."""
    if settings.gender not in people.columns:
        return []
    labels = {str(one).strip() for one in people[settings.gender].drop_nulls().unique()}
    return sorted(labels - {"", *(label for group in settings.genders.values() for label in group)})


def unassigned(stimuli: pl.DataFrame, settings: ContextsSettings) -> list[str]:
    """Say of which labels of gender no group is declared."""
    return [
        f"The {settings.gender} {label!r} is in no group of [contexts] genders: its people are in no test by fitting a place."
        for label in _strange(stimuli, settings)
    ]


def usual_confidence(systems: Sequence[SystemSettings]) -> Mapping[str, float]:
    """Return the least confidence that each service gives by default, where one is known."""
    return {one.name: USUAL[one.use] for one in systems if one.use in USUAL}


def unsure(responses: pl.DataFrame) -> list[str]:
    """Warn of systems many of whose counted tags are more likely wrong than right."""
    scale = pl.when(pl.col("confidence").max().over("system") > 1).then(100.0).otherwise(1.0)
    sure = responses.filter(pl.col("tag").is_not_null()).with_columns(confidence=pl.col("confidence") / scale)
    shares = sure.group_by("system", maintain_order=True).agg((pl.col("confidence") < UNSURE).mean().alias("share"))
    return [
        f"{percent(share)} of {system}'s tags have a confidence under {UNSURE}, and count as all others: set least_confidence to what"
        " its users take."
        for system, share in shares.drop_nulls().iter_rows()
        if share >= MANY
    ]


def confounded(stimuli: pl.DataFrame, factors: Sequence[str]) -> list[str]:
    """Warn where people of a group are composed otherwise: smaller, or flagged more often."""
    if not {"person_share", "flags", "role"} <= set(stimuli.columns):
        return []
    portraits = stimuli.filter(pl.col("role").is_in(["baseline", "composite"]))
    named = [name for name in dict.fromkeys(factors) if name in portraits.columns]
    flagged = (pl.col("flags").fill_null("") != "").cast(pl.Float64).max().alias("flagged")
    each = portraits.group_by("person").agg(pl.col("person_share").mean(), flagged, pl.col(named).first())
    lines = [_differing(each, factor, column) for factor in named for column in COMPOSED]
    return [line for line in lines if line]


def _differing(each: pl.DataFrame, factor: str, column: str) -> str:
    """Say how groups differ in how they are composed, where chance would not do it."""
    known = each.drop_nulls([factor, column]).sort(factor, "person")
    values = known[column].to_numpy()
    groups = known[factor].cast(pl.String).rank("dense").to_numpy().astype(int) - 1
    means = known.group_by(factor, maintain_order=True).agg(pl.col(column).mean()).rows()
    sizes = [mean for _, mean in means]
    few = len(means) < 2 or max(sizes) - min(sizes) <= APART * max(sizes)
    if few or level_test(values, groups, np.arange(len(values))) >= CHANCE:
        return ""
    parts = listed([f"{group} people {COMPOSED[column].format(percent(mean))}" for group, mean in means])
    return f"Pictures differ by {factor} before any tag: {parts}. What differs between these groups may be this."
