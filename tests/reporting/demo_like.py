"""A report like the demonstration's: every audit and experiment on a small study, measured, with pictures where the demo has some."""

from __future__ import annotations

import io
from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import Any

import polars as pl
from PIL import Image

from portrayal.reporting.answers.answers import answers_of
from portrayal.reporting.answers.behind import Bases
from portrayal.reporting.page.section import STATES, Section, as_shown, find, shown_names
from portrayal.run.measurement import measure_evidence
from portrayal.study.audit import Audit, Measured
from portrayal.study.registry import AUDITS, EXPERIMENTS, get_audit
from portrayal.study.study import Study

EVERY = (*AUDITS, *EXPERIMENTS)
# As large as those of the demonstration.
PICTURES = {
    "contexts": {"places": (640, 296), "contact_sheet": (1688, 820)},
    "counterfactuals": {"strip_gender": (1024, 384), "strip_race": (768, 384)},
}
STATE_OF = {"answered": "done", "empty": "done"}


@cache
def demo_like() -> list[Section]:
    """Return one section of every audit and experiment."""
    sections: list[Section] = []
    for name in EVERY:
        earlier = sum(section.audit.stem == get_audit(name).stem for section in sections)
        sections.append(_section(name, earlier))
    return sections


def _section(name: str, earlier: int) -> Section:
    study, evidence = import_module(f"properties.case_{name.replace('/', '_')}").case()
    audit = get_audit(name)
    systems = [{"name": one.name, "use": one.use} for one in study.systems] or _answering(evidence.responses)
    measured = replace(measure_evidence(study, evidence), shown_names=shown_names(systems))
    measured = replace(measured, pictures={**measured.pictures, **_pictures(name)})
    return Section(
        audit=audit,
        study_name=f"{audit.title}, in small",
        measured=measured,
        findings=find(study, measured),
        systems=systems,
        states=_states(evidence.responses),
        manifest={"study": name, "seed": study.seed, "family": {"method": "holm", "measures": None}},
        anchor=audit.stem if not earlier else f"{audit.stem}-{earlier + 1}",
        stimuli=evidence.stimuli,
        answers=answers_of(evidence.responses, audit.kind),
        bases=Bases(audit, study.settings, evidence),
        level_names=audit.level_names(evidence.inputs),
        documents=audit.documents(evidence.inputs),
        **_shown(audit, measured, study),
    )


def _shown(audit: Audit, measured: Measured, study: Study) -> dict[str, Any]:
    return {
        "charts": audit.charts(as_shown(measured), study.settings),
        "tables": audit.tables(measured, study.settings),
    }


def _answering(responses: pl.DataFrame) -> list[dict[str, Any]]:
    return [{"name": name, "use": "recorded"} for name in responses["system"].unique(maintain_order=True)]


def _states(responses: pl.DataFrame) -> pl.DataFrame:
    asked = responses.unique(["system", "stimulus", "repeat"], maintain_order=True)
    counted = asked.with_columns(state=pl.col("status").replace(STATE_OF)).group_by("system", maintain_order=True)
    return counted.agg(*((pl.col("state") == state).sum().alias(state) for state in STATES))


def _pictures(name: str) -> dict[str, bytes]:
    made = {}
    for picture, size in PICTURES.get(name, {}).items():
        written = io.BytesIO()
        Image.new("RGB", size, (120, 130, 140)).save(written, "PNG")
        made[picture] = written.getvalue()
    return made
