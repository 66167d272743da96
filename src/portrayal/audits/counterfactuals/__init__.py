"""Counterfactuals audit: whether labels follow the gender or race cue of a face."""

from __future__ import annotations

from pathlib import Path

from portrayal.audits.counterfactuals.charts import all_charts
from portrayal.audits.counterfactuals.findings import find_sentences
from portrayal.audits.counterfactuals.inputs import read_inputs
from portrayal.audits.counterfactuals.measure import basis, groups, measure, silence_groups
from portrayal.audits.counterfactuals.measures.rows import FAMILY
from portrayal.audits.counterfactuals.power import say_power
from portrayal.audits.counterfactuals.settings import CounterfactualsSettings
from portrayal.audits.counterfactuals.stimuli import make_stimuli, plan_stimuli
from portrayal.audits.counterfactuals.tables import report_tables
from portrayal.study.audit import Audit

AUDIT = Audit(
    stem="counterfactuals",
    title="Faces with one cue changed",
    question="Does a label become more likely as only the face's gender or race cue changes?",
    kind="tagger",
    settings=CounterfactualsSettings,
    stimuli=make_stimuli,
    planned=plan_stimuli,
    measure=measure,
    charts=all_charts,
    findings=find_sentences,
    tables=report_tables,
    inputs=read_inputs,
    power=say_power,
    family=FAMILY,
    groups=groups,
    basis=basis,
    silence_groups=silence_groups,
    shows="faces {group}",
    empty_answers=True,
    names={"raw_slope": "change of a label's share, absent at the centre", "slope_by_start": "slope by starting group"},
    validity=(
        "A slope is a system's response to what networks learnt to be a gender or race cue in photographs of "
        "strangers; it is not a person's gender or race, and the two ends are not two kinds of people.",
        "In face only series, as those that ship are, hair, body, clothes and place keep what they say "
        "about gender, so slopes understate what a whole picture would do. In whole series they may follow the cue, and a slope "
        "may be a response to them.",
        "In the faces that ship race is what readers taught on FairFace's labels take for it: skin, eyes, nose and mouth together. "
        "In photographs of one's own race is changed by the difference of two groups' mean faces, in shape and in colour: there a "
        "slope over race is a response to that, and far from 0 a face may be a caricature.",
        "The centre is itself synthetic; what it changes against the unedited photograph is printed beside the slopes.",
        "A manipulation can move more than its cue. The checks say what independent readers saw; no check sees everything, and "
        "there is no trusted reader of race.",
    ),
    demo=(Path(__file__).parent / "studies" / "counterfactuals.toml",),
)
