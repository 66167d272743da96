"""The contexts audit: whether a tagger sees a person differently in a stereotyped place."""

from __future__ import annotations

from pathlib import Path

from portrayal.audits.contexts.figures import all_charts, report_tables
from portrayal.audits.contexts.findings import TEXTS, find_sentences, say_pictures
from portrayal.audits.contexts.measure import basis, clusters_read, groups_shown, measure, unread
from portrayal.audits.contexts.measures.design import FAMILY, SIDES, place_names
from portrayal.audits.contexts.power import say_power
from portrayal.audits.contexts.settings import ContextsSettings
from portrayal.audits.contexts.stimuli import make_stimuli, read_inputs
from portrayal.study.audit import Audit, Text
from portrayal.study.research_questions import declared_questions

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
    text=Text("tag", "lists of tags", "the typology", lambda settings: settings.languages),
    unread=unread,
    reading=clusters_read,
    level_names=lambda inputs: {"context": place_names(inputs["contexts"])} if "contexts" in inputs else {},
    shows=say_pictures,
    tables=report_tables,
    inputs=read_inputs,
    power=say_power,
    family=FAMILY,
    sides=SIDES,
    questions=declared_questions(TEXTS["questions"]),
    validity=tuple(TEXTS["validity"]),
    demo=(Path(__file__).parent / "studies" / "contexts.toml",),
)
