"""A measured run as the report takes it: its section, and its sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from portrayal.errors import PortrayalError
from portrayal.reporting.answers.answers import READ, answers_of
from portrayal.reporting.answers.behind import Bases, level_names
from portrayal.reporting.page.section import Section
from portrayal.reporting.page.systems import shown_names
from portrayal.reporting.words.sentences import in_order
from portrayal.reporting.words.silence import silence_findings
from portrayal.run.contents import MEND, RECORD, read_inputs, read_measured, study_of
from portrayal.run.folder import Run, kept_json, kept_table
from portrayal.run.silence import silent_in
from portrayal.run.status import states_table
from portrayal.study.audit import Audit, Evidence, Finding, Measured
from portrayal.study.registry import get_audit
from portrayal.study.study import Study


def find(study: Study, measured: Measured) -> list[Finding]:
    """Put what was measured into sentences, each with its row; found ones first.

    Of a system that answered nothing only that is said.
    """
    stem = get_audit(study.audit)
    silence = silence_findings(measured, stem)
    silent = silent_in(measured.results)
    said = stem.findings(measured, study.settings)
    for finding in said:
        if not 0 <= finding.row < measured.results.height:
            raise PortrayalError(
                f"the audit {stem.stem!r} says {finding.sentence!r} of row {finding.row}, and there are"
                f" {measured.results.height}. Expected the number of the row the sentence speaks of."
            )
    kept = [finding for finding in said if measured.results["system"][finding.row] not in silent]
    return in_order([*kept, *silence], measured.results)


def read_section(run: Run, earlier: Sequence[str] = ()) -> Section:
    """Read a measured run; `earlier` are the stems of sections before it."""
    study = study_of(run)
    stem: Audit = get_audit(study.audit)
    manifest: dict[str, Any] = kept_json(run.manifest, dict, RECORD)
    systems = [one for one in manifest.get("systems") or [] if isinstance(one, dict)]
    measured = replace(read_measured(run), shown_names=shown_names(systems))
    count = earlier.count(stem.stem)
    inputs = read_inputs(run) if run.inputs.is_dir() else {}
    stimuli = kept_table(run.stimuli, RECORD)
    return Section(
        audit=stem,
        study_name=study.name,
        measured=measured,
        charts=stem.charts(as_shown(measured), study.settings),
        findings=find(study, measured),
        tables=stem.tables(measured, study.settings),
        systems=systems,
        states=states_table(run),
        manifest=manifest,
        anchor=stem.stem if not count else f"{stem.stem}-{count + 1}",
        stimuli=stimuli,
        bases=Bases(stem, study.settings, Evidence(stimuli, pl.DataFrame(), inputs)),
        answers=read_answers(run, stem.kind),
        level_names=level_names(inputs),
        documents=stem.documents(inputs),
    )


def as_shown(measured: Measured) -> Measured:
    """Give systems the names that readers see, in results and tables, for charts to draw."""
    tables = {name: _renamed(table, measured.shown_names) for name, table in measured.tables.items()}
    return replace(measured, results=_renamed(measured.results, measured.shown_names), tables=tables)


def _renamed(table: pl.DataFrame, names: Mapping[str, str]) -> pl.DataFrame:
    if table.schema.get("system") != pl.String or not names:
        return table
    return table.with_columns(pl.col("system").replace(dict(names)))


def read_answers(run: Run, kind: str) -> pl.DataFrame | None:
    """Return one row per question with its readings; None where they are gone."""
    if not run.responses.exists():
        return None
    responses = kept_table(run.responses, MEND)
    return answers_of(responses, kind) if READ[kind][0] in responses.columns else None
