"""The contexts audit: whether a tagger sees a person differently in a stereotyped place."""

from __future__ import annotations

from pathlib import Path

from portrayal.audits.contexts.figures import all_charts, report_tables
from portrayal.audits.contexts.findings import find_sentences, say_pictures
from portrayal.audits.contexts.measure import basis, groups_shown, measure
from portrayal.audits.contexts.measures.design import FAMILY, place_names
from portrayal.audits.contexts.power import say_power
from portrayal.audits.contexts.settings import ContextsSettings
from portrayal.audits.contexts.stimuli import make_stimuli, read_inputs
from portrayal.study.audit import Audit

AUDIT = Audit(
    stem="contexts",
    title="People in stereotyped places",
    question="Does a tagger see a person differently in a stereotyped place?",
    kind="tagger",
    settings=ContextsSettings,
    stimuli=make_stimuli,
    measure=measure,
    charts=all_charts,
    findings=find_sentences,
    groups=groups_shown,
    basis=basis,
    level_names=lambda inputs: {"context": place_names(inputs["contexts"])} if "contexts" in inputs else {},
    shows=say_pictures,
    tables=report_tables,
    inputs=read_inputs,
    power=say_power,
    family=FAMILY,
    validity=(
        "A composite is not a photograph: the person's light and edges do not belong to the place.",
        "Gender is what the tagger says and what the data set's label says; neither is who somebody is.",
        "A place counts as recognised when one tag is in its dictionary; drawn backgrounds are stand-ins for photographs.",
        "The typology decides what is abstract or concrete; its coverage stands with every row.",
        "A tagger that names no gender has no stereotype to show here; its share of neutral answers is printed beside it.",
    ),
    demo=(Path(__file__).parent / "studies" / "contexts.toml",),
)
