"""Counterfactuals audit: whether labels follow the gender or race cue of a face."""

from __future__ import annotations

from pathlib import Path

from portrayal.audits.counterfactuals.charts import all_charts
from portrayal.audits.counterfactuals.findings import find_sentences
from portrayal.audits.counterfactuals.inputs import read_inputs
from portrayal.audits.counterfactuals.measure import basis, groups, measure, silence_groups
from portrayal.audits.counterfactuals.measures.rows import FAMILY
from portrayal.audits.counterfactuals.power import plan_lines
from portrayal.audits.counterfactuals.settings import TEXTS, CounterfactualsSettings
from portrayal.audits.counterfactuals.stimuli import make_stimuli, plan_stimuli
from portrayal.audits.counterfactuals.tables import report_tables
from portrayal.study.audit import Audit
from portrayal.study.research_questions import declared_questions

AUDIT = Audit(
    stem="counterfactuals",
    kind="tagger",
    settings=CounterfactualsSettings,
    stimuli=make_stimuli,
    planned=plan_stimuli,
    measure=measure,
    charts=all_charts,
    findings=find_sentences,
    tables=report_tables,
    inputs=read_inputs,
    power=plan_lines,
    family=FAMILY,
    sides={"raw_slope": "label"},
    questions=declared_questions(TEXTS["questions"]),
    groups=groups,
    basis=basis,
    silence_groups=silence_groups,
    shows="faces {group}",
    empty_answers=True,
    tested_as={"slope": "raw_slope"},
    **TEXTS["audit"],
    demo=(Path(__file__).parent / "studies" / "counterfactuals.toml",),
)
