"""Waves of one study, cut to what all of them asked and answered."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from pathlib import Path
from typing import Any

import polars as pl

from portrayal.errors import PortrayalError
from portrayal.run.contents import RECORD, evidence_of, study_of
from portrayal.run.folder import existing_run, kept_json, reading, refuse_redacted
from portrayal.run.measurement import measure_evidence
from portrayal.run.silence import questions
from portrayal.study.audit import Evidence, Measured
from portrayal.study.registry import get_audit
from portrayal.study.study import Study
from portrayal.tables import RESULTS

QUESTION = ("system", "stimulus", "repeat")


@dataclass(frozen=True)
class Wave:
    """One run of a study, measured over answers that all waves gave."""

    name: str
    study: Study
    evidence: Evidence
    measured: Measured
    manifest: Mapping[str, Any]
    responses: pl.DataFrame  # to stimuli that all waves share, by their names in the first wave

    @cached_property
    def units(self) -> pl.DataFrame:
        """Stimulus and unit: the person that a stimulus shows."""
        groups = get_audit(self.study.audit).groups(self.evidence, self.study.settings)
        grouped = groups.select("stimulus", "unit").unique("stimulus", maintain_order=True)
        stimuli = self.evidence.stimuli
        if "person" not in stimuli.columns:
            return grouped
        # A picture of somebody that is in no group (a series' middle) is still theirs.
        of_person = stimuli.select("stimulus", unit=pl.col("person").cast(pl.String)).drop_nulls()
        return pl.concat([grouped, of_person.join(grouped, on="stimulus", how="anti")])


def read_waves(folders: Sequence[Path | str]) -> list[Wave]:
    """Read runs of one study and measure what all answered; calls no system."""
    count = len(folders)
    if count < 2:
        raise PortrayalError(f"{count} run was given. Expected two or more waves of one study, the earliest first.")
    if len({Path(folder).resolve() for folder in folders}) < count:
        raise PortrayalError("a run was given twice. Expected waves recorded into folders of their own.")
    raw = [_read(folder) for folder in folders]
    short = [Path(folder).resolve().name for folder in folders]
    names = short if len(set(short)) == len(short) else [str(folder) for folder in folders]
    return measure_waves(names, *zip(*raw, strict=True))


def measure_waves(
    names: Sequence[str],
    studies: Sequence[Study],
    evidences: Sequence[Evidence],
    manifests: Sequence[Mapping[str, Any]] | None = None,
) -> list[Wave]:
    """Measure waves over the answers that all of them gave, once each."""
    shared = _shared(studies, evidences)
    evidences = [_cut(evidence, names_of) for evidence, names_of in zip(evidences, shared, strict=True)]
    renamed = [_renamed(evidence, names_of) for evidence, names_of in zip(evidences, shared, strict=True)]
    answered = [questions(responses).filter("said").select(QUESTION) for responses in renamed]
    common = reduce(lambda one, other: one.join(other, on=QUESTION, how="semi"), answered)
    waves = []
    for place, (name, study, evidence, responses) in enumerate(zip(names, studies, evidences, renamed, strict=True)):
        own = common.join(shared[place].select("stimulus", own="own"), on="stimulus").with_columns(stimulus="own")
        compared = replace(evidence, responses=_only(evidence.responses, own.select(QUESTION)))
        nothing = Measured(pl.DataFrame(schema=RESULTS))
        measured = nothing if common.is_empty() else measure_evidence(study, compared)
        waves.append(Wave(name, study, evidence, measured, manifests[place] if manifests else {}, responses))
    return waves


def _read(folder: Path | str) -> tuple[Study, Evidence, dict[str, Any]]:
    run = existing_run(folder)
    refuse_redacted(run)
    with reading(run):
        study = study_of(run)
        return study, evidence_of(study, run), kept_json(run.manifest, dict, RECORD)


def _shared(studies: Sequence[Study], evidences: Sequence[Evidence]) -> list[pl.DataFrame]:
    """Return shared stimuli: `stimulus` in the first wave, and each wave's `own` name."""
    stems = sorted({study.audit for study in studies})
    if len(stems) > 1:
        raise PortrayalError(f"the runs are of the audits {', '.join(stems)}. Expected waves of one study.")
    systems = reduce(set.intersection, ({system.name for system in study.systems} for study in studies))
    if not systems:
        raise PortrayalError("the runs have no system of the same name. Expected waves of one study.")
    first = evidences[0].stimuli.select("stimulus", "hash")
    matched = [_matched(first, evidence.stimuli.select("hash", own="stimulus")) for evidence in evidences]
    shared = reduce(lambda one, other: one.join(other, on="stimulus", how="semi", maintain_order="left"), matched)
    if shared.is_empty():
        raise PortrayalError("the runs share no stimulus of the same content. Expected waves of one study.")
    return [one.join(shared, on="stimulus", how="semi", maintain_order="left") for one in matched]


