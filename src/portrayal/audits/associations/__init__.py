"""Audit of encoders that tie an attribute to some people and not to others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import polars as pl

from portrayal.audits.associations.charts import charts
from portrayal.audits.associations.findings import MEASURES, findings, is_check, tables
from portrayal.audits.associations.measures.declaration import SETS, declared_test
from portrayal.audits.associations.measures.declared import measure
from portrayal.audits.associations.power import power_lines
from portrayal.audits.associations.settings import AssociationsSettings
from portrayal.audits.associations.shipped import TEXTS, shipped_study
from portrayal.audits.associations.stimuli import declared_tests, make_stimuli
from portrayal.study.audit import GROUPS, Audit, Basis, Evidence
from portrayal.study.research_questions import declared_questions


def _groups(evidence: Evidence, settings: AssociationsSettings) -> pl.DataFrame:
    """Return the side of each target: some people's names may be known less often."""
    rows = [
        {
            "stimulus": item.content,
            "axis": f"{test.x_name} and {test.y_name}",
            "group": called,
            "unit": item.cluster or item.content,
        }
        for test in map(declared_test, evidence.inputs["tests"])
        if test.y
        for called, side in ((test.x_name, test.x), (test.y_name, test.y))
        for item in side
    ]
    return pl.DataFrame(rows, schema=dict.fromkeys(GROUPS, pl.String)).unique(maintain_order=True)


def _basis(row: Mapping[str, Any], evidence: Evidence, settings: AssociationsSettings) -> Basis:
    """Return the texts and pictures of a row's test."""
    tests = {test.name: test for test in map(declared_test, evidence.inputs["tests"])}
    test = tests.get(row["test"])
    items = [item.content for name in SETS for item in test.items(name)] if test else []
    return Basis(("test",) if test else (), stimuli=list(dict.fromkeys(items)))


ASSOCIATIONS = dict(TEXTS["associations"])

AUDIT = Audit(
    stem="associations",
    settings=AssociationsSettings,
    stimuli=make_stimuli,
    measure=measure,
    charts=charts,
    findings=findings,
    family=MEASURES,
    kind_of=lambda row: "check" if is_check(row) else "finding",
    inputs=lambda study: {"tests": [asdict(test) for test in declared_tests(study)]},
    groups=_groups,
    basis=_basis,
    tables=tables,
    power=power_lines,
    demo=(shipped_study("associations.toml"), shipped_study("associations_templates.toml")),
    questions=declared_questions(ASSOCIATIONS.pop("questions")),
    **ASSOCIATIONS,
)
