"""Audit of encoders that tie an attribute to some people and not to others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import polars as pl

from portrayal.audits.associations.charts import charts
from portrayal.audits.associations.findings import MEASURES, findings, tables
from portrayal.audits.associations.measures.declaration import declared_test
from portrayal.audits.associations.measures.declared import measure
from portrayal.audits.associations.power import power_lines
from portrayal.audits.associations.settings import AssociationsSettings
from portrayal.audits.associations.shipped import shipped_study
from portrayal.audits.associations.stimuli import declared_tests, make_stimuli
from portrayal.study.audit import GROUPS, Audit, Evidence
from portrayal.study.study import Study

VALIDITY = (
    "d is a standardised difference of cosines. It says that an encoder keeps two groups of stimuli apart in their "
    "association, not how much a product built on it will; the same d can come with tiny or large cosines.",
    "The pooled deviation includes the difference between the groups, so d cannot pass 2 for sides of equal size; "
    "it is not Cohen's d and its common thresholds (0.2, 0.5, 0.8) do not carry over unchanged.",
    "The interval is over targets, with the attribute words fixed: other words for the same attribute are another "
    "question, which the specification curve asks by leaving out each of them in turn.",
    "The p-value asks whether these targets could change sides. It does not ask whether the words stand for the "
    "people they are meant to stand for: a name is a poor measure of gender, race or age, assigned by others.",
    "A test that was not found is not a clean bill: it may be too small, or the wrong words. One-sided tests look for the "
    "stereotype only, not for its opposite.",
)


def _inputs(study: Study) -> Mapping[str, Any]:
    return {"tests": [asdict(test) for test in declared_tests(study)]}


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


AUDIT = Audit(
    stem="associations",
    title="What an encoder ties to whom",
    question="Does an encoder tie emotions, professions or sex to some people and not to others?",
    kind="encoder",
    settings=AssociationsSettings,
    stimuli=make_stimuli,
    measure=measure,
    charts=charts,
    findings=findings,
    validity=VALIDITY,
    family=MEASURES,
    inputs=_inputs,
    groups=_groups,
    units="targets",
    shows="{group}",
    tables=tables,
    power=power_lines,
    demo=(shipped_study("associations.toml"), shipped_study("associations_templates.toml")),
)
