"""A measured run as the report takes it: its section, and its sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from portrayal.errors import PortrayalError
from portrayal.report.section import Section
from portrayal.report.sentences import in_order
from portrayal.report.silence import silence_findings
from portrayal.report.systems import shown_names
from portrayal.runs.audit import Audit, Finding, Measured
from portrayal.runs.evidence import RECORD, study_of
from portrayal.runs.kept import kept_json, kept_table
from portrayal.runs.measured import read_measured
from portrayal.runs.registry import get_audit
from portrayal.runs.run import Run
from portrayal.runs.silence import silent_in
from portrayal.runs.status import states_table
from portrayal.runs.study import Study


def find(study: Study, measured: Measured) -> list[Finding]:
    """Put what was measured into sentences, each with the row it speaks of: found first, then what cannot be said.

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
    """Read a measured run; `earlier` are the stems of the sections before it, since every section has an id of its own."""
    study = study_of(run)
    stem: Audit = get_audit(study.audit)
    manifest: dict[str, Any] = kept_json(run.manifest, dict, RECORD)
    systems = [one for one in manifest.get("systems") or [] if isinstance(one, dict)]
    measured = replace(read_measured(run), shown_names=shown_names(systems))
    count = earlier.count(stem.stem)
    return Section(
        audit=stem,
        study_name=study.name,
        measured=measured,
        charts=stem.charts(measured, study.settings),
        findings=find(study, measured),
        tables=stem.tables(measured, study.settings),
        systems=systems,
        states=states_table(run),
        manifest=manifest,
        anchor=stem.stem if not count else f"{stem.stem}-{count + 1}",
        stimuli=kept_table(run.stimuli, RECORD),
    )