def _matched(first: pl.DataFrame, other: pl.DataFrame) -> pl.DataFrame:
    """Match stimuli by content; by name too where several have the same content."""
    named = first.join(other.with_columns(stimulus="own"), on=["stimulus", "hash"], maintain_order="left")
    left = first.join(named, on="stimulus", how="anti").unique("hash", keep="none", maintain_order=True)
    right = other.join(named, on="own", how="anti").unique("hash", keep="none")
    columns = ("stimulus", "own")
    return pl.concat([named.select(columns), left.join(right, on="hash", maintain_order="left").select(columns)])


def _cut(evidence: Evidence, shared: pl.DataFrame) -> Evidence:
    own = shared.select(stimulus="own")

    def of_shared(table: pl.DataFrame) -> pl.DataFrame:
        return table.join(own, on="stimulus", how="semi", maintain_order="left")

    return replace(evidence, stimuli=of_shared(evidence.stimuli), responses=of_shared(evidence.responses))


def _renamed(evidence: Evidence, shared: pl.DataFrame) -> pl.DataFrame:
    """Return the responses under the stimuli's names in the first wave."""
    names = shared.rename({"stimulus": "first", "own": "stimulus"})
    joined = evidence.responses.join(names, on="stimulus", maintain_order="left")
    return joined.with_columns(stimulus="first").drop("first")


def _only(responses: pl.DataFrame, common: pl.DataFrame) -> pl.DataFrame:
    """Return the responses in which a question that not all waves answered has failed."""
    answered = responses.join(common, on=QUESTION, how="semi", maintain_order="left")
    others = responses.join(common, on=QUESTION, how="anti", maintain_order="left")
    failed = others.unique(QUESTION, keep="first", maintain_order=True).select(
        pl.col(name) if name in QUESTION else pl.lit(None, kind).alias(name) for name, kind in others.schema.items()
    )
    return pl.concat([answered, failed.with_columns(status=pl.lit("failed"))])


# What of a system is compared, and what it is called.
COMPARED = {"use": "use", "version_asked": "version asked", "versions_answered": "version answered", "source": "source"}


def versions_changed(first: Wave, later: Wave) -> Iterator[str]:
    """Yield a line for everything that is not the same, beside the answers."""
    manifests = (first.manifest, later.manifest)
    if first.manifest.get("study_sha256") != later.manifest.get("study_sha256"):
        yield "the study file is another"
    listed = ([one for one in manifest.get("systems") or [] if isinstance(one, dict)] for manifest in manifests)
    before, after = ({str(one.get("name")): one for one in systems} for systems in listed)
    for name in dict.fromkeys([*before, *after]):
        if name not in before or name not in after:
            yield f"{name}: asked in one wave only"
            continue
        for key, what in COMPARED.items():
            if before[name].get(key) != after[name].get(key):
                yield f"{name}: {what} {_value_text(before[name].get(key))}, then {_value_text(after[name].get(key))}"
    before, after = (manifest.get("versions") or {} for manifest in manifests)
    for name in dict.fromkeys([*before, *after]):
        if before.get(name) != after.get(name):
            yield f"{name} {_value_text(before.get(name))}, then {_value_text(after.get(name))}"


def _value_text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    if isinstance(value, dict):
        return str(value.get("sha256", ""))[:12]
    return str(value) if value not in (None, "") else "none"
