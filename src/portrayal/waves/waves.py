"""Waves of one study: runs of the same questions, cut to what all asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import Any

import polars as pl

from portrayal.errors import PortrayalError
from portrayal.run.evidence import RECORD, evidence_of, study_of
from portrayal.run.folder import existing_run, kept_json, refuse_redacted
from portrayal.run.lock import reading
from portrayal.run.measurement import measure_evidence
from portrayal.study.audit import Evidence, Measured
from portrayal.study.registry import get_audit
from portrayal.study.study import Study


@dataclass(frozen=True)
class Wave:
    """One run of a study: what was answered, and what was measured of it."""

    name: str
    study: Study
    evidence: Evidence
    measured: Measured
    manifest: Mapping[str, Any]


def read_waves(folders: Sequence[Path | str]) -> list[Wave]:
    """Read runs of one study and measure what all asked; calls no system."""
    if len(folders) < 2:
        raise PortrayalError(
            f"{len(folders)} run was given. Expected two or more waves of one study, the earliest first."
        )
    if len({Path(folder).resolve() for folder in folders}) < len(folders):
        raise PortrayalError("a run was given twice. Expected waves recorded into folders of their own.")
    raw = [_read(folder) for folder in folders]
    names = _names([Path(folder) for folder in folders])
    shared = _shared(raw)
    return [
        make_wave(name, study, _cut(evidence, shared), manifest)
        for name, (study, evidence, manifest) in zip(names, raw, strict=True)
    ]


def make_wave(name: str, study: Study, evidence: Evidence, manifest: Mapping[str, Any] | None = None) -> Wave:
    """Measure evidence as a wave of its own."""
    return Wave(name, study, evidence, measure_evidence(study, evidence), manifest or {})


def units_of(wave: Wave) -> pl.DataFrame:
    """Return stimulus and unit: the person that a stimulus shows."""
    groups = get_audit(wave.study.audit).groups(wave.evidence, wave.study.settings)
    grouped = groups.select("stimulus", "unit").unique("stimulus", maintain_order=True)
    stimuli = wave.evidence.stimuli
    if "person" not in stimuli.columns:
        return grouped
    # A picture of somebody that is in no group (a series' middle) is still theirs.
    of_person = stimuli.select("stimulus", unit=pl.col("person").cast(pl.String)).drop_nulls()
    return pl.concat([grouped, of_person.join(grouped, on="stimulus", how="anti")])


def _read(folder: Path | str) -> tuple[Study, Evidence, dict[str, Any]]:
    run = existing_run(folder)
    refuse_redacted(run)
    with reading(run):
        study = study_of(run)
        return study, evidence_of(study, run), kept_json(run.manifest, dict, RECORD)


def _names(folders: Sequence[Path]) -> list[str]:
    """Name waves by their folders; by their whole paths where two have one name."""
    short = [folder.resolve().name for folder in folders]
    return short if len(set(short)) == len(short) else [str(folder) for folder in folders]


def _shared(raw: Sequence[tuple[Study, Evidence, dict[str, Any]]]) -> pl.DataFrame:
    """Return the stimuli that every wave asked, by name and hash."""
    stems = sorted({study.audit for study, _, _ in raw})
    if len(stems) > 1:
        raise PortrayalError(f"the runs are of the audits {', '.join(stems)}. Expected waves of one study.")
    systems = reduce(set.intersection, ({system.name for system in study.systems} for study, _, _ in raw))
    if not systems:
        raise PortrayalError("the runs have no system of the same name. Expected waves of one study.")
    hashes = [evidence.stimuli.select("stimulus", "hash") for _, evidence, _ in raw]
    shared = reduce(lambda one, other: one.join(other, on=["stimulus", "hash"], how="semi"), hashes)
    if shared.is_empty():
        raise PortrayalError("the runs share no stimulus of the same content. Expected waves of one study.")
    return shared


def _cut(evidence: Evidence, shared: pl.DataFrame) -> Evidence:
    if evidence.stimuli.height == shared.height:
        return evidence
    stimuli = evidence.stimuli.join(shared, on="stimulus", how="semi")
    return replace(evidence, stimuli=stimuli, responses=evidence.responses.join(shared, on="stimulus", how="semi"))
