"""The captions audit: five representational harms in captions, and the stage at which they arise."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from portrayal.audits.captions.figures import all_charts, report_tables
from portrayal.audits.captions.findings import CLAIMS, TEXTS, find_sentences
from portrayal.audits.captions.inputs import read_inputs
from portrayal.audits.captions.measure import caption_read, measure, unread
from portrayal.audits.captions.measures.audit import PAIRED_TEST
from portrayal.audits.captions.measures.crossed import crossings
from portrayal.audits.captions.measures.standing_null import mark_shared
from portrayal.audits.captions.power import say_power
from portrayal.audits.captions.reading.stages import Stages
from portrayal.audits.captions.settings import CaptionsSettings
from portrayal.audits.captions.stimuli import make_stimuli
from portrayal.study.audit import Audit, Basis, Evidence, Text
from portrayal.study.research_questions import declared_questions

FAMILY = tuple(CLAIMS)


def groups_shown(evidence: Evidence, settings: CaptionsSettings) -> pl.DataFrame:
    """Return the group in each image on every annotated axis; the image is the unit."""
    people: pl.DataFrame = evidence.inputs["people"]
    own = people.select(pl.col("image").alias("stimulus"), "axis", "group", unit="image")
    crossed = crossings(Stages([], people=people)).items()
    pairs = [(image, axis, group, image) for axis, of in crossed for image, group in of.items()]
    return pl.concat([own, pl.DataFrame(pairs, schema=own.schema, orient="row")])


def basis(row: Mapping[str, Any], evidence: Evidence, settings: CaptionsSettings) -> Basis:
    """Return the images that a row rests on, and the systems it compares."""
    columns = tuple(name for name in ("axis", "group", "versus") if row[name])
    systems = [row["against"]] if row["measure"] == PAIRED_TEST else []
    if not row["axis"] or row["group"] == "all":
        return Basis(columns, systems=systems)
    people: pl.DataFrame = evidence.inputs["people"]
    if groups := crossings(Stages([], people=people)).get(row["axis"]):
        return Basis(columns, stimuli=[image for image, own in groups.items() if row["versus"] or own == row["group"]])
    members = people.filter(pl.col("group").is_in([row["group"], row["versus"] or row["group"]]), axis=row["axis"])
    return Basis(columns, stimuli=members["image"].unique(maintain_order=True).to_list(), systems=systems)


AUDIT = Audit(
    stem="captions",
    title="Captions",
    question="Which of five representational harms do captions do, and at which stage do they arise?",
    kind="captioner",
    settings=CaptionsSettings,
    stimuli=make_stimuli,
    measure=measure,
    charts=all_charts,
    findings=find_sentences,
    validity=tuple(TEXTS["validity"]),
    family=FAMILY,
    questions=declared_questions(TEXTS["questions"]),
    settle=mark_shared,
    kind_of=lambda row: row.get("kind") or "finding",
    groups=groups_shown,
    basis=basis,
    text=Text("caption", "captions", "the parser"),
    unread=unread,
    reading=caption_read,
    units="images",
    shows="pictures of people annotated {group}",
    names=TEXTS["names"],
    inputs=read_inputs,
    tables=report_tables,
    power=say_power,
    demo=(Path(__file__).parent / "studies" / "captions.toml",),
)
