"""The counterfactuals audit: does a label become more likely as only the face's gender or race cue changes."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from portrayal.audits.counterfactuals.charts import all_charts
from portrayal.audits.counterfactuals.findings import find_sentences
from portrayal.audits.counterfactuals.inputs import read_inputs
from portrayal.audits.counterfactuals.measure import measure
from portrayal.audits.counterfactuals.settings import CounterfactualsSettings
from portrayal.audits.counterfactuals.stimuli import make_stimuli
from portrayal.audits.counterfactuals.tables import report_tables
from portrayal.runs.audit import Audit
from portrayal.runs.study import Study


def say_power(study: Study, stimuli: pl.DataFrame) -> list[str]:
    """Say, for `portrayal plan`, what the exact test can show with this many source images."""
    settings: CounterfactualsSettings = study.settings
    clusters = stimuli[settings.cluster].n_unique()
    smallest = 2.0 ** (1 - clusters)
    return [
        f"{clusters} clusters ({settings.cluster}): the reversal test's smallest p is {smallest:.2g} before correction"
    ]


AUDIT = Audit(
    stem="counterfactuals",
    title="Faces with one cue changed",
    question="Does a label become more likely as only the face's gender or race cue changes?",
    kind="tagger",
    settings=CounterfactualsSettings,
    stimuli=make_stimuli,
    measure=measure,
    charts=all_charts,
    findings=find_sentences,
    tables=report_tables,
    inputs=read_inputs,
    power=say_power,
    family=("slope",),
    validity=(
        "A slope is a system's response to what a small network learnt to be a gender or race cue in photographs of "
        "strangers; it is not a person's gender or race, and the two ends are not two kinds of people.",
        "Only the face changes. Hair, body, clothes and place keep what they say about gender, so slopes understate what a whole "
        "picture would do.",
        "The model that ships varies race as an even tint of the skin: a slope over race is a response to skin tone, not to descent.",
        "The centre is itself synthetic; what it changes against the unedited photograph is printed beside the slopes.",
        "A manipulation can move more than its cue. The checks say what independent readers saw; no check sees everything, and "
        "there is no trusted reader of race.",
        "Values beyond -1 and 1 lie outside what was seen in training.",
    ),
    demo=(Path(__file__).parent / "studies" / "counterfactuals.toml",),
)
