"""Waves of one study, cut to the questions all asked; answers that differ."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import Any

import polars as pl

from portrayal.errors import PortrayalError
from portrayal.run.contents import RECORD, evidence_of, study_of
from portrayal.run.folder import existing_run, kept_json, reading, refuse_redacted
from portrayal.run.measurement import measure_evidence
from portrayal.study.audit import Evidence, Measured
from portrayal.study.registry import get_audit
from portrayal.study.study import Study
from portrayal.tables import ROWS, SETS


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
    count = len(folders)
    if count < 2:
        raise PortrayalError(f"{count} run was given. Expected two or more waves of one study, the earliest first.")
    if len({Path(folder).resolve() for folder in folders}) < count:
        raise PortrayalError("a run was given twice. Expected waves recorded into folders of their own.")
    raw = [_read(folder) for folder in folders]
    short = [Path(folder).resolve().name for folder in folders]
    names = short if len(set(short)) == len(short) else [str(folder) for folder in folders]
    shared = _shared(raw)

    def cut(table: pl.DataFrame) -> pl.DataFrame:
        return table.join(shared, on="stimulus", how="semi", maintain_order="left")

    waves = []
    for name, (study, evidence, manifest) in zip(names, raw, strict=True):
        evidence = replace(evidence, stimuli=cut(evidence.stimuli), responses=cut(evidence.responses))
        waves.append(make_wave(name, study, evidence, manifest))
    return waves


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


DIGITS = 6  # of a vector's numbers: what is beyond them is arithmetic
QUESTION = ("system", "stimulus", "repeat")
WORD = r"[\p{L}\p{N}][\p{L}\p{N}'-]*"


def paired_answers(first: Wave, later: Wave) -> pl.DataFrame:
    """Return one row a question that both waves asked: `answer`, `answer_later` and whether they `changed`."""
    kind = get_audit(first.study.audit).kind
    one, other = (_answers(wave.evidence.responses, kind) for wave in (first, later))
    both = one.join(other, on=QUESTION, suffix="_later", maintain_order="left")
    return both.with_columns(changed=pl.col("answer").ne_missing(pl.col("answer_later")))


def changes_by_group(first: Wave, later: Wave, answers: pl.DataFrame) -> pl.DataFrame:
    """Count changed answers by system, and by group: system, axis, group, asked, changed."""
    groups = get_audit(first.study.audit).groups(first.evidence, first.study.settings)
    counted = [pl.len().cast(pl.Int64).alias("asked"), pl.col("changed").sum().cast(pl.Int64)]
    nothing = pl.lit(None, pl.String)
    every = answers.group_by("system", maintain_order=True).agg(counted)
    every = every.select("system", nothing.alias("axis"), nothing.alias("group"), "asked", "changed")
    of_group = groups.select("stimulus", "axis", "group").unique(maintain_order=True)
    inside = answers.join(of_group, on="stimulus").group_by("system", "axis", "group").agg(counted)
    table = pl.concat([every, inside.sort("system", "axis", "group")])
    return table.with_columns(pl.lit(first.name).alias("from"), pl.lit(later.name).alias("to"))


def vocabulary(first: Wave, later: Wave) -> pl.DataFrame:
    """Return words that only one wave has: system, word, answers and 'appeared' or 'vanished'."""
    kind = get_audit(first.study.audit).kind
    if kind == "encoder":
        text = dict.fromkeys(("system", "word", "what", "from", "to"), pl.String)  # a vector has no words
        return pl.DataFrame(schema={**text, "answers": pl.Int64})
    one, other = (_words(wave.evidence.responses, kind) for wave in (first, later))
    gone = one.join(other, on=["system", "word"], how="anti").with_columns(what=pl.lit("vanished"))
    new = other.join(one, on=["system", "word"], how="anti").with_columns(what=pl.lit("appeared"))
    table = pl.concat([new, gone]).sort("system", "what", pl.col("answers").neg(), "word")
    return table.with_columns(pl.lit(first.name).alias("from"), pl.lit(later.name).alias("to"))


def _answers(responses: pl.DataFrame, kind: str) -> pl.DataFrame:
    """Return each question with its answer as one text, or its status."""
    rows = responses.sort("rank") if kind == "ranker" else responses
    text = pl.col(next(iter(ROWS[kind])))
    if kind == "encoder":
        text = text.list.eval(pl.element().round_sig_figs(DIGITS).cast(pl.String)).list.join(" ")
    cells = rows.with_columns(said=text.cast(pl.String))
    joined = pl.col("said").drop_nulls()
    joined = joined.unique().sort() if kind in SETS else joined
    answer = pl.when(pl.col("status") == "answered").then("answer").otherwise(pl.format("({})", "status"))
    questions = cells.group_by(QUESTION, maintain_order=True)
    answers = questions.agg(joined.str.join("; ").alias("answer"), status=pl.col("status").first())
    return answers.select(*QUESTION, answer=answer).sort(QUESTION)


def _words(responses: pl.DataFrame, kind: str) -> pl.DataFrame:
    """Count the answers that hold each word: tags and labels whole, captions by words."""
    word = pl.col(next(iter(ROWS[kind]))).cast(pl.String).str.to_lowercase()
    words = responses.with_columns(word=word.str.extract_all(WORD) if kind == "captioner" else word)
    words = words.explode("word") if kind == "captioner" else words
    words = words.drop_nulls("word").unique([*QUESTION, "word"])
    return words.group_by("system", "word").agg(answers=pl.len().cast(pl.Int64))


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
