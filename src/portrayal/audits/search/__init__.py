"""The search audit: do result lists repeat the gender stereotype in the query? Docs: docs/search.md."""

from __future__ import annotations

from pathlib import Path

from portrayal.audits.search.calibration import say_power
from portrayal.audits.search.figures import charts
from portrayal.audits.search.findings import TEXTS, findings
from portrayal.audits.search.inputs import document_words, inputs
from portrayal.audits.search.measure import FAMILY, basis, measure, unread
from portrayal.audits.search.settings import SearchSettings
from portrayal.audits.search.stimuli import groups, stimuli
from portrayal.audits.search.tables import tables
from portrayal.study.audit import Audit
from portrayal.study.research_questions import declared_questions

AUDIT = Audit(
    stem="search",
    title="Search: gender stereotype reinforcement",
    question="Do result lists repeat the gender stereotype in the query?",
    kind="ranker",
    settings=SearchSettings,
    stimuli=stimuli,
    measure=measure,
    charts=charts,
    findings=findings,
    validity=TEXTS["validity"],
    family=FAMILY,
    questions=declared_questions(TEXTS["questions"]),
    kind_of=lambda row: "improvement" if row["measure"] == "gsr_change" and (row["value"] or 0) < 0 else "finding",
    groups=groups,
    basis=basis,
    unread=unread,
    units="queries",
    shows="queries that lean {group}",
    inputs=inputs,
    tables=tables,
    power=say_power,
    documents=document_words,
    demo=(Path(__file__).parent / "studies" / "search.toml",),
)
