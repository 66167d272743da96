"""The work of a study: its stimuli, its systems, and the questions that follow from both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import polars as pl

from portrayal.errors import PortrayalError
from portrayal.safety.gated import open_guarded
from portrayal.study.lazy_questions import Questions, Shown
from portrayal.study.pictures import refuse_pictures_outside
from portrayal.study.registry import get_audit
from portrayal.study.study import Study
from portrayal.systems.core.base import Question, System
from portrayal.systems.core.spread import spread
from portrayal.tables import check_stimuli

# Each system with its questions by ledger key; stimuli of the same content share a key and an answer.
Work: TypeAlias = Sequence[tuple[System, Mapping[str, Sequence[Question]]]]

NO_CONSENT = ("", "none", "unknown")


def make_stimuli(study: Study, planned: bool = False) -> pl.DataFrame:
    """Make and check the study's stimuli; for a plan, without making what takes long."""
    audit_of_study = get_audit(study.audit)
    make = audit_of_study.planned if planned and audit_of_study.planned else audit_of_study.stimuli
    stimuli = check_stimuli(make(study))
    refuse_pictures_outside(study, stimuli)
    return stimuli


def plan_work(study: Study, stimuli: pl.DataFrame) -> Work:
    """Return each system of the study with its questions by ledger key."""
    audit_of_study = get_audit(study.audit)
    work: list[tuple[System, Questions]] = []
    seen: dict[str, str] = {}
    shown = Shown(stimuli, study.repeats)
    for settings in study.systems:
        system = open_guarded(settings, study.folder, audit_of_study.kind)
        system = spread(system, settings, study.folder, audit_of_study.kind)
        questions = Questions(system, shown)
        _refuse_same_system_twice(system, questions, seen)
        work.append((system, questions))
    return work


def refuse_without_consent(work: Work, stimuli: pl.DataFrame) -> None:
    """Keep pictures of people on this machine unless the study records consent or licence."""
    said = stimuli.filter(pl.col("kind") == "image")["consent"].str.strip_chars().str.to_lowercase()
    if not said.is_in(NO_CONSENT).any():
        return
    for system, table in work:
        for same in table.values() if system.remote else ():
            question = same[0]
            if question.kind == "image" and question.consent.strip().lower() in NO_CONSENT:
                raise PortrayalError(
                    f"stimulus {question.stimulus!r} has no recorded consent or licence, so {system.name!r} must not"
                    " see it. Record one in the stimuli's `consent` column, or use a local system."
                )


def _refuse_same_system_twice(
    system: System, questions: Mapping[str, Sequence[Question]], seen: dict[str, str]
) -> None:
    """Refuse two systems that are one: their questions would be paid for once and counted twice."""
    key = next(iter(questions))
    if key in seen:
        raise PortrayalError(f"systems {seen[key]!r} and {system.name!r} ask the same thing. Remove one of them.")
    seen[key] = system.name
