"""The associations audit: whether an encoder ties an attribute to some people and not to others.

Stimuli are texts (and pictures, for encoders that see), asked once each however many sets they stand in. The
measure is `portrayal.audits.associations.measures`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import polars as pl

from portrayal.audits.associations.charts import charts
from portrayal.audits.associations.findings import MEASURES, findings, tables
from portrayal.audits.associations.measures.declared import measure
from portrayal.audits.associations.settings import AssociationsSettings
from portrayal.audits.associations.stimuli import declared_tests, make_stimuli
from portrayal.runs.audit import Audit
from portrayal.runs.study import Study

VALIDITY = (
    "d is a standardised difference of cosines. It says that an encoder keeps two groups of stimuli apart in their "
    "association, not how much a product built on it will; the same d can come with tiny or large cosines.",
    "The pooled deviation includes the difference between the groups, so d cannot pass 2 for sides of equal size; "
    "it is not Cohen's d and its common thresholds (0.2, 0.5, 0.8) do not carry over unchanged.",
    "The interval is over targets, with the attribute words fixed: other words for the same attribute are another "
    "question, which the specification curve asks.",
    "The p-value asks whether these targets could change sides. It does not ask whether the words stand for the "
    "people they are meant to stand for: a name is a poor measure of gender, race or age, assigned by others.",
    "A test without evidence is not a clean bill: it may be too small, or the wrong words.",
)


def _inputs(study: Study) -> Mapping[str, Any]:
    return {"tests": [asdict(test) for test in declared_tests(study)]}


def _power(study: Study, stimuli: pl.DataFrame) -> Sequence[str]:
    """Say for each test the smallest d it finds four times in five."""
    from portrayal.stats.power import smallest_difference

    lines = []
    for test in declared_tests(study):
        sides = (test.x, test.y) if test.y else (test.a, test.b)
        n_x, n_y = (len({item.stem or item.content for item in side}) for side in sides)
        within = smallest_difference(n_x, n_y, two_sided=study.settings.alternative == "two-sided")
        shares = n_x * n_y / (n_x + n_y) ** 2
        d = within / (1 + shares * within**2) ** 0.5  # from within-group to pooled deviation
        lines.append(f"{test.name}: {n_x} + {n_y} targets find d of {d:.2f} or more with 80% power")
    return lines


def _shipped(name: str) -> Path:
    return Path(__file__).parent / "studies" / name


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
    tables=tables,
    power=_power,
    demo=(_shipped("associations.toml"), _shipped("associations_templates.toml")),
)
